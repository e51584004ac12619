"""A model that heedful did not make: every audit of a verdict and every explainer asks its stages, and gets the same answers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import heedful
from heedful.audits.audit import AUDITS
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, reads_layers

SHAPE = {"encoder": "none", "attention": "dot"}
GENERAL = ("sharpness", "permutation", "single_erasure", "infidelity")
"""Audits that ask nothing of effects, and in which no tie of repeated words decides: these are told in double precision."""


@pytest.fixture
def pair(model, foreign):
    """A classifier of ours, and one of another make that computes the same."""

    def make(*, known=True, **options):
        ours = model(**SHAPE, **options)
        return ours, foreign(ours, known=known)

    return make


def numbers(result, names):
    return [
        (name, n.name, n.group, n.estimate, n.low, n.high)
        for name in names
        for n in result.summaries[name].numbers
    ]


def assert_same(one, other, names, within=1e-6):
    for ours, theirs in zip(numbers(one, names), numbers(other, names), strict=True):
        assert ours[:3] == theirs[:3]
        assert ours[3:] == pytest.approx(theirs[3:], abs=within), ours


@pytest.mark.parametrize("classes", [2, 3])
def test_every_audit_of_a_verdict_gives_what_it_gives_for_ours(pair, many_texts, classes):
    ours, theirs = (
        heedful.audit(c, many_texts, progress=False, permutations=20) for c in pair(classes=classes)
    )
    assert set(theirs.summaries) == {name for name in AUDITS if not AUDITS.get(name).only_named}
    assert_same(ours, theirs, theirs.summaries)
    assert (theirs.about.model, theirs.about.encoder) == ("a model of another make", "foreign")


def test_what_needs_no_effects_is_the_same_for_a_model_that_says_nothing_of_them(pair, many_texts):
    ours, theirs = (heedful.audit(c, many_texts, progress=False, permutations=20) for c in pair(known=False))
    assert_same(ours, theirs, GENERAL, within=1e-5)
    assert theirs.summaries["certificate"].number("certified").estimate is None
    exact, found = (r.to_frame("counterfactual")["eps_max_jsd"].to_numpy() for r in (ours, theirs))
    assert (found <= exact + 1e-6).all()  # a search gives a lower bound
    assert found.mean() > 0.9 * exact.mean()


def test_its_audit_is_kept_where_it_is_told(pair, many_texts, tmp_path):
    _, theirs = pair()
    heedful.audit(theirs, many_texts, only=["sharpness"], folder=tmp_path, progress=False)
    again = heedful.audit(theirs, many_texts, only=["permutation"], folder=tmp_path, progress=False)
    assert {"sharpness", "permutation"} <= set(again.summaries)
    again.report(tmp_path / "report.html")
    assert "a model of another make" in (tmp_path / "report.html").read_text(encoding="utf-8")
    theirs.model.table = theirs.model.table + 1
    with pytest.raises(BadInput, match="model differ"):
        heedful.audit(theirs, many_texts, folder=tmp_path, progress=False)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "name", [name for name in EXPLAINERS if name != "word_mask" and not reads_layers(name)]
)
def test_every_explainer_gives_what_it_gives_for_ours(pair, name, known, toy_split):
    ours, theirs = pair(known=known)
    batch = ours.instances(toy_split()).batch(np.array([0, 2, 3, 4]))
    scores = [EXPLAINERS.get(name)(c.model, batch, seed=1) for c in (ours, theirs)]
    torch.testing.assert_close(*scores, rtol=1e-4, atol=1e-5)


def test_its_texts_are_explained_by_name(pair):
    ours, theirs = (heedful.explain(c, ["a fine film", "dull plot"], "gradient") for c in pair())
    for one, other in zip(ours, theirs, strict=True):
        assert one.label == other.label
        assert [item.weight for item in one.items] == pytest.approx([item.weight for item in other.items])


def test_synonyms_are_found_by_its_own_embeddings(pair, many_texts):
    both = [heedful.audit(c, many_texts, only=["word_stability"], progress=False) for c in pair()]
    assert_same(*both, ["word_stability"])


@pytest.mark.parametrize(
    "name, reason",
    [
        ("seed_stability", "needs the run in which this model was trained"),
        ("imitation", "needs the run in which this model was trained"),
        ("randomisation", "cannot be drawn anew"),
    ],
)
def test_what_trains_or_draws_weights_again_says_why_it_cannot(pair, many_texts, name, reason):
    with pytest.raises(BadInput, match=reason):
        heedful.audit(pair()[1], many_texts, only=[name], progress=False)
