"""The order of a heatmap is that of exact arithmetic; only what single precision cannot tell apart is equal."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.audits.subject.reading import read_batch
from heedful.audits.subject.ties import ROUNDING, settled, settled_weights
from heedful.audits.subject.words import Words
from heedful.explainers.explainer import EXPLAINERS
from heedful.models.attention import normalise

NORMALISERS = ("softmax", "sparsemax", "entmax15")


def by(normaliser):
    return lambda scores, mask: normalise(scores, mask[:, None], normaliser)


def all_real(scores):
    return torch.ones(scores.shape[0], scores.shape[-1], dtype=torch.bool)


def order(scores):
    return scores.argsort(dim=1, descending=True, stable=True)[0].tolist()


def exact_softmax(scores: list[list[float]]) -> list[Decimal]:
    """Sixty digits: the mean over heads of the softmax of single-precision scores, which are exact decimals."""
    with localcontext() as context:
        context.prec, context.Emin = 60, -(10**9)
        heads = []
        for head in scores:
            powers = [(Decimal(score) - max(map(Decimal, head))).exp() for score in head]
            heads.append([power / sum(powers) for power in powers])
        return [sum(items) / len(heads) for items in zip(*heads, strict=True)]


def one_after_the_other(values, uncertain):
    """Group scores from the largest downwards, as the definition reads."""
    places = sorted(range(len(values)), key=lambda place: -values[place])
    found, first, before = [0.0] * len(values), places[0], places[0]
    for place in places:

        def apart(other, place=place):
            return values[other] - values[place] > max(uncertain[other], uncertain[place])

        if apart(before) or apart(first):
            first = place
        found[place], before = values[first], place
    return found


SCORES = st.floats(-200, 200, width=32)


@settings(deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=8), st.sampled_from([1, 2]))
def test_the_order_is_that_of_the_exact_softmax(pairs, heads):
    scores = [[pair[head] for pair in pairs] for head in range(heads)]
    found = settled_weights(torch.tensor([scores]), all_real(torch.tensor([scores])), by("softmax"))[0]
    exact = exact_softmax(scores)
    # The absolute error of a score is the relative error of its weight; a group is no wider than that.
    unsure = Decimal(3 * ROUNDING * max(1.0, *(abs(score) for head in scores for score in head)))
    for a, x in enumerate(exact):
        assert float(found[a]) == pytest.approx(float(x), rel=float(unsure), abs=1e-300)
        for b, y in enumerate(exact):
            if x > y * (1 + unsure) and x > Decimal("1e-300"):
                assert found[a] > found[b]


@pytest.mark.parametrize("top", [0, 3, 6])
def test_a_heatmap_that_is_nearly_one_hot_keeps_the_order_of_the_rest(top):
    scores = torch.tensor([[[3.0, -1.0, 2.5, 4.0, 0.0, 1.0, -7.0]]])
    scores[0, 0, top] = 180.0  # in single precision all other weights are 0
    assert (torch.softmax(scores, dim=-1) == 0).sum() == 6
    found = settled_weights(scores, all_real(scores), by("softmax"))
    exact = exact_softmax(scores[0].tolist())
    assert order(found) == sorted(range(7), key=lambda item: -exact[item])
    assert len(found.unique()) == 7


def test_weights_without_their_scores_keep_their_order_too():
    weights = torch.tensor([[1e-12, 1.0, 3e-12, 2e-12, 4e-30, 1e-38]])
    assert order(settled(weights, all_real(weights))) == [1, 2, 3, 0, 4, 5]


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_flat_scores_and_rounding_are_ties(normaliser):
    for size in (0.0, 0.3, 150.0):
        one_step = torch.nextafter(torch.tensor(size), torch.tensor(1e9))
        scores = torch.tensor([[[size, one_step, size, size, one_step]]])
        found = settled_weights(scores, all_real(scores), by(normaliser))
        assert len(found.unique()) == 1
        assert found.sum().item() == pytest.approx(1)


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_one_item_has_all_the_weight(normaliser):
    scores = torch.tensor([[[7.0, 99.0]]])
    found = settled_weights(scores, torch.tensor([[True, False]]), by(normaliser))
    assert found.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("normaliser", ["sparsemax", "entmax15"])
def test_what_has_no_weight_is_a_tie_however_its_scores_differ(normaliser):
    scores = torch.tensor([[[-5.0, 1.0, -9.0, 0.9, -7.0]]])
    found = settled_weights(scores, all_real(scores), by(normaliser))
    assert found[0, [0, 2, 4]].tolist() == [0, 0, 0]
    assert order(found) == [1, 3, 0, 2, 4]


VALUES = st.one_of(
    st.floats(-1, 1), st.sampled_from([0.0, 0.5, 0.5 + 4e-7, 0.5 + 8e-7, 0.5 + 1.2e-6, 1e-9, 2e-9])
)


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, st.sampled_from([0.0, 5e-7, 1e-6, 0.01, 0.1])), min_size=1, max_size=9))
def test_groups_are_those_of_the_definition(pairs):
    values, uncertain = (list(part) for part in zip(*pairs, strict=True))
    scores, unsure = (
        torch.tensor([values], dtype=torch.float64),
        torch.tensor([uncertain], dtype=torch.float64),
    )
    found = settled(scores, all_real(scores), uncertain=unsure)
    assert found[0].tolist() == one_after_the_other(values, uncertain)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_neither_order_nor_padding_matters_and_to_settle_twice_is_to_settle_once(values, random):
    scores = torch.tensor([values], dtype=torch.float64)
    found = settled(scores, all_real(scores))
    places = list(range(len(values)))
    random.shuffle(places)
    assert torch.equal(settled(scores[:, places], all_real(scores)), found[:, places])
    padded = torch.cat([scores, torch.full((1, 3), 7.0, dtype=torch.float64)], dim=1)
    mask = torch.arange(padded.shape[1])[None] < len(values)
    assert torch.equal(settled(padded, mask), torch.cat([found, torch.zeros(1, 3, dtype=torch.float64)], 1))
    assert torch.equal(settled(found, all_real(found)), found)


def test_a_chain_of_near_ties_does_not_make_equals_of_its_ends():
    chain = 1 + 4e-7 * torch.arange(50, dtype=torch.float64)[None]
    found = settled(chain, all_real(chain))[0]
    assert (found - chain[0]).max() <= 1.1 * ROUNDING
    assert len(found.unique()) > 10
    assert all(a <= b for a, b in pairwise(found.tolist()))


def sharp(make_case, name, by_how_much, **more):
    """A case whose attention is nearly one-hot."""
    case = make_case(name, **more)
    case.classifier.model.attention.similarity.vector.data *= by_how_much
    return case._replace(reading=read_batch(case.classifier.model, case.reading.batch))


@pytest.mark.parametrize("heads", [1, 2])
def test_a_reading_of_a_sharp_model_keeps_its_order(make_case, heads):
    reading = sharp(make_case, "binary", 200.0, heads=heads).reading
    found, scores = reading.scores("attention"), reading.model.score(reading.states).detach()
    assert (reading.weights[0].amin(0)[reading.mask[0]] < 1e-30).any()
    for row, real in enumerate(reading.mask):
        exact = exact_softmax(scores[row, :, real].tolist())
        assert found[row, real].tolist() == pytest.approx([float(weight) for weight in exact], rel=1e-3)
        assert len(found[row, real].unique()) == len(exact)
        assert order(found[row, real][None]) == sorted(range(len(exact)), key=lambda item: -exact[item])


@pytest.mark.parametrize("name", ["weight_product", "gradient"])
def test_scores_that_are_multiples_of_the_weights_keep_their_order(make_case, name):
    reading = sharp(make_case, "average", 20.0).reading
    found = reading.scores(name)
    exact = EXPLAINERS.get(name)(deepcopy(reading.model).double(), reading.batch, seed=0)
    compared = 0
    for row, ids in enumerate(reading.batch.tokens.ids):
        once = torch.tensor([int((ids == own).sum()) == 1 for own in ids])  # the others are ties
        real = reading.mask[row] & once & (exact[row].abs() > 1e-35)
        assert order(found[row, real][None]) == order(exact[row, real][None])
        compared += int((exact[row, real].abs() < 1e-6 * exact[row].abs().max()).sum())
    assert compared > 5


def test_weights_that_are_not_the_models_own_are_taken_as_they_are(make_case):
    reading = make_case("binary").reading
    other = reading.mask[:, None] / reading.mask.sum(1)[:, None, None]
    found = replace(reading, attended=other, _scores={}).scores("attention")
    torch.testing.assert_close(found, other[:, 0].double())


def test_words_of_several_pieces_are_told_apart_relative_to_themselves():
    words = Words(torch.tensor([[0, 1, 1, 2, 2, 3, -1]]), torch.ones(1, 4, dtype=torch.bool))
    scores = torch.tensor([[1.0, 2e-9, 3e-9, 3e-9, 2e-9, 6e-9, 5.0]], dtype=torch.float64)
    assert words.ranks(words.scores(scores)).tolist() == [[0, 2, 3, 1]]
    found = words.scores(scores)[0]
    assert found[1] == found[2]
