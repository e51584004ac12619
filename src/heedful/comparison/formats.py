"""A comparison as a file: Markdown and LaTeX for papers, CSV and JSON for scripts, text as on the screen."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import polars as pl

from heedful.comparison.comparison import Comparison, ComparisonFormat, Entry
from heedful.comparison.screen import show, title
from heedful.comparison.sheets import legend, runs, sheets
from heedful.errors import BadInput, did_you_mean
from heedful.output.markup import in_markdown, in_spreadsheet, one_line
from heedful.output.tables import TIED, WARNING, latex, markdown
from heedful.output.terminal import as_text

FORMATS: tuple[ComparisonFormat, ...] = get_args(ComparisonFormat)
_ENDINGS: dict[str, ComparisonFormat] = {
    ".txt": "text",
    ".md": "md",
    ".csv": "csv",
    ".tex": "latex",
    ".json": "json",
}


def format_of(path: Path) -> ComparisonFormat:
    """Recognise a format by a file's name."""
    if path.suffix.lower() not in _ENDINGS:
        raise BadInput(
            f"The name of {path} does not say its format: end it in {', '.join(_ENDINGS)}, or give --format."
        )
    return _ENDINGS[path.suffix.lower()]


def check_format(name: str) -> ComparisonFormat:
    """Find a format by its name, or suggest which was meant."""
    for known in FORMATS:
        if name == known:
            return known
    raise BadInput(f"There is no format {name!r}: {did_you_mean(name, FORMATS)}")


def write(comparison: Comparison, form: ComparisonFormat) -> str:
    """Give the comparison as text of a format."""
    match form:
        case "text":
            return as_text(lambda screen: show(comparison, screen))
        case "md":
            return _markdown(comparison)
        case "latex":
            return _latex(comparison)
        case "csv":
            words = pl.col(pl.String).map_elements(in_spreadsheet, return_dtype=pl.String)
            return comparison.to_frame().with_columns(words).write_csv()
        case "json":
            return json.dumps(_plain(comparison), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _markdown(comparison: Comparison) -> str:
    blocks = [f"# {in_markdown(title(comparison))}"]
    for sheet in sheets(comparison):
        name = in_markdown(sheet.title)
        blocks += [f"**{name}**" if sheet.below else f"## {name}", markdown(sheet)]
        if sheet.lines:
            blocks.append("\n".join(f"- {in_markdown(line)}" for line in sheet.lines))
    marks = f"**Bold** is best, {TIED} not clearly worse, {WARNING} a warning."
    rest = map(in_markdown, (*legend(comparison), *comparison.notes, *runs(comparison)))
    blocks += ["## How to read this", "\n".join(f"- {line}" for line in (marks, *rest))]
    return "\n\n".join(blocks) + "\n"


def _latex(comparison: Comparison) -> str:
    marks = "Bold is best, underlined not clearly worse, a dagger warns."
    lines = [
        title(comparison),
        "Needs \\usepackage{booktabs}.",
        marks,
        *legend(comparison),
        *comparison.notes,
        *runs(comparison),
    ]
    head = "\n".join(f"% {one_line(line)}" for line in lines)
    return "\n\n".join([head, *map(latex, sheets(comparison))]) + "\n"


def _plain(comparison: Comparison) -> dict[str, Any]:
    return {
        "data": comparison.data,
        "texts": comparison.texts,
        "reference": comparison.reference,
        "options": comparison.options,
        "columns": [
            {
                "audit": c.audit,
                "number": c.number,
                "description": c.measure.description,
                "better": c.measure.better,
            }
            for c in comparison.columns
        ],
        "entries": [_entry(entry) for entry in comparison.entries],
        "notes": list(comparison.notes),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "method": entry.method,
        "runs": [str(run) for run in entry.runs],
        "seeds": list(entry.seeds),
        "keeps_sharpness": entry.keeps_sharpness,
        "keeps_f1": entry.keeps_f1,
        "comparable": entry.comparable,
        "numbers": [{"audit": a, "number": n} | asdict(value) for (a, n), value in entry.values.items()],
    }
