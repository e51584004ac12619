"""The exact ε-max JSD: by hand, against all vertices of the polytope, against searches, and its properties."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit, rel_entr

from heedful.measures import counterfactual
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import jsd

LN2 = math.log(2)
SHARES = [0, 0, 1, 1, 2, 3, 7, 1e-3, 1e-9]
LOGITS = [-40, -8, -2, -1, -0.5, 0, 0, 0.25, 0.3, 1, 1, 3, 8, 40]
EPSILONS = [0, 1e-6, 0.01, 0.05, 0.3, 0.9, 1]


def _solve(weights, logits, epsilon):
    """One instance, all items real, in float64."""
    weights = torch.as_tensor(np.asarray(weights, dtype=float))[None]
    logits = torch.as_tensor(np.asarray(logits, dtype=float))[None]
    found = eps_max_jsd(weights, logits, torch.ones_like(weights, dtype=torch.bool), epsilon)
    return found.value.item(), found.weights[0].numpy()


def _jsd(p, q):
    middle = (p + q) / 2
    return (rel_entr(p, middle).sum(-1) + rel_entr(q, middle).sum(-1)) / 2


def _bounds(weights, logits, epsilon):
    """The slab in logits; 1 − ŷ is taken from the other tail, where it is not lost in rounding."""
    y, rest = expit(weights @ logits), expit(-(weights @ logits))
    lower = np.log(y - epsilon) - np.log(rest + epsilon) if y > epsilon else -np.inf
    upper = np.log(y + epsilon) - np.log(rest - epsilon) if rest > epsilon else np.inf
    return lower, upper


def _highest_vertex(weights, logits, epsilon):
    """All intersections of n − 1 constraints with the simplex's plane, kept where they are feasible."""
    n = len(weights)
    lower, upper = _bounds(weights, logits, epsilon)
    rows = [(row, 0.0) for row in np.eye(n)]
    rows += [(logits, bound) for bound in (lower, upper) if np.isfinite(bound)]
    best = 0.0
    for active in combinations(rows, n - 1):
        matrix = np.vstack([np.ones(n), *(row for row, _ in active)])
        if np.linalg.matrix_rank(matrix, tol=1e-12) < n:
            continue
        alpha = np.linalg.solve(matrix, np.array([1.0, *(value for _, value in active)]))
        slack = 1e-9 * max(1.0, abs(logits).max())
        if alpha.min() > -1e-11 and lower - slack <= alpha @ logits <= upper + slack:
            best = max(best, _jsd(weights, alpha.clip(0)))
    return best


@st.composite
def instances(draw, smallest=1, largest=5):
    n = draw(st.integers(smallest, largest))
    shares = draw(st.lists(st.sampled_from(SHARES), min_size=n, max_size=n).filter(any))
    logits = draw(st.lists(st.sampled_from(LOGITS), min_size=n, max_size=n))
    return np.array(shares, dtype=float) / sum(shares), np.array(logits, dtype=float)


def test_two_items_by_hand():
    """ŷ = ½, so α may put ½ ± δ on either item, where σ(2δ) = 0.51."""
    value, weights = _solve([0.5, 0.5], [1.0, -1.0], 0.01)
    share = (1 + math.log(0.51 / 0.49)) / 2
    assert max(weights) == pytest.approx(share, abs=1e-15)
    assert value == pytest.approx(_jsd(np.array([0.5, 0.5]), np.array([share, 1 - share])), abs=1e-15)


def test_one_item_alone_by_hand():
    """The lightest item gives the same prediction by itself: JSD = ln 2 − ½((w+1) ln(w+1) − w ln w)."""
    value, weights = _solve([0.6, 0.3, 0.1], [2.0, 2.0, 2.0], 0.01)
    assert weights.tolist() == [0, 0, 1]
    assert value == pytest.approx(LN2 - (1.1 * math.log(1.1) - 0.1 * math.log(0.1)) / 2, abs=1e-15)


def test_an_item_of_no_weight_in_the_slab_reaches_the_ceiling():
    assert _solve([0.5, 0.5, 0.0], [1.0, -1.0, 0.01], 0.01) == (LN2, pytest.approx([0, 0, 1]))


@pytest.mark.parametrize(("weights", "logits"), [([1.0], [3.0]), ([1.0, 0.0], [3.0, 1.0])])
def test_attention_that_cannot_move_stays(weights, logits):
    value, found = _solve(weights, logits, 0.0)
    assert value == 0
    assert found.tolist() == weights


def test_an_item_exactly_on_the_boundary_counts():
    """The slab reaches from ŷ to the third item's own probability, 0.55, to the last bit or not."""
    edge = float(logit(0.55))
    for epsilon in (0.55 - expit(0.1 * edge), np.nextafter(0.55 - expit(0.1 * edge), 0)):
        _, weights = _solve([0.45, 0.45, 0.1], [1.0, -1.0, edge], epsilon)
        assert weights.tolist() == [0, 0, 1]


def test_equal_logits_let_attention_go_anywhere_however_their_mean_is_rounded():
    for weights in np.random.default_rng(0).dirichlet(np.ones(7), 50):
        _, found = _solve(weights, [0.3] * 7, 0.0)
        assert found.argmax() == weights.argmin()
        assert found.max() == 1


