"""The answer of a study in one sentence, from its intervals and its bases."""

from __future__ import annotations

from heedful.papers.attefa.studies.answer import answer
from heedful.papers.attefa.studies.run_study import Studied, StudyRow
from heedful.papers.attefa.studies.study import STUDIES


def row(
    value: str,
    score: float,
    number: float | None = None,
    *,
    corpus: str = "mock_1",
    wide: float = 0.02,
    each: tuple[float, ...] | None = None,
) -> StudyRow:
    around = (score, score - wide, score + wide, each or (score,))
    return StudyRow(
        corpus, value, number, corpus, 0.9, 0.5, *around, *around, 1.0, "“something” 100 %", 3, 1000
    )


def answered(*rows: StudyRow, name: str = "temperature") -> str:
    return answer(Studied(STUDIES.get(name), rows, (), ()))


def test_the_answer_follows_the_intervals():
    falling = [row(f"{t}", 0.8 - 0.1 * t, t) for t in (1, 2, 4)]
    assert answered(*falling) == (
        "Yes: on mock_1 AtteFa falls with temperature, from 0.70 (0.68 to 0.72) at 1 to 0.40 (0.38 to 0.42) at 4."
    )
    places = [row("start", 0.5), row("end", 0.2), row("middle", 0.4)]
    assert answered(*places, name="placement") == (
        "Yes: on mock_1 AtteFa is lowest, 0.20 (0.18 to 0.22), with placement end and highest, 0.50 (0.48 to 0.52), "
        "with placement start."
    )
    unsure = [row("1", 0.50, 1), row("2", 0.52, 2)]
    assert answered(*unsure).startswith("Not clearly: on mock_1 AtteFa lies between 0.50 (1) and 0.52 (2)")
    both = [*falling, *(row(r.value, r.attefa, r.number, corpus="mock_10") for r in unsure)]
    assert answered(*both).startswith("In part: on mock_1 AtteFa falls")
    assert answered(falling[0]).startswith("Nothing can be said")


def test_a_trend_over_bases_counts_where_intervals_overlap():
    """Three bases have wide intervals, and yet nine points in a row are no chance."""
    rising = [
        row(f"{t}", 0.5 + t / 40, t, wide=0.2, each=tuple(0.5 + t / 40 + d for d in (-0.004, 0.0, 0.004)))
        for t in (1, 2, 4)
    ]
    sentence = answered(*rising, row("sparsemax", 0.55, wide=0.2))
    assert sentence.startswith(
        "Yes: on mock_1 AtteFa rises with temperature, from 0.53 (0.33 to 0.73) at 1 to 0.60"
    )
    assert sentence.endswith("(rank correlation 0.95 over 9 bases, p = 9.6e-05).")
    mixed = [row(f"{t}", 0.5, t, wide=0.2, each=(0.3, 0.5, 0.7)) for t in (1, 2, 4)]
    assert answered(*mixed).startswith("Not clearly: on mock_1 AtteFa lies between")


def test_a_sparse_normaliser_is_no_point_of_the_scale():
    rows = [row(f"{t}", 0.5, t) for t in (1, 2, 4)] + [row("sparsemax", 0.9)]
    assert answered(*rows).endswith("highest, 0.90 (0.88 to 0.92), with sparsemax.")
