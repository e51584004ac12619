"""Numbers come from the column of their name, text by text, and only where that column is the number."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from heedful.audits.audit import AUDITS, Measure, Number
from heedful.comparison.numbers import Column, columns, common_rows, ratio_of
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.measures.resampling import resample

ROWS, VALUES = [9, 2, 5, 7], [1.0, np.nan, 3.0, 8.0]
LABELS, SAID = [1, 1, 0, 1], [[1, 1], [0, 1], [1, 0], [1, 1]]


def result(audit: str, name: str, estimate: float | None, **columns: object) -> SimpleNamespace:
    """What the functions read of an audit's result."""
    number = Number(name=name, estimate=estimate, low=None, high=None, std=None, count=3, missing=1)
    about = SimpleNamespace(
        labels=("neg", "pos"), options=complete(AuditOptions)().model_dump(mode="json"), source="attention"
    )
    frame = pl.DataFrame({"row": ROWS, **columns}, strict=False)
    return SimpleNamespace(
        frames={audit: frame}, summaries={audit: SimpleNamespace(numbers=(number,))}, about=about
    )


def estimate(found: SimpleNamespace, column: Column, texts: list[int], kept: list[int]) -> float:
    ratio = ratio_of(found, column, np.array(texts), np.array(kept))
    assert ratio is not None
    assert len(ratio.top) == len(texts)
    return float(resample([[ratio]], seed=0, resamples=1)[0, 0, 0])


def test_a_mean_is_of_the_texts_that_are_kept_in_any_order():
    column = Column("rationale", "sufficiency", None)
    found = result("rationale", "sufficiency", 4.0, sufficiency=VALUES)
    assert estimate(found, column, [2, 5, 7, 9], [2, 5, 7, 9]) == 4.0
    assert estimate(found, column, [2, 5, 7, 9], [5, 9]) == 2.0
    assert estimate(found, column, [1, 5, 7, 30], [5, 7]) == 5.5  # texts that it never saw count for nothing


@pytest.mark.parametrize(
    ("said", "columns"), [(4.1, {"attefa": VALUES}), (4.0, {}), (4.0, {"attefa": list("abcd")})]
)
def test_a_column_that_is_not_the_number_is_not_taken_for_it(said, columns):
    found = result("imitation", "attefa", said, **columns)
    assert ratio_of(found, Column("imitation", "attefa", None), np.array(ROWS), np.array(ROWS)) is None


WRONG = [[0, 0]] * 4
DECISIONS = {
    "embedding_stability": {"said_all_0.01": SAID, "said_all_0.05": WRONG, "said_one_0.01": WRONG},
    "word_stability": {"said_1": SAID, "said_2": WRONG, "said_3": WRONG},
    "seed_stability": {"said_mean": SAID, "said_1": [[said[0]] for said in SAID], "said_2": [[0]] * 4},
}


@pytest.mark.parametrize("audit", DECISIONS)
def test_f1_follows_from_the_decisions_under_the_main_condition(audit):
    """The usual noise on all words, the fewest replaced words, all seeds together."""
    said = {"label": LABELS, **DECISIONS[audit]}
    first, second = 2 * 2 / (3 + 3), 2 * 3 / (3 + 3)  # of three positives, two and then three are found
    column = Column(audit, "f1", None)
    found = result(audit, "f1", (first + second) / 2, **said)
    assert estimate(found, column, [2, 5, 7, 9], ROWS) == pytest.approx((first + second) / 2)
    assert estimate(found, column, [2, 5, 7, 9], [7, 9]) == 1.0
    assert ratio_of(result(audit, "f1", 0.1, **said), column, np.array(ROWS), np.array(ROWS)) is None


@pytest.mark.parametrize("audit", DECISIONS)
def test_without_decisions_there_is_no_f1_to_pair(audit):
    for measured in ({"label": LABELS}, DECISIONS[audit], {"label": LABELS, "f1": VALUES}):
        found = result(audit, "f1", 4.0, **measured)
        assert ratio_of(found, Column(audit, "f1", None), np.array(ROWS), np.array(ROWS)) is None


def test_an_audit_says_which_of_its_numbers_are_compared(monkeypatch):
    @dataclass
    class Asked:
        compared: tuple[str, ...] = ()
        flat_passes: bool = False
        measures: ClassVar = {
            "height": Measure("", better="higher"),
            "width": Measure(""),
            "sharpness": Measure("", better="higher"),
        }

    def chosen(audit: Asked, *, every: bool = False) -> list[str]:
        monkeypatch.setattr("heedful.comparison.numbers.AUDITS", {"new": audit})
        numbers = tuple(SimpleNamespace(name=name, group="all") for name in ("height", "width", "sharpness"))
        found = SimpleNamespace(
            summaries={"new": SimpleNamespace(numbers=numbers)}, about=SimpleNamespace(performance=None)
        )
        return [column.number for column in columns(found, ["new"], every=every)]

    assert chosen(Asked()) == ["height", "sharpness"]  # all that are better high or low
    assert chosen(Asked(compared=("width", "depth"))) == ["width"]  # what it names, where it was measured
    assert chosen(Asked(compared=("width",)), every=True) == ["height", "sharpness"]
    assert chosen(Asked(compared=("width",), flat_passes=True)) == ["sharpness", "width"]


@pytest.mark.parametrize("name", list(AUDITS))
def test_what_an_audit_names_is_among_its_measures(name):
    assert set(AUDITS.get(name).compared) <= set(AUDITS.get(name).measures)


def test_common_rows_are_those_that_all_have_in_order():
    frames = [pl.DataFrame({"row": rows}) for rows in ([9, 2, 5], [5, 9, 7], [1, 9, 5])]
    assert common_rows(frames).tolist() == [5, 9]
