"""AtteFa by hand, its draws one by one, and the best prediction that reads nothing."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.measures.imitation import attefa, attefa_draws, attefa_spread, blind_tvd


def test_scores_by_hand() -> None:
    assert attefa(np.array([0.2, 0.4]), np.array([0.5, 1.0])) == pytest.approx(0.4)
    assert attefa(np.array([1.0]), np.array([0.5])) == 1.0
    sure = np.array([[0.0, 1.0]] * 3 + [[1.0, 0.0]])
    assert blind_tvd(sure) == pytest.approx(0.25)
    assert attefa_spread(attefa_draws(np.full((20, 3), 0.3), np.full((20, 3), 0.6))) == pytest.approx(
        (0.5,) * 3
    )


def test_draws_are_scores_of_drawn_texts_and_the_reference_is_drawn_with_them() -> None:
    random = np.random.default_rng(3)
    texts, resamples = 17, 30
    tvds, jsds = random.random((2, texts, 3))
    p = random.random(texts)
    probabilities = np.stack([1 - p, p], 1)
    plain, corrected = (
        attefa_draws(tvds, jsds, c, resamples=resamples, seed=8) for c in (None, probabilities)
    )
    assert plain.shape == corrected.shape == (3, resamples + 1)
    again = np.random.default_rng(8)
    for draw in range(resamples + 1):
        rows = again.integers(texts, size=texts) if draw else np.arange(texts)
        for seed in range(3):
            tvd, jsd = tvds[rows, seed], jsds[rows, seed]
            assert plain[seed, draw] == pytest.approx(attefa(tvd, jsd))
            assert corrected[seed, draw] == pytest.approx(attefa(tvd / blind_tvd(probabilities[rows]), jsd))


def test_the_corrected_score_is_no_surer_than_its_reference() -> None:
    """Twins that move every prediction alike: all that is unsure is how far who reads nothing would move them."""
    p = np.where(np.arange(60) % 5 == 0, 0.9, 0.1)
    probabilities = np.stack([1 - p, p], 1)
    tvds, jsds = np.full((60, 3), 0.05), np.ones((60, 3))
    plain, corrected = (attefa_spread(attefa_draws(tvds, jsds, c)) for c in (None, probabilities))
    assert plain.low == pytest.approx(plain.high)
    assert corrected.estimate == pytest.approx(0.05 / 0.16)
    assert corrected.low < 0.9 * corrected.estimate and corrected.high > 1.1 * corrected.estimate


def test_twins_that_differ_widen_the_interval_and_it_ends_where_the_score_does() -> None:
    tvds = np.tile([0.1, 0.5, 0.9], (40, 1))
    found = attefa_spread(attefa_draws(tvds, np.ones((40, 3))))
    assert found == pytest.approx((0.5, 0.0, 1.0))
    assert np.isnan(attefa_spread(attefa_draws(tvds[:, :2], np.ones((40, 2)))).low)


def test_blind_tvd_is_the_best_constant_for_two_classes() -> None:
    p = np.random.default_rng(0).uniform(size=101)
    probabilities = np.stack([1 - p, p], 1)
    grid = [np.abs(probabilities - np.array([1 - c, c])).sum(1).mean() / 2 for c in np.linspace(0, 1, 2001)]
    assert blind_tvd(probabilities) == pytest.approx(min(grid), abs=1e-4)
