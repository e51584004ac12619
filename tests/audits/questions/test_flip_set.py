"""Which texts rankings are compared on: no single random draw may decide it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch

from heedful.audits.chart_kinds import describe_values
from heedful.audits.questions.flip_set import RANKINGS

NAN = float("nan")


def rows_of(**fractions):
    """Rows of texts, with the mass the same as the fraction."""
    columns = {
        f"{name}_{field}": values for name, values in fractions.items() for field in ("fraction", "mass")
    }
    columns["random_never"] = columns.pop("never_fraction")
    del columns["never_mass"]
    return pl.DataFrame(columns, strict=False).with_columns(predicted=pl.lit("a"))


@pytest.fixture
def summary(make_case):
    """Three texts are flipped by all; of one of them no random ranking is; a fourth is not flipped by the gradient."""
    rows = rows_of(
        attention=[0.25, 0.5, 0.5, 0.25],
        gradient=[0.5, 0.25, 0.5, NAN],
        product=[0.25, 0.25, 0.5, 0.25],
        random=[0.75, NAN, 0.5, 0.75],
        minimum=[0.25, 0.25, 0.25, 0.25],
        never=[0.4, 1.0, 0.0, 0.2],
    )
    return make_case("binary").audit("flip_set", random_rankings=5).summarise(rows)


def test_a_text_stays_whatever_random_rankings_do(summary):
    assert summary.number("attention_fraction").count == 3
    assert summary.number("attention_fraction").estimate == pytest.approx(1.25 / 3)
    assert summary.number("gradient_beats_attention").estimate == pytest.approx(1 / 3)
    assert (
        "1 of 4 texts are left out, because attention, the gradient or their product never"
        in summary.notes[0]
    )


def test_random_numbers_are_of_texts_that_some_random_ranking_flips(summary):
    random, beats = summary.number("random_fraction"), summary.number("attention_beats_random")
    assert (random.count, random.missing, random.estimate) == (2, 1, pytest.approx(0.625))
    assert (beats.count, beats.missing, beats.estimate) == (2, 1, 0.5)
    assert (summary.number("random_regret").count, summary.number("random_regret").estimate) == (2, 0.375)


def test_rankings_that_never_flip_are_counted(summary):
    assert summary.number("random_never").estimate == pytest.approx(1.4 / 3)
    assert "7 of 15 random rankings (5 of each text) never flip the decision." in summary.notes[1]
    assert "1 texts have no other" in summary.notes[1]


def test_random_averages_are_over_the_draws_that_flip(make_case):
    """Each draw asked for by itself, and put together by hand."""
    case = make_case("binary", sharpen=4.0)
    draws = 6
    found = case.ask("flip_set", random_rankings=draws)
    several = [
        np.array([*case.ask("flip_set", random_rankings=k)["random_never"]]) * k for k in range(1, draws + 1)
    ]
    never = np.diff(np.vstack([np.zeros(len(case.split)), *several]), axis=0).round()
    assert found["random_never"].tolist() == pytest.approx((never.sum(0) / draws).tolist())
    assert 0 < never.mean() < 1
    some = never.mean(0)
    assert found["random_fraction"].isnan().tolist() == (some == 1).tolist()
    mixed = (some > 0) & (some < 1)
    assert mixed.any()
    for row in np.flatnonzero(mixed):
        fractions = [
            case.ask("flip_set", random_rankings=k)["random_fraction"][row].item()
            for k in range(1, draws + 1)
        ]
        # The mean moves where a draw flips, and stays where it does not.
        for k in range(1, draws):
            if never[k, row]:
                assert fractions[k] == pytest.approx(fractions[k - 1], nan_ok=True)


def test_charts_draw_the_same_texts(make_case):
    case = make_case("binary", sharpen=4.0)
    audit = case.audit("flip_set")
    found = audit.rows(case.reading)
    rows = pl.DataFrame(
        {name: column.tolist() for name, column in found.items() if isinstance(column, torch.Tensor)}
    )
    never = pl.Series("random_fraction", [NAN] * len(rows))
    (chart,) = audit.charts(rows.with_columns(never))
    common = rows.filter(pl.all_horizontal(pl.col(f"{name}_fraction").is_not_nan() for name in RANKINGS))
    assert 0 < len(common) < len(rows)
    for name in ("attention", "gradient"):
        assert f"{name}: {describe_values(common[f'{name}_fraction'])}" in chart.alt
