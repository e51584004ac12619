"""What `heedful sweep` can do once for each of its pieces, one file each."""
