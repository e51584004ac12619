"""The published attacks, one file and one decorator each."""