def test_confident_predictions_have_one_open_side():
    """ŷ + ε > 1: any weights whose logit is high enough do, also those of logit 60."""
    _, weights = _solve([0.9, 0.09, 0.01], [40.0, 39.0, 60.0], 0.01)
    assert weights.tolist() == [0, 0, 1]
    _, weights = _solve([0.9, 0.09, 0.01], [-40.0, -39.0, -60.0], 0.01)
    assert weights.tolist() == [0, 0, 1]


def test_without_a_constraint_the_lightest_item_is_farthest():
    _, weights = _solve([0.5, 0.2, 0.3], [-9.0, 9.0, 0.0], 1.0)
    assert weights.tolist() == [0, 1, 0]


def test_of_equal_maxima_the_earliest_is_taken():
    _, weights = _solve([0.1, 0.45, 0.1, 0.35], [1.0] * 4, 0.01)
    assert weights.tolist() == [1, 0, 0, 0]


@given(instances(), st.sampled_from(EPSILONS))
def test_no_vertex_is_higher(instance, epsilon):
    weights, logits = instance
    assert _solve(weights, logits, epsilon)[0] == pytest.approx(
        _highest_vertex(weights, logits, epsilon), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_vertex_is_higher_on_random_numbers(seed):
    rng = np.random.default_rng(seed)
    for n in range(1, 7):
        weights, logits = rng.dirichlet(np.full(n, 0.5)), rng.normal(rng.normal() * 3, 2, n)
        for epsilon in (0.01, 0.05, 0.4):
            expected = _highest_vertex(weights, logits, epsilon)
            assert _solve(weights, logits, epsilon)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_random_feasible_attention_is_farther(seed):
    rng = np.random.default_rng(seed)
    n = 4
    weights, logits = rng.dirichlet(np.ones(n)), rng.normal(0, 2, n)
    lower, upper = _bounds(weights, logits, 0.05)
    tries = rng.dirichlet(np.full(n, 0.3), size=200_000)
    inside = tries[(tries @ logits >= lower) & (tries @ logits <= upper)]
    value, _ = _solve(weights, logits, 0.05)
    farthest = _jsd(weights, inside).max()
    assert farthest <= value + 1e-12
    assert farthest > value - 0.05  # the search comes near, so it can tell


@pytest.mark.parametrize("seed", range(3))
def test_a_constrained_optimiser_from_many_starts_reaches_it_and_never_beats_it(seed):
    rng = np.random.default_rng(seed)
    n = 5
    weights, logits = rng.dirichlet(np.ones(n)), rng.normal(0, 2, n)
    lower, upper = _bounds(weights, logits, 0.05)
    value, _ = _solve(weights, logits, 0.05)
    constraints = [
        {"type": "eq", "fun": lambda a: a.sum() - 1},
        {"type": "ineq", "fun": lambda a: a @ logits - lower},
        {"type": "ineq", "fun": lambda a: upper - a @ logits},
    ]
    reached = 0.0
    for _ in range(30):
        start = rng.dirichlet(np.full(n, 0.3))
        end = minimize(
            lambda a: -_jsd(weights, a.clip(1e-12)),
            start,
            method="SLSQP",
            bounds=[(0, 1)] * n,
            constraints=constraints,
        ).x
        end = end.clip(0) / end.clip(0).sum()
        if lower - 1e-6 <= end @ logits <= upper + 1e-6:
            reached = max(reached, _jsd(weights, end))
    assert reached <= value + 1e-5  # it keeps its constraints to 1e-6 only
    assert reached > value - 1e-3


@given(instances(), st.sampled_from(EPSILONS))
def test_what_is_found_is_attention_feasible_and_as_far_as_stated(instance, epsilon):
    weights, logits = instance
    value, found = _solve(weights, logits, epsilon)
    assert 0 <= value <= LN2
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert abs(expit(found @ logits) - expit(weights @ logits)) <= epsilon + 1e-12
    assert value == pytest.approx(_jsd(weights, found), abs=1e-9)
    assert value == pytest.approx(jsd(torch.as_tensor(weights), torch.as_tensor(found)).item(), abs=1e-9)


@given(instances(), st.sampled_from(EPSILONS), st.sampled_from(EPSILONS))
def test_more_room_never_brings_attention_nearer(instance, one, other):
    weights, logits = instance
    narrow, wide = (_solve(weights, logits, epsilon)[0] for epsilon in sorted((one, other)))
    assert narrow <= wide + 1e-10


@given(st.lists(instances(), min_size=1, max_size=4), st.integers(0, 3), st.randoms(use_true_random=False))
def test_padding_batch_and_order_do_not_matter(batch, padding, random):
    """Rows are padded inside as well as at the end, with numbers that must not be read."""
    items = max(len(weights) for weights, _ in batch) + padding
    mask = torch.zeros(len(batch), items, dtype=torch.bool)
    weights = torch.full((len(batch), items), torch.nan, dtype=torch.float64)
    logits = torch.full((len(batch), items), torch.inf, dtype=torch.float64)
    places = []
    for row, (own, says) in enumerate(batch):
        places.append(random.sample(range(items), len(own)))
        mask[row, places[-1]] = True
        weights[row, places[-1]] = torch.as_tensor(own)
        logits[row, places[-1]] = torch.as_tensor(says)
    together = eps_max_jsd(weights, logits, mask, 0.05)
    assert (together.weights[~mask] == 0).all()
    for row, (own, says) in enumerate(batch):
        value, _ = _solve(own, says, 0.05)
        assert together.value[row].item() == pytest.approx(value, abs=1e-12)
        moved = together.weights[row, places[row]].numpy()
        assert _jsd(own, moved) == pytest.approx(value, abs=1e-9)


def test_blocks_of_pairs_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    weights, logits = (
        torch.as_tensor(rng.dirichlet(np.ones(30), 5)),
        torch.as_tensor(rng.normal(0, 2, (5, 30))),
    )
    mask = torch.arange(30) < torch.tensor([[30], [1], [17], [29], [2]])
    whole = eps_max_jsd(weights, logits, mask, 0.01)
    monkeypatch.setattr(counterfactual, "PAIRS", 7)
    cut = eps_max_jsd(weights, logits, mask, 0.01)
    assert torch.allclose(whole.value, cut.value, rtol=0, atol=1e-12)
    assert torch.allclose(whole.weights, cut.weights, rtol=0, atol=1e-12)


@given(instances(smallest=2, largest=6), st.sampled_from(EPSILONS), st.integers(1, 6))
def test_the_lightest_items_alone_give_a_lower_bound_that_is_reached(instance, epsilon, most):
    weights, logits = instance
    value, farthest = _solve(weights, logits, epsilon)
    tensors = (torch.as_tensor(weights)[None], torch.as_tensor(logits)[None])
    few = eps_max_jsd(*tensors, torch.ones(1, len(weights), dtype=torch.bool), epsilon, most=most)
    found = few.weights[0].numpy()
    assert few.value.item() <= value + 1e-12
    if most >= len(weights):
        assert few.value.item() == value and found.tolist() == farthest.tolist()
    assert few.value.item() == pytest.approx(_jsd(weights, found), abs=1e-9)
    assert abs(expit(found @ logits) - expit(weights @ logits)) <= epsilon + 1e-12


def test_of_many_items_the_lightest_are_mixed():
    """Two heavy items could be mixed too; the two light ones are farther."""
    weights = torch.tensor([[0.4, 0.1, 0.4, 0.1]])
    says = torch.tensor([[-1.0, -1.0, 1.0, 1.0]])
    found = eps_max_jsd(weights, says, weights > 0, 0.0, most=1)
    assert found.weights[0].tolist() == pytest.approx([0, 0.5, 0, 0.5])


def test_single_precision_is_computed_in_double():
    weights, logits = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[0.0, 1.0, -1.0]])
    single = eps_max_jsd(weights, logits, weights > 0, 0.01)
    double = eps_max_jsd(weights.double(), logits.double(), weights > 0, 0.01)
    assert single.value.dtype == single.weights.dtype == torch.float64
    assert torch.equal(single.value, double.value)


