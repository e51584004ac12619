"""The page of a paper on the site: claims first, one figure, what differs; everything else is the data behind it."""

from __future__ import annotations

import re
from typing import NamedTuple

PAPERS = ("jain-wallace", "serrano-smith", "attefa", "seat", "flat")
CLAIMS, DIFFERS, BEHIND = "Claims", "What differs from the paper", "The data behind it"
_SECTION = re.compile(r"^## ", re.M)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)", re.M)
_HEADING = re.compile(r"^(#{2,5}) ", re.M)


class _Section(NamedTuple):
    title: str
    text: str


def in_reading_order(markdown: str) -> str:
    """Put the sections of a paper's page in the order in which somebody reads them; of its figures the first is drawn twice.

    The page itself keeps the order of the paper's tables and figures, as its recipe writes it.
    """
    lead, *parts = _SECTION.split(markdown)
    sections = [_Section(part.partition("\n")[0].strip(), part) for part in parts]
    first = [s for title in (CLAIMS, DIFFERS) for s in sections if s.title == title]
    told = [_written([s]) for s in first]
    if first and (picture := _PICTURE.search(markdown)):
        told.insert(1, f"{picture[0]}\n\n")
    behind = _written([s for s in sections if s not in first])
    lead = lead.replace(": reproduced\n", "\n", 1)
    return f"{lead}{''.join(told)}## {BEHIND}\n\n{_HEADING.sub(_lower, behind)}"


def _written(sections: list[_Section]) -> str:
    return "".join(f"## {s.text.rstrip()}\n\n" for s in sections)


def _lower(heading: re.Match[str]) -> str:
    return f"#{heading[1]} "
