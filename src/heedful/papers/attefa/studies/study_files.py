"""What a study leaves behind: table.md, figure.svg, rows.parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heedful.audits.running.result import write_frame
from heedful.output.numbers import fixed, percentage, with_interval
from heedful.output.tables import Table
from heedful.papers.attefa.studies.answer import answer
from heedful.papers.attefa.studies.curve_figure import draw_curves
from heedful.papers.attefa.studies.figure import draw
from heedful.papers.attefa.studies.run_study import Studied
from heedful.papers.paper_page import Page, Section, markdown
from heedful.storage import write_text

TABLE, FIGURE, ROWS = "table.md", "figure.svg", "rows.parquet"
_ONE_BASE = (
    "Intervals (95 %) speak of other texts and, where there are three twins or more, of other twins; two twins have none. There is one base for each value, so they do not speak of other "
    "bases: a difference may be the luck of a seed."
)
_MORE_BASES = " --bases trains more."
_SEVERAL_BASES = (
    "Intervals (95 %) speak of other bases and other texts: Student's over bases of different seeds, widened by texts drawn anew; they are cut off "
    "where a score ends, and two bases have none. In square brackets, base by base."
)
_UNITS = (
    "JSD is over its bound ln 2 and TVD over all classes, so that both lie in [0, 1]; the papers' are in nats (× 0.693) and of one "
    "sigmoid (half, for two classes). Twins minimise TVD − λ · KL in these units: with the papers' TVD the same λ would be half as large."
)
_CURVE_CAVEAT = (
    "Each point is a mean over the texts of test and over twins; with several twins, the least and the most stand in brackets. "
    "The curve joins the points in the order of JSD and begins at the base itself, and heights between points are read off straight lines. "
    "What twins of the smallest λ move is the error of imitating at all, not the price of other attention. "
    "AtteFa's own point (JSD in place of KL, λ = 1) stands beside the curve. Twins are the best that training found: a "
    "better search may find a lower curve. Reading nothing: the best prediction that is the same for every text."
)


def make_page(studied: Studied) -> Page:
    """Write the answer, the grid, and what a reader should know."""
    lines = [
        studied.study.guess,
        _spread(studied),
        *studied.notes,
        *(f"Missing: {what} ({why})" for what, why in studied.missing),
    ]
    sections = [Section("Measured", [_table(studied)], [line for line in lines if line])]
    if studied.study.twins:
        sections.insert(0, Section("The curve", [_points(studied)], [_UNITS, _CURVE_CAVEAT]))
        sections[1] = Section("The bases", sections[1].tables, sections[1].lines)
    return Page(studied.study.question, [answer(studied)], sections)


def _spread(studied: Studied) -> str:
    """What the intervals speak of."""
    if studied.intervals:
        return studied.intervals
    if any(row.bases > 1 for row in studied.rows):
        return _SEVERAL_BASES
    return _ONE_BASE + ("" if studied.study.twins else _MORE_BASES)


def _table(studied: Studied) -> Table:
    headings = [
        "corpus",
        studied.study.control,
        "F1 of base",
        "largest weight",
        "AtteFa (95 % interval)",
        "corrected (95 % interval)",
        "other top item",
        "twins attend to",
        "bases",
        "twins",
        "texts",
    ]
    rows = [
        [
            row.corpus,
            row.value,
            fixed(row.f1),
            fixed(row.largest_weight, 2),
            _interval(row.attefa, row.attefa_low, row.attefa_high, row.attefa_each),
            _interval(row.corrected, row.corrected_low, row.corrected_high, row.corrected_each),
            percentage(row.elsewhere),
            row.instead,
            str(row.bases),
            str(row.twins),
            f"{row.texts:,}",
        ]
        for row in studied.rows
    ]
    return Table(headings, rows)


def _points(studied: Studied) -> Table:
    headings = [
        "corpus",
        "encoder",
        "λ",
        "JSD",
        "TVD",
        "papers' JSD",
        "papers' TVD",
        "F1 of twins",
        "F1 of base",
        "TVD reading nothing",
        "twins",
    ]
    rows = [
        [
            p.corpus,
            p.encoder,
            p.value if p.on_curve else f"{p.value} (JSD, {p.strength:g})",
            _among(p.jsd, p.jsd_least, p.jsd_most, p.twins),
            _among(p.tvd, p.tvd_least, p.tvd_most, p.twins),
            fixed(p.papers_jsd),
            fixed(p.papers_tvd),
            fixed(p.f1),
            fixed(p.base_f1),
            fixed(p.blind_tvd),
            str(p.twins),
        ]
        for p in studied.points
    ]
    return Table(headings, rows)


def _among(mean: float, least: float, most: float, twins: int) -> str:
    return f"{fixed(mean)} [{fixed(least)}–{fixed(most)}]" if twins > 1 else fixed(mean)


def _interval(estimate: float, low: float, high: float, each: Sequence[float]) -> str:
    """Write a score.

    >>> _interval(0.5, 0.4, 0.6, [0.45, 0.55])
    '0.500 (0.400 to 0.600) [0.45, 0.55]'
    >>> _interval(0.5, float("nan"), float("nan"), [0.45, 0.55])
    '0.500 [0.45, 0.55]'
    """
    overall = with_interval(estimate, low, high, fixed)
    return overall if len(each) == 1 else f"{overall} [{', '.join(fixed(score, 2) for score in each)}]"


def figure(studied: Studied) -> str:
    """Draw a study as an SVG: its curves, or its scores against the control."""
    return draw_curves(studied) if studied.study.twins else draw(studied)


def write(studied: Studied, folder: Path) -> None:
    """Write all three files, the figure first, because the table shows it."""
    write_frame(folder / ROWS, studied.to_frame())
    write_text(folder / FIGURE, figure(studied))
    page = markdown(make_page(studied))
    write_text(folder / TABLE, f"{page}\n![{studied.study.question}]({FIGURE})\n")
