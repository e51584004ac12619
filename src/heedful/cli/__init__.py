"""The command line. One file per command; heavy libraries are imported inside the commands that need them."""

from heedful.cli.app import main

__all__ = ["main"]
