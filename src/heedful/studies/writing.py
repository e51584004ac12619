"""What a study leaves behind: table.md, figure.svg, rows.parquet."""

from __future__ import annotations

from pathlib import Path

from heedful.audits.result import write_frame
from heedful.papers.page import Page, Section, Table, markdown, percentage
from heedful.storage import write_text
from heedful.studies.answer import answer
from heedful.studies.figure import draw
from heedful.studies.running import Studied

TABLE, FIGURE, ROWS = "table.md", "figure.svg", "rows.parquet"
_CAVEAT = (
    "Intervals (95 %) come from drawing texts and twins anew. There is one base for each value, so they do not speak of other "
    "bases: a small difference may be the luck of a seed."
)


def make_page(studied: Studied) -> Page:
    """Write the answer, the grid, and what a reader should know."""
    lines = [
        studied.study.guess,
        _CAVEAT,
        *studied.notes,
        *(f"Missing: {what} ({why})" for what, why in studied.missing),
    ]
    return Page(
        studied.study.question, [answer(studied)], [Section("Measured", [_table(studied)], [line for line in lines if line])]
    )  # fmt: skip


def _table(studied: Studied) -> Table:
    headings = [
        "corpus", studied.study.control, "F1 of base", "largest weight", "AtteFa (95 % interval)",
        "corrected (95 % interval)", "other top item", "twins attend to", "twins", "texts",
    ]  # fmt: skip
    rows = [
        [
            row.corpus, row.value, f"{row.f1:.3f}", f"{row.largest_weight:.2f}",
            _interval(row.attefa, row.attefa_low, row.attefa_high),
            _interval(row.corrected, row.corrected_low, row.corrected_high),
            percentage(row.elsewhere), row.instead, str(row.twins), f"{row.texts:,}",
        ]
        for row in studied.rows
    ]  # fmt: skip
    return Table(headings, rows)


def _interval(estimate: float, low: float, high: float) -> str:
    return f"{estimate:.3f} ({low:.3f} to {high:.3f})"


def write(studied: Studied, folder: Path) -> None:
    """Write all three files, the figure first, because the table shows it."""
    write_frame(folder / ROWS, studied.to_frame())
    write_text(folder / FIGURE, draw(studied))
    page = markdown(make_page(studied))
    write_text(folder / TABLE, f"{page}\n![{studied.study.question}]({FIGURE})\n")