@pytest.mark.parametrize(
    ("weights", "logits", "epsilon", "message"),
    [
        ([[0.5, 0.5]], [[1.0, 2.0]], -0.1, "epsilon must be at least 0"),
        ([[0.5, 0.5]], [[1.0, 2.0]], math.nan, "epsilon must be at least 0"),
        ([[0.5, 0.5]], [[1.0]], 0.1, r"must be \[batch, items\]"),
        ([[0.5, 0.5]], [[[1.0, 2.0], [1.0, 2.0]]], 0.1, r"must be \[batch, items\]"),
        ([[0.5, 0.5]], [[1.0, math.inf]], 0.1, "finite"),
        ([[1.5, -0.5]], [[1.0, 2.0]], 0.1, "negative"),
        ([[0.0, 0.0]], [[1.0, 2.0]], 0.1, "one above 0"),
    ],
)
def test_bad_input_is_named(weights, logits, epsilon, message):
    weights = torch.tensor(weights)
    with pytest.raises(ValueError, match=message):
        eps_max_jsd(weights, torch.tensor(logits), torch.ones_like(weights, dtype=torch.bool), epsilon)


@pytest.mark.parametrize(("epsilon", "mean", "key"), [(0.05, 0.654, "05"), (0.01, 0.635, "01")])
def test_reference_network_and_the_published_search(published, epsilon, mean, key):
    lengths = torch.as_tensor(published["lengths"])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    weights, logits = torch.zeros(mask.shape), torch.zeros(mask.shape)
    weights[mask], logits[mask] = (
        torch.as_tensor(published["attention"]),
        torch.as_tensor(published["token_logits"]),
    )
    found = eps_max_jsd(weights, logits, mask, epsilon)
    assert found.value.mean().item() == pytest.approx(mean, abs=1e-3)
    assert (found.value.numpy() >= published[f"search_jsd_eps{key}"] - 1e-6).all()
