"""An attack as one HTML file: original beside attacked, the replaced words marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from heedful import __version__
from heedful.attacks.attack_result import AttackResult
from heedful.attacks.marked_text import attacked_parts, original_parts
from heedful.attacks.show_attack import line, table
from heedful.output.tables import cell
from heedful.reports.page import asset, environment, fit, made_now, policy
from heedful.storage import write_text

_TEXTS = 300
"""Texts on the page: the file stays small, and all of them are in the Parquet file."""

# What turns the direction of all that follows: an attacked text could say something else than it shows.
_STEERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def write_attack(result: AttackResult, path: Path) -> Path:
    """Write the page whole or not at all."""
    write_text(path, render_attack(result))
    return path


def render_attack(result: AttackResult) -> str:
    """Give the page as text."""
    order = {"successful": 0, "failed": 1, "skipped": 2}
    rank = pl.col("status").replace_strict(order, return_dtype=pl.Int64)
    frame = result.frame.sort(rank, "row").head(_TEXTS)
    style = asset("page.css") + asset("attack.css")
    page = (
        environment()
        .get_template("attack.html")
        .render(
            about=result.about,
            numbers=[[cell(content).words for content in row] for row in table(result).rows],
            texts=[_text(row, result) for row in frame.iter_rows(named=True)],
            left_out=len(result.frame) - len(frame),
            policy=policy(style, ""),
            style=Markup(style),
            version=__version__,
            made=made_now(),
        )
    )
    return _STEERING.sub("\ufffd", fit(page))


def _text(row: dict[str, Any], result: AttackResult) -> dict[str, Any]:
    return {
        "number": row["row"],
        "status": row["status"],
        "line": line(row, result.about),
        "label": result.about.class_name(row["label"]),
        "original": original_parts(row),
        "attacked": attacked_parts(row),
    }
