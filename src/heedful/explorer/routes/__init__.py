"""What can be asked over HTTP, one file for each view."""
