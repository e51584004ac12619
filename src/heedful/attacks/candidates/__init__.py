"""Where substitutes come from, one file each."""
