"""A comparison as a file: Markdown and LaTeX for papers, CSV and JSON for scripts, text as on the screen."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from heedful.comparison.comparison import Comparison, Entry, Format
from heedful.comparison.screen import show, title
from heedful.comparison.sheets import TIED, WARNING, Cell, Sheet, legend, runs, sheets
from heedful.errors import BadInput, did_you_mean

FORMATS: tuple[Format, ...] = get_args(Format)
_ENDINGS: dict[str, Format] = {
    ".txt": "text", ".md": "md", ".csv": "csv", ".tex": "latex", ".json": "json",
}  # fmt: skip
_NO_WRAPPING = 10_000
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "↑": r"$\uparrow$",
    "↓": r"$\downarrow$", "−": "$-$", "–": "--", "ℓ": r"$\ell$", "∞": r"$_\infty$", "′": "$'$", "×": r"$\times$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}  # fmt: skip


def format_of(path: Path) -> Format:
    """Tell a format from a file's name."""
    if path.suffix.lower() not in _ENDINGS:
        raise BadInput(
            f"The name of {path} does not say its format: end it in {', '.join(_ENDINGS)}, or give --format."
        )
    return _ENDINGS[path.suffix.lower()]


def check_format(name: str) -> Format:
    """Know a format by its name, or say which was meant."""
    for known in FORMATS:
        if name == known:
            return known
    raise BadInput(f"There is no format {name!r}: {did_you_mean(name, FORMATS)}")


def write(comparison: Comparison, form: Format) -> str:
    """Give the comparison as text of a format."""
    match form:
        case "text":
            buffer = io.StringIO()
            show(comparison, Console(file=buffer, width=_NO_WRAPPING, color_system=None))
            return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())
        case "md":
            return _markdown(comparison)
        case "latex":
            return _latex(comparison)
        case "csv":
            return comparison.to_frame().write_csv()
        case "json":
            return json.dumps(_plain(comparison), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _markdown(comparison: Comparison) -> str:
    blocks = [f"# {_safe(title(comparison))}"]
    for sheet in sheets(comparison):
        blocks.append(f"**{_safe(sheet.title)}**" if sheet.below else f"## {_safe(sheet.title)}")
        lines = [_row(list(map(_safe, sheet.headings))), "|" + "---|" * len(sheet.headings)]
        blocks.append("\n".join([*lines, *(_row([_md(cell) for cell in row]) for row in sheet.rows)]))
        if sheet.lines:
            blocks.append("\n".join(f"- {_safe(line)}" for line in sheet.lines))
    marks = f"**Bold** is best, {TIED} not clearly worse, {WARNING} a warning."
    told = [marks, *map(_safe, (*legend(comparison), *comparison.notes)), *map(_safe, runs(comparison))]
    blocks += ["## How to read this", "\n".join(f"- {line}" for line in told)]
    return "\n\n".join(blocks) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _md(cell: Cell) -> str:
    text = _safe(cell.text)
    text = {"best": f"**{text}**", "tied": f"{text}{TIED}", "": text}[cell.mark]
    return text + (f" {WARNING}" if cell.warning else "") + cell.interval


def _safe(text: str) -> str:
    """A name of others inside Markdown: on one line, and no cell, tag or picture of its own."""
    return "".join(f"\\{c}" if c in "\\|*_`[]<>" else c for c in " ".join(text.split()))


def _latex(comparison: Comparison) -> str:
    marks = "Bold is best, underlined not clearly worse, a dagger warns."
    told = [title(comparison), "Needs \\usepackage{booktabs}.", marks, *legend(comparison), *comparison.notes, *runs(comparison)]  # fmt: skip
    head = "\n".join(f"% {' '.join(line.split())}" for line in told)
    return "\n\n".join([head, *map(_tabular, sheets(comparison))]) + "\n"


def _tabular(sheet: Sheet) -> str:
    rows = [[_tex(cell) for cell in row] for row in sheet.rows]
    lines = [" & ".join(row) + r" \\" for row in ([_escape(h) for h in sheet.headings], *rows)]
    return "\n".join(
        [
            f"% {' '.join(sheet.title.split())}", f"\\begin{{tabular}}{{l{'r' * (len(sheet.headings) - 1)}}}",
            r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}",
        ]
    )  # fmt: skip


def _tex(cell: Cell) -> str:
    text = _escape(cell.text)
    text = {"best": f"\\textbf{{{text}}}", "tied": f"\\underline{{{text}}}", "": text}[cell.mark]
    interval = f" {_escape(cell.interval)}" if cell.interval else ""
    return text + (r"$^\dagger$" if cell.warning else "") + interval


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in " ".join(text.split()))


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
        "name": entry.name, "method": entry.method, "runs": [str(run) for run in entry.runs], "seeds": list(entry.seeds),
        "keeps_sharpness": entry.keeps_sharpness, "keeps_f1": entry.keeps_f1, "comparable": entry.comparable,
        "numbers": [{"audit": a, "number": n} | asdict(value) for (a, n), value in entry.values.items()],
    }  # fmt: skip
