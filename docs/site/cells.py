"""How a line of a Markdown table is written."""

from __future__ import annotations


def row(*cells: object) -> str:
    """Write one line of a table; what a cell holds cannot break it.

    >>> row("a|b", 1)
    '| a\\\\|b | 1 |'
    """
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"
