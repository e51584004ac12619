"""Places to work, one file each: a name of --on, and how pieces get there and back."""
