"""What is fetched once and kept: assets by name, hash-checked, in the user's cache."""
