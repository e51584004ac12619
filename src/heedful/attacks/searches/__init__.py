"""In which order words are replaced, one file each."""
