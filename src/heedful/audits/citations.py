"""The papers that audits come from, as a reader cites them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml


class Citation(NamedTuple):
    """A paper in one line, its address, and its BibTeX entry."""

    text: str
    url: str
    bibtex: str


@cache
def citations() -> dict[str, Citation]:
    """Every paper by the name that audits give it."""
    content = yaml.safe_load(Path(__file__).with_name("citations.yaml").read_text(encoding="utf-8"))
    return {name: Citation(**fields) for name, fields in content.items()}
