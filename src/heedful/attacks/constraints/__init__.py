"""What a substitute must fulfil, one file each."""
