"""What Python programs call: one file per function, as `cli/` has one per command.

Importing them is cheap: torch and everything heavy are imported inside the functions.
"""
