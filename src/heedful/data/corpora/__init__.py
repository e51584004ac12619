"""Where corpora come from: the catalogue of names, files and hubs, and from rows to splits with numbered labels."""
