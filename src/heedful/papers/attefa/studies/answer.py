"""The answer in one sentence: of a grid from its intervals and its bases, of curves from how high they run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import spearmanr

from heedful.output.numbers import fixed, percentage, with_interval
from heedful.papers.attefa.studies.curve import CurvePoint, height, mean_height, trace
from heedful.papers.attefa.studies.run_study import Studied, StudyRow

_CLEAR_TREND = 0.9
_P_VALUE = 0.01
_FEWEST_VALUES = 3
_HALF = 0.5
_NOTHING = "Nothing can be said: fewer than two values are measured."


class Spearman(NamedTuple):
    """A rank correlation over bases, and how likely one as large is by chance."""

    rho: float
    p_value: float
    bases: int


def answer(studied: Studied) -> str:
    """Say whether the control matters on each corpus, and which way; or how high each curve runs."""
    if studied.study.twins:
        return _answer_curves(studied)
    grids = [rows for corpus in studied.corpora if len(rows := studied.of(corpus)) > 1]
    if not grids:
        return _NOTHING
    clear = [_apart(rows) or _trend(rows) is not None for rows in grids]
    word = "Yes" if all(clear) else "In part" if any(clear) else "Not clearly"
    return f"{word}: {'; '.join(_found(rows, studied.study.control) for rows in grids)}."


def _apart(rows: Sequence[StudyRow]) -> bool:
    """Whether the intervals of the highest and the lowest do not touch."""
    low, high = _ends(rows)
    return low.attefa_high < high.attefa_low


def _trend(rows: Sequence[StudyRow]) -> Spearman | None:
    """Rank correlation of a quantity with the scores of single bases, where several of them make it clear."""
    points = [(row.number, score) for row in rows if row.number is not None for score in row.attefa_each]
    values = {value for value, _ in points}
    if (
        len(values) < _FEWEST_VALUES
        or len(points) < 2 * len(values)
        or len({score for _, score in points}) < 2
    ):
        return None
    rho, p_value = spearmanr(*zip(*points, strict=True))
    return Spearman(float(rho), float(p_value), len(points)) if p_value < _P_VALUE else None


def _ends(rows: Sequence[StudyRow]) -> tuple[StudyRow, StudyRow]:
    return min(rows, key=lambda row: row.attefa), max(rows, key=lambda row: row.attefa)


def _found(rows: Sequence[StudyRow], control: str) -> str:
    low, high = _ends(rows)
    corpus = rows[0].corpus
    if (trend := _trend(rows)) is not None:
        scale = [row for row in rows if row.number is not None]
        return (
            f"on {corpus} AtteFa {'rises' if trend.rho > 0 else 'falls'} with {control}, from {_score(scale[0])} at {scale[0].value} to "
            f"{_score(scale[-1])} at {scale[-1].value} (rank correlation {trend.rho:.2f} over {trend.bases} bases, p = {trend.p_value:.2g})"
        )
    if not _apart(rows):
        lacking = math.isnan(low.attefa_low) or math.isnan(high.attefa_low)
        why = "two bases or two twins allow no interval" if lacking else "their intervals overlap"
        return f"on {corpus} AtteFa lies between {low.attefa:.2f} ({low.value}) and {high.attefa:.2f} ({high.value}), and {why}"
    scale = [row for row in rows if row.number is not None]
    if len(scale) > 2 and _apart(scale):
        rho = spearmanr([row.number for row in scale], [row.attefa for row in scale]).statistic
        if abs(rho) >= _CLEAR_TREND:
            first, last = scale[0], scale[-1]
            verb = "rises" if rho > 0 else "falls"
            return f"on {corpus} AtteFa {verb} with {control}, from {_score(first)} at {first.value} to {_score(last)} at {last.value}"

    def named(row: StudyRow) -> str:
        return row.value if scale and row.number is None else f"{control} {row.value}"

    return f"on {corpus} AtteFa is lowest, {_score(low)}, with {named(low)} and highest, {_score(high)}, with {named(high)}"


def _score(row: StudyRow) -> str:
    return with_interval(row.attefa, row.attefa_low, row.attefa_high, lambda score: fixed(score, 2))


def _answer_curves(studied: Studied) -> str:
    curves = {name: points for name, points in studied.lines.items() if sum(p.on_curve for p in points) > 1}
    if not curves:
        return _NOTHING
    return f"With attention half of the way to wholly elsewhere (JSD {_HALF} of its bound), {'; '.join(map(_run, curves, curves.values()))}."


def _run(name: str, points: Sequence[CurvePoint]) -> str:
    """Tell one curve: its height in the middle, and on average as far as it goes."""
    jsd, tvd = trace(points)
    middle, blind = height(jsd, tvd, _HALF), points[0].blind_tvd
    reach = f"and by {mean_height(jsd, tvd):.3f} on average up to a JSD of {jsd[-1]:.2f}"
    if middle is None:
        return f"nothing is known of {name}, where no twin went that far: predictions move by {mean_height(jsd, tvd):.3f} on average up to a JSD of {jsd[-1]:.2f}"
    share = f", {percentage(middle / blind)} of what reading nothing does," if blind > 0 else ""
    return f"predictions of {name} move by a TVD of {middle:.3f}{share} {reach}"
