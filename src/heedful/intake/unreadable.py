"""What is wrong with a file, in a few words; whoever reads it knows what it is for, and says what to do."""

from __future__ import annotations


class Unreadable(ValueError):
    """Why a file, or a line of one, cannot be read: words that fit between brackets."""
