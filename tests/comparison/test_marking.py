"""What is best, what is no worse, and what steadiness never earns."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.audits.audit import Measure
from heedful.comparison.compared_numbers import ComparedNumber
from heedful.comparison.comparison import Value
from heedful.comparison.marking import F1, SHARPNESS, MeasuredRow, keeps_f1, keeps_sharpness, marks, warned
from heedful.measures.resampling import Seeded, mean_of, resample

JSD = ComparedNumber("embedding_stability", "jsd", Measure("JSD", better="lower"))
HIGH = ComparedNumber("rationale", "comprehensiveness", Measure("drop", better="higher"))
NEITHER = ComparedNumber("rationale", "comprehensiveness_random", Measure("drop"))


def measured(estimate: float | None = None, *, column=JSD, draws=None, sharpness=0.3, f1=None) -> MeasuredRow:
    values = {column.key: Value(estimate, None, None), SHARPNESS: Value(sharpness, None, None)}
    if f1 is not None:
        values[F1] = Value(f1, None, None)
    return MeasuredRow(values, {} if draws is None else {column.key: draws})


def texts(*columns: list[float], column=JSD) -> list[MeasuredRow]:
    found = resample([[mean_of(np.array(values))] for values in columns], seed=0)
    return [
        measured(float(drawn[0, 0]), column=column, draws=Seeded([0], drawn[None, :, 0])) for drawn in found
    ]


def seeded(*methods: list[float]) -> list[MeasuredRow]:
    """Methods with a number for every seed, the same for all texts."""
    found = [Seeded(range(len(values)), np.array(values)[:, None] * np.ones((1, 50))) for values in methods]
    return [measured(float(np.mean(method.values)), draws=method) for method in found]


def test_best_and_tied_by_the_paired_difference():
    random = np.random.default_rng(0)
    noise, own = random.normal(size=60), random.normal(size=60) * 0.5
    rows = texts(list(noise + 0.1), list(noise), list(noise + 1e-3 + own - own.mean()))
    # The first is close in comparison with the spread of texts, and clearly worse on the same texts.
    assert marks(rows, JSD, [False] * 3) == ["", "best", "tied"]
    rows = [measured(row.values[JSD.key].estimate, column=HIGH, draws=row.draws[JSD.key]) for row in rows]
    assert marks(rows, HIGH, [False] * 3)[0] == "best"


def test_seeds_decide_what_is_tied_and_two_of_them_decide_nothing():
    # Seed by seed the second is worse by 0.1; the third is worse by 0.2 on average, and by chance better for one seed.
    rows = seeded([1.0, 2.0, 3.0], [1.1, 2.1, 3.1], [1.9, 2.0, 2.7])
    assert marks(rows, JSD, [False] * 3) == ["best", "", "tied"]
    assert marks(seeded([1.0, 2.0], [1.9, 2.0]), JSD, [False] * 2) == ["best", ""]


def test_the_same_numbers_share_the_mark_and_all_alike_have_none():
    one, two, same = texts([1.0, 2.0, 3.0], [5.0, 6.0, 7.0], [1.0, 2.0, 3.0])
    assert marks([one, two, same], JSD, [False] * 3) == ["best", "", "best"]
    assert marks([one, same], JSD, [False] * 2) == ["", ""]


def test_numbers_that_are_neither_good_nor_bad_are_not_marked():
    assert marks(texts([1.0, 2.0], [3.0, 4.0], column=NEITHER), NEITHER, [False] * 2) == ["", ""]


def test_without_single_texts_nothing_is_tied():
    assert marks([measured(1.0), measured(1.1), measured(None)], JSD, [False] * 3) == ["best", "", ""]
    assert marks([measured(1.0), measured(None)], JSD, [False] * 2) == ["", ""]


def test_flat_attention_is_steady_and_never_marked():
    flat, sharp, other = texts([1e-9] * 5, [1e-4] * 5, [2e-4] * 5)
    assert marks([flat, sharp, other], JSD, [True, False, False]) == ["", "best", ""]
    assert marks([flat, sharp], JSD, [True, True]) == ["", ""]


@pytest.mark.parametrize(
    ("mine", "theirs", "kept"),
    [
        (0.3, 0.3, True),
        (0.27, 0.3, True),
        (0.269, 0.3, False),
        (0.5, 0.3, True),
        (0.019, 0.019, False),
        (None, 0.3, None),
    ],
)
def test_sharpness_is_kept_within_a_tenth_and_never_flat(mine, theirs, kept):
    one, reference = measured(1.0, sharpness=mine), measured(1.0, sharpness=theirs)
    assert keeps_sharpness(one, reference) is kept
    assert warned(one, reference, JSD) is (kept is False)
    assert not warned(one, reference, HIGH)  # that the top words matter is no praise of steadiness


def test_the_sharpness_of_the_scores_that_were_shaken_counts():
    own = (JSD.audit, "sharpness")
    one, reference = measured(1.0, sharpness=0.3), measured(1.0, sharpness=0.3)
    for row, sharpness in ((one, 0.1), (reference, 0.3)):
        row.values[own] = Value(sharpness, None, None)
    assert warned(one, reference, JSD)
    assert not warned(one, reference, ComparedNumber(JSD.audit, "sharpness", Measure("")))


@pytest.mark.parametrize(
    ("mine", "kept"), [(0.85, True), (0.845, True), (0.8449, False), (0.9, True), (None, None)]
)
def test_f1_is_kept_within_half_a_point(mine, kept):
    assert keeps_f1(measured(1.0, f1=mine), measured(1.0, f1=0.85)) is kept
