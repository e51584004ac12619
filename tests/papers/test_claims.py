"""A claim is decided by its interval and by most of its datasets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from heedful.measures import bootstrap_interval
from heedful.papers.claims import Claim, Sample, judge, judge_samples, rank_correlation
from heedful.papers.recipe import RECIPES
from heedful.papers.results import Results

NAN = math.nan


def weak(**changes) -> Claim:
    given = {"below": 0.5, "models": ("bilstm",), "audit": "agreement", "value": pl.col("tau_g")}
    return Claim("x-1", "It is weak.", "4.1", "mean τ_g", **(given | changes))


def around(mean: float, texts: int = 100) -> list[float]:
    return list(mean + np.linspace(-0.1, 0.1, texts))


@pytest.mark.parametrize(
    ("mean", "word"), [(0.3, "holds"), (0.7, "does not hold"), (0.5, "undecided"), (NAN, "not measured")]
)
def test_the_interval_decides(measured, mean, word):
    judged = judge(weak(), Results((measured(tau_g=around(mean)),)))
    assert judged.word == word
    if word != "not measured":
        assert judged.interval.low < mean < judged.interval.high


def test_nothing_measured(measured):
    assert judge(weak(), Results()).word == "not measured"
    other_model, other_audit = measured("cnn", tau_g=around(0.1)), measured(audit="permutation", x=[1.0])
    assert judge(weak(), Results((other_model, other_audit))).word == "not measured"


def test_few_texts_decide_nothing(measured):
    assert judge(weak(), Results((measured(tau_g=[0.1] * 29),))).word == "too few texts"
    assert judge(weak(), Results((measured(tau_g=[0.1] * 30),))).word == "holds"


def test_most_datasets_must_hold_alone(measured):
    # The many texts of one dataset would carry the claim against the two others.
    large = measured(tau_g=around(0.1, 1000))
    small = [measured(dataset=name, tau_g=around(0.6, 40)) for name in ("imdb", "snli")]
    judged = judge(weak(), Results((large, *small)))
    assert judged.interval.high < 0.5
    assert [part.word for part in judged.parts] == ["holds", "does not hold", "does not hold"]
    assert (judged.held, judged.word) == (1, "undecided")
    assert (
        judge(weak(), Results((large, small[0], measured(dataset="snli", tau_g=around(0.2))))).word == "holds"
    )


def test_datasets_with_few_texts_have_no_vote(measured):
    few = [measured(dataset=name, tau_g=[0.9] * 20) for name in ("imdb", "snli", "babi_1")]
    judged = judge(weak(), Results((measured(tau_g=around(0.1, 1000)), *few)))
    assert (judged.held, judged.able, judged.word) == (1, 1, "holds")
    # Without any dataset that can decide alone, nothing tells whether most agree.
    assert judge(weak(), Results(tuple(few[:2]))).word == "does not hold"
    low = [measured(dataset=name, tau_g=[0.1] * 20) for name in ("imdb", "snli")]
    assert judge(weak(), Results(tuple(low))).word == "undecided"


def test_a_range_has_two_ends(measured):
    claim = weak(above=-0.5, below=0.0)
    words = [judge(claim, Results((measured(tau_g=around(x)),))).word for x in (-0.3, 0.3, -0.9, -0.5)]
    assert words == ["holds", "does not hold", "does not hold", "undecided"]
    assert claim.range == "-0.5 to 0"


def test_models_are_compared_text_by_text(measured):
    # Texts that one of the two lacks are left out: only rows 0 to 39 have both numbers.
    claim = weak(models=("average",), against={"average": "bilstm"}, above=0.0, below=math.inf)
    average = measured("average", tau_g=[0.6] * 40 + [-9.0] * 20)
    bilstm = measured("bilstm", tau_g=[0.5] * 40 + [NAN] * 20)
    judged = judge(claim, Results((average, bilstm)))
    assert judged.interval.count == 40
    assert judged.interval.estimate == pytest.approx(0.1)
    assert judged.word == "holds"
    assert judge(claim, Results((average,))).word == "not measured"


def test_models_are_compared_by_the_seeds_that_both_have(measured):
    """Measurements that were interrupted have more seeds of one: what that seed does alone must not pass for a difference."""
    claim = weak(models=("average",), against={"average": "bilstm"}, above=0.0, below=math.inf)
    both = [measured(name, tau_g=[value] * 40) for name, value in (("average", 0.6), ("bilstm", 0.5))]
    lone = measured("average", seed=1, tau_g=[0.0] * 40)
    judged = judge(claim, Results((*both, lone)))
    assert judged.interval.estimate == pytest.approx(0.1)
    assert judge(claim, Results((lone, both[1]))).word == "not measured"


def test_seeds_of_a_text_are_one_text(measured):
    runs = tuple(measured(seed=seed, tau_g=[value] * 40) for seed, value in enumerate((0.2, 0.4)))
    interval = judge(weak(), Results(runs)).interval
    assert interval.count == 40
    assert interval.estimate == pytest.approx(0.3)


def test_a_claim_may_be_about_some_texts_only(measured):
    claim = weak(where=pl.col("largest_weight") >= 0.5)
    run = measured(tau_g=[0.1] * 40 + [0.9] * 40, largest_weight=[0.6] * 40 + [0.2] * 40)
    assert judge(claim, Results((run,))).interval == (0.1, 0.1, 0.1, 40, 0)


def test_rank_correlation_is_spearman_with_an_interval_of_its_own():
    from scipy.stats import bootstrap, spearmanr

    x, y = np.random.default_rng(0).normal(size=(2, 200))
    y += x
    values = pl.DataFrame({"x": x, "y": y}).select(rank_correlation("x", "y")).to_series()
    found = bootstrap_interval(values.to_numpy())
    assert found.estimate == pytest.approx(spearmanr(x, y).statistic)
    resampled = bootstrap(
        (x, y),
        lambda a, b: spearmanr(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=500,
        rng=0,
        method="percentile",
    )
    assert found[1:3] == pytest.approx(resampled.confidence_interval, abs=0.02)
    perfect = pl.DataFrame({"x": x, "y": -x}).select(rank_correlation("x", "y")).to_series()
    assert perfect.to_list() == pytest.approx([-1.0] * 200)


def test_the_mean_of_ratios_is_geometric():
    """A ratio of 100 and one of 1/100 are 1 together, and the other way round too; differences are averaged as they are."""
    draws = np.full(50, 1.0)  # and no seeds: texts alone
    samples = [Sample("a", "x", 100.0, 100 * draws, 60), Sample("b", "x", 0.01, 0.01 * draws, 60)]
    claim = weak(below=2.0)
    assert judge_samples(replace(claim, ratio=True), samples).interval[:3] == pytest.approx((1, 1, 1))
    assert judge_samples(claim, samples).interval[:3] == pytest.approx((50.005,) * 3)


def test_seeds_of_samples_widen_the_interval_of_each_and_of_their_mean():
    draws = np.zeros(50)
    samples = [
        Sample(name, "x", 0.0, draws, 60, ([-1.0, 0.0, 1.0],)) for name in ("a", "b")
    ]  # standard errors of 1 / √3
    judged = judge_samples(weak(below=2.0), samples)
    alone = stats.t.ppf(0.975, 2) / np.sqrt(3)
    assert [part.interval.high for part in judged.parts] == pytest.approx([alone] * 2)
    assert judged.interval.high == pytest.approx(stats.t.ppf(0.975, 4) / np.sqrt(6))
    assert [part.word for part in judged.parts] == ["undecided"] * 2 and judged.parts[0].seeds == (3,)
    logs = [s._replace(estimate=1.0, draws=draws + 1, seeds=(np.exp(s.seeds[0]),)) for s in samples]
    ratio = judge_samples(replace(weak(below=2.0), ratio=True), logs)
    assert np.log(ratio.interval.high) == pytest.approx(judged.interval.high)


def test_two_seeds_decide_nothing_and_do_not_vote():
    sure = Sample("a", "x", 0.1, np.full(50, 0.1), 60, ([0.1, 0.1, 0.1],))
    two = Sample("b", "x", 0.1, np.full(50, 0.1), 60, ([0.1, 0.1],))
    assert judge_samples(weak(), [sure]).word == "holds"
    judged = judge_samples(weak(), [two])
    assert (judged.word, judged.able) == ("too few seeds", 0)
    # One seed says nothing of others, and its interval is that of texts.
    assert judge_samples(weak(), [two._replace(seeds=([0.1],))]).word == "holds"


def test_one_step_that_turns_around_keeps_a_ladder_from_holding():
    steps = [Sample(str(i), "x", by, np.full(50, by), 60) for i, by in enumerate((-0.3, -0.4, -0.5, 0.2))]
    claim = weak(below=0.0)
    assert judge_samples(claim, steps).word == "holds"
    judged = judge_samples(replace(claim, throughout=True), steps)
    assert (judged.word, judged.held, judged.able) == ("undecided", 3, 4)
    flat = [*steps[:3], steps[3]._replace(estimate=0.0, draws=np.linspace(-0.1, 0.1, 50))]
    assert judge_samples(replace(claim, throughout=True), flat).word == "holds"


def test_every_claim_is_complete_and_can_be_measured():
    ids = []
    for name in RECIPES:
        recipe = RECIPES.get(name)
        models = {model.name for model in recipe.models}
        for claim in recipe.claims:
            ids.append(claim.id)
            assert claim.statement.endswith(".")
            assert claim.source
            assert {*claim.models, *claim.against, *claim.against.values()} <= models
            assert claim.audit in {experiment.audit for experiment in recipe.experiments}
            assert -math.inf < claim.above or claim.below < math.inf
    assert len(ids) == len(set(ids)) >= 10
