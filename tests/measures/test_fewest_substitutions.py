"""The fewest substitutions: by hand, against every combination, and what must not matter."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures.fewest_substitutions import fewest_substitutions, robust_accuracy

Piece = tuple[float, tuple[float, ...]]
"""A score and what it says for each output."""


def find(words: list[list[list[Piece]]], *, extra: int = 0, **given_):
    """Ask for one text: words, each a list of options, each a list of pieces; `extra` pads every axis."""
    options = max(len(word) for word in words) + extra
    pieces = max(len(option) for word in words for option in word) + extra
    outputs = len(words[0][0][0][1])
    size = (1, len(words) + extra, options, pieces)
    scores, there = torch.full(size, 99.0, dtype=torch.float64), torch.zeros(size, dtype=torch.bool)
    votes = torch.full((*size, outputs), -99.0, dtype=torch.float64)
    for w, word in enumerate(words):
        for o, option in enumerate(word):
            for p, (score, says) in enumerate(option):
                scores[0, w, o, p], there[0, w, o, p] = score, True
                votes[0, w, o, p] = torch.tensor(says, dtype=torch.float64)
    return fewest_substitutions(scores, votes, there, **given_)


def decide(pieces: list[Piece], allowed=None) -> int:
    """The class of a text that is these pieces, in exact arithmetic; scores are whole, their base is 2."""
    outputs = len(pieces[0][1])
    sums = [sum(Fraction(2) ** int(s) * Fraction(says[k]) for s, says in pieces) for k in range(outputs)]
    if outputs == 1:
        return int(sums[0] > 0)
    return max((k for k in range(outputs) if allowed is None or allowed[k]), key=lambda k: (sums[k], -k))


def brute_force(words, allowed=None) -> float:
    before = decide([piece for word in words for piece in word[0]], allowed)
    best = torch.inf
    for choice in product(*(range(len(word)) for word in words)):
        taken = [piece for word, o in zip(words, choice, strict=True) for piece in word[o]]
        if decide(taken, allowed) != before:
            best = min(best, sum(o > 0 for o in choice))
    return float(best)


def in_nats(words):
    """The same with scores to the base e, as attention has them."""
    log2 = float(torch.log(torch.tensor(2.0, dtype=torch.float64)))
    return [[[(s * log2, says) for s, says in option] for option in word] for word in words]


FEW = st.integers(-3, 3)


def texts(outputs: int, *, scores=FEW, pieces: int = 2):
    piece = st.tuples(scores, st.tuples(*[FEW] * outputs))
    option = st.lists(piece, min_size=1, max_size=pieces)
    return st.lists(st.lists(option, min_size=1, max_size=4), min_size=1, max_size=4)


@pytest.mark.parametrize("outputs", [1, 2, 3, 4])
@given(data=st.data())
def test_no_combination_needs_fewer(outputs, data):
    words = data.draw(texts(outputs))
    assert find(in_nats(words)).smallest.item() == brute_force(words)


@pytest.mark.parametrize("outputs", [1, 3])
@given(words=texts(1, scores=st.sampled_from([-3000, -40, 0, 1, 60, 3000])), seed=st.integers(0, 2**16))
def test_huge_and_tiny_scores_are_read_as_they_are(outputs, words, seed):
    # Votes of no pattern: where huge terms cancel each other exactly, there is a tie, whatever is left.
    generator = torch.Generator().manual_seed(seed)
    votes = iter(torch.randn(99, outputs, generator=generator, dtype=torch.float64).tolist())
    words = [[[(s, tuple(next(votes))) for s, _ in option] for option in word] for word in words]
    assert find(in_nats(words)).smallest.item() == brute_force(words)


@given(words=texts(3))
def test_the_witness_changes_the_decision(words):
    found = find(in_nats(words))
    chosen = found.chosen[0].tolist()
    assert found.decided.item() == decide([p for word in words for p in word[0]])
    if found.smallest.isinf():
        assert (sum(chosen), found.to.item()) == (0, -1)
        return
    after = decide([p for word, o in zip(words, chosen, strict=True) for p in word[o]])
    assert after == found.to.item() != found.decided.item()
    assert sum(o > 0 for o in chosen) == found.smallest.item()


@given(words=texts(3), allowed=st.tuples(st.booleans(), st.booleans(), st.just(True)))
def test_classes_that_are_not_allowed_are_no_rivals(words, allowed):
    found = find(in_nats(words), allowed=torch.tensor([allowed]))
    assert found.smallest.item() == brute_force(words, allowed)


@given(words=texts(2), data=st.data())
def test_more_substitutes_never_make_it_harder(words, data):
    place = data.draw(st.integers(0, len(words) - 1))
    more = [list(word) for word in words]
    more[place].append([(data.draw(st.integers(-3, 3)), (1, -2))])
    assert find(in_nats(more)).smallest.item() <= find(in_nats(words)).smallest.item()


@given(words=texts(3), extra=st.integers(1, 2), data=st.data())
def test_padding_and_order_do_not_matter(words, extra, data):
    words = in_nats(words)
    shuffled = data.draw(st.permutations(words))
    shuffled = [[word[0], *data.draw(st.permutations(word[1:]))] for word in shuffled]
    expected = find(words)
    for other in (find(words, extra=extra), find(shuffled)):
        assert (other.smallest, other.decided) == (expected.smallest, expected.decided)
    torch.testing.assert_close(find(words, extra=extra).margins[:, : len(words) + 1], expected.margins)


def test_companions_do_not_matter():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(6, 5, 4, 2, generator=generator, dtype=torch.float64)
    votes = torch.randn(6, 5, 4, 2, 3, generator=generator, dtype=torch.float64)
    there = torch.rand(6, 5, 4, 2, generator=generator) < 0.7
    there[:, :, 0] = True
    together = fewest_substitutions(scores, votes, there)
    for row in range(6):
        alone = fewest_substitutions(*(t[row : row + 1] for t in (scores, votes, there)))
        assert torch.equal(alone.smallest[0], together.smallest[row])
        assert torch.equal(alone.chosen[0], together.chosen[row])


def test_without_substitutes_nothing_changes():
    found = find([[[(0.0, (1.0,))]], [[(0.0, (-3.0,))]]])
    assert found.smallest.tolist() == [torch.inf]
    assert found.decided.tolist() == [0]
    assert found.margins.tolist() == [pytest.approx([0.5, 0.5, 0.5])]


def test_a_substitute_that_says_the_same_is_never_used():
    same = [(0.0, (1.0,))]
    found = find([[same, same], [same, [(0.0, (-5.0,))]]])
    assert found.smallest.item() == 1
    assert found.chosen.tolist() == [[0, 1]]


def test_ties_go_to_the_lowest_class():
    # Class 0 wins ties: 1 − 1 = 0 is enough to lose class 1, and not enough to win it.
    assert find([[[(0.0, (1.0,))], [(0.0, (0.0,))]]]).smallest.item() == 1
    assert find([[[(0.0, (-1.0,))], [(0.0, (0.0,))]]]).smallest.item() == torch.inf


def test_a_substitute_of_several_pieces_counts_with_all_of_them():
    long = [(0.0, (-1.0,)), (0.0, (-1.0,))]
    kept = [[(0.0, (1.5,))]]
    assert find([[[(0.0, (0.1,))], long], kept]).smallest.item() == 1
    assert find([[[(0.0, (0.1,))], long[:1]], kept]).smallest.item() == torch.inf


def test_what_attention_is_all_on_must_be_replaced():
    # All the weight is on word 0; of its substitutes, both of no weight, only one lets the others decide otherwise.
    words = [
        [[(1000.0, (1.0,))], [(0.0, (3.0,))], [(0.0, (-1.0,))]],
        [[(0.0, (0.5,))], [(0.0, (0.4,))]],
    ]
    found = find(words)
    assert found.smallest.item() == 1
    assert found.chosen.tolist() == [[2, 0]]


def test_a_substitute_that_draws_all_attention_for_the_decision_hides_nothing():
    words = [[[(0.0, (2.0,))], [(900.0, (1.0,))]], [[(0.0, (1.0,))], [(0.0, (-3.0,))]]]
    assert find(words).chosen.tolist() == [[0, 1]]


def test_slack_counts_what_is_nearly_lost():
    words = [[[(0.0, (1.0,))], [(0.0, (0.001,))]], [[(0.0, (-1e-3 / 1.001,))]]]
    assert find(words).smallest.item() == torch.inf
    assert find(words, slack=1e-3).smallest.item() == 1
    nearly = [[[(0.0, (1.0,))]], [[(0.0, (-0.99999,))]]]
    assert find(nearly, slack=1e-3).smallest.item() == 0


def test_padding_alone_is_no_text():
    nothing = torch.zeros(1, 2, 2, 1)
    found = fewest_substitutions(nothing, nothing[..., None], nothing.bool())
    assert (found.smallest.item(), found.decided.item()) == (torch.inf, -1)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="finite"):
        find([[[(float("nan"), (1.0,))]]])
    with pytest.raises(ValueError, match="itself"):
        fewest_substitutions(
            torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1, 1), torch.tensor([[[[False], [True]]]])
        )


@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, torch.inf]), st.booleans()), min_size=1))
def test_robust_accuracy_falls_from_accuracy(rows):
    smallest, right = (torch.tensor(column) for column in zip(*rows, strict=True))
    curve = robust_accuracy(smallest, right, [0, 1, 2, 3, torch.inf])
    assert curve[0] == pytest.approx(right.double().mean().item())
    assert curve == sorted(curve, reverse=True)
    assert curve[-1] == curve[-2]


def test_unknown_numbers_have_no_robust_accuracy():
    with pytest.raises(ValueError, match="not known"):
        robust_accuracy(torch.tensor([torch.nan]), torch.tensor([True]), [1])
