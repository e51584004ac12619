"""Write materials in a format, and say which of them are too few for a model card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from heedful.errors import BadInput
from heedful.reports.exports import write
from heedful.reports.material import Material
from heedful.reports.page import write_report
from heedful.storage import write_text


def deliver(
    materials: Sequence[Material], form: Literal["html", "md", "latex", "csv", "json", "card"], path: Path
) -> Path:
    """Write a file whole or not at all."""
    if form == "html":
        return write_report(materials, path)
    write_text(path, write(materials, form))
    return path


def check_cards(materials: Sequence[Material]) -> None:
    """Refuse a model card of an audit that asked only some questions, or of too few texts."""
    for material in materials:
        if material.lacks:
            raise BadInput(
                f"{material.folder or material.about.model} is a partial audit ({material.lacks}), and a model card needs a whole one: "
                f"run heedful audit {material.run or material.about.model}, or give --partial."
            )
