"""Heatmaps between corners: feasible, as far as they say, near the truth where it is known, and better than the published search."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.models.huggingface.conftest import TEXTS, make_classifier

from heedful.audits.questions.bridges import Bridges
from heedful.audits.questions.corners import farthest_of_all
from heedful.audits.questions.heatmap_search import NEAR, published_search, search
from heedful.audits.subject.reading import read_batch
from heedful.data.corpus import Split
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import jsd, tvd
from heedful.models.stages import probabilities

EPSILON = 0.01
MANY = [" ".join(text.split()[:cut]) for text in TEXTS for cut in (3, 5, 9, 20)]


def read(kind, texts=MANY, **more):
    made = make_classifier(kind, **more)
    split = Split(list(texts), np.zeros(len(texts), dtype=np.int64))
    return read_batch(made.model, made.instances(split).batch(np.arange(len(texts))))


def judged(reading, heatmaps):
    """How far heatmaps are, and how far they move the prediction."""
    with torch.no_grad():
        after = probabilities(reading.decode(heatmaps))
    far = jsd(heatmaps, reading.weights.double()[:, None]).mean(-1)
    return far[:, 0], tvd(after, reading.probabilities[:, None])[:, 0]


@pytest.fixture(scope="module")
def reading():
    return read("Bert", num_labels=2)


def test_between_two_corners_the_prediction_is_the_same(reading):
    """Whether there is anything on the other side is another matter; where there is, it is found."""
    *_, last = Bridges(reading, EPSILON).from_the_farthest()
    assert last.sum(-1).flatten().tolist() == pytest.approx([1.0] * last[..., 0].numel())
    assert int((last > 0).sum(-1).max()) <= 2  # one item in a head, or two that share it
    assert last.masked_select(~reading.mask[:, None, None].expand_as(last)).abs().max() == 0
    _, moved = judged(reading, last)
    assert (moved <= EPSILON).double().mean() >= 0.7


def test_it_is_near_the_exact_answer_where_that_is_known(toy_classifier):
    """For one head that is linear in its weights the farthest heatmap is known: two items on the edge of what is allowed."""
    made = toy_classifier(encoder="average", classes=2, seed=1)
    made.model.attention.similarity.vector.data *= 10
    made.model.decoder.output.weight.data *= 6
    texts = [
        "a fine film with a thin plot",
        "dull jokes , nobody laughed",
        "warm and fine",
        "the film is dull",
    ]
    split = Split(texts, np.zeros(len(texts), dtype=np.int64))
    reading = read_batch(made.model, made.instances(split).batch(np.arange(len(texts))))
    exact = eps_max_jsd(reading.weights[:, 0], reading.item_logits[..., 0], reading.mask, epsilon=EPSILON)
    best = torch.zeros(len(texts), dtype=torch.float64)
    for heatmaps in Bridges(reading, EPSILON).from_the_farthest():
        far, moved = judged(reading, heatmaps)
        best = torch.where(moved <= EPSILON, far, 0.0).maximum(best)
    assert (best <= exact.value + 1e-6).all()
    assert (exact.value - best).max() < 0.03


@pytest.mark.parametrize("kind", ["Bert", "GPT2"])
def test_a_search_is_as_good_as_the_published_one_or_has_nothing_left_to_find(kind):
    reading = read(kind, MANY[:6], num_labels=2)
    found, published = (find(reading, EPSILON, seed=0) for find in (search, published_search))
    far, moved = judged(reading, found.weights[:, None])
    assert (moved <= EPSILON).all()
    assert found.value.tolist() == pytest.approx(far.tolist(), abs=1e-6)
    most = farthest_of_all(reading.weights, reading.mask)
    assert (found.value <= most + 1e-6).all()
    assert ((found.value >= published.value - 1e-9) | (most - found.value <= NEAR)).all()
    assert (found.value > published.value + 0.02).any()


def test_what_is_found_depends_on_no_companion(reading):
    *_, together = Bridges(reading, EPSILON).from_elsewhere(seed=3)
    alone = read("Bert", MANY[:5], num_labels=2)
    *_, few = Bridges(alone, EPSILON).from_elsewhere(seed=3)
    size = few.shape[-1]
    torch.testing.assert_close(together[:5, ..., :size], few, rtol=0, atol=1e-3)
