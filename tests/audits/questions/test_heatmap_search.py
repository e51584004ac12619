"""What is searched for: always feasible, never beyond the truth, and not below what anyone finds by trying."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
import torch
from scipy.special import rel_entr, softmax

from heedful.audits.audit import Number
from heedful.audits.questions import few_items
from heedful.audits.questions.corners import farthest_corner, farthest_of_all
from heedful.audits.questions.few_items import farthest_few
from heedful.audits.questions.heatmap_search import published_search, search
from heedful.audits.subject.reading import read_batch
from heedful.data.corpus import Split
from heedful.measures.divergence import tvd
from heedful.models.stages import probabilities

EPSILON = 0.05
SINGLE = 1e-7  # weights in single precision do not quite sum to one
WORDS = [
    "a",
    "fine",
    "film",
    "the",
    "plot",
    "is",
    "thin",
    "jokes",
    "nobody",
    "laughed",
    "warm",
    "dull",
    "zzz",
]


@pytest.fixture
def reading_of(toy_classifier):
    """Give a function that reads random texts of a few words by a model whose items disagree."""

    def make(*, texts=12, items=3, classes=3, seed=0, sharpen=6.0, **shape):
        rng = np.random.default_rng(seed)
        model = toy_classifier(**{"encoder": "average", "classes": classes, "seed": seed, **shape})
        model.model.attention.similarity.vector.data *= 10
        model.model.decoder.output.weight.data *= sharpen
        sizes = [items] * texts if isinstance(items, int) else rng.choice(items, size=texts)
        written = [" ".join(rng.choice(WORDS, size=size, replace=False)) for size in sizes]
        split = Split(written, np.zeros(texts, dtype=np.int64))
        return read_batch(model.model, model.instances(split).batch(np.arange(texts)))

    return make


def judged(reading, heatmaps):
    """How far heatmaps of one text's reading are, and how far they move the prediction: in numpy, one head."""
    item_logits, own = reading.item_logits.numpy(), reading.weights[:, 0].double().numpy()
    before = reading.probabilities.numpy()[:, None]
    after = softmax(heatmaps @ item_logits, axis=-1)
    middle = (heatmaps + own[:, None]) / 2
    far = (rel_entr(heatmaps, middle).sum(-1) + rel_entr(own[:, None], middle).sum(-1)) / 2
    return far, np.abs(after - before).sum(-1) / 2


def simplex(items, parts):
    """All heatmaps in steps of 1 / parts, by stars and bars."""
    bars = np.array(list(combinations(range(parts + items - 1), items - 1)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), parts + items - 1)])
    return (np.diff(edges, axis=1) - 1) / parts


def highest(reading, heatmaps, epsilon=EPSILON):
    far, moved = judged(reading, heatmaps[None])
    return np.where(moved <= epsilon, far, 0).max(1)


@pytest.mark.parametrize(("items", "parts", "classes"), [(2, 4000, 3), (3, 300, 3), (3, 300, 5), (4, 60, 4)])
def test_it_reaches_what_brute_force_finds_and_never_the_impossible(reading_of, items, parts, classes):
    gaps = []
    for seed in range(4):
        reading = reading_of(items=items, classes=classes, seed=seed)
        found = search(reading, EPSILON, seed=0)
        far, moved = judged(reading, found.weights[:, :1].numpy())
        # A heatmap that is feasible, at the distance it claims to have: so the truth is at least that.
        assert (moved <= EPSILON).all()
        assert found.value.tolist() == pytest.approx(far[:, 0].tolist(), abs=SINGLE)
        assert found.weights.sum(-1).flatten().tolist() == pytest.approx([1] * len(far))
        gaps += (highest(reading, simplex(items, parts)) - found.value.numpy()).tolist()
    assert max(gaps) < 0.01
    assert np.mean(gaps) < 1e-4


@pytest.mark.parametrize("classes", [3, 6])
def test_no_grid_of_pairs_finds_more(reading_of, classes):
    shares = np.linspace(0, 1, 2001)[:, None]
    for seed in range(3):
        reading = reading_of(items=8, classes=classes, seed=seed, sharpen=20.0)
        found = search(reading, 0.01, seed=0).value.numpy()
        ones = np.eye(reading.mask.shape[1])
        for a, b in combinations(range(8), 2):
            tried = highest(reading, (1 - shares) * ones[a] + shares * ones[b], 0.01)
            assert (tried <= found + SINGLE).all()


def test_bounds_leave_nothing_out(reading_of, monkeypatch):
    """All segments looked into, without an order or an end, give no more."""
    readings = [reading_of(items=7, classes=4, seed=seed, sharpen=12.0) for seed in range(3)]

    def found():
        return torch.stack(
            [farthest_few(r, EPSILON, beyond=torch.zeros(len(r.mask))).value for r in readings]
        )

    usual = found()
    assert (usual >= 0).any()
    whole = few_items._look_into

    def everything(segments, *rest):
        free = segments.bound.new_full(segments.bound.shape, 9.0).masked_fill(segments.bound < 0, -1)
        return whole(segments._replace(bound=free), *rest)

    monkeypatch.setattr(few_items, "_look_into", everything)
    monkeypatch.setattr(few_items, "_SEGMENTS", 10**6)
    torch.testing.assert_close(found(), usual, rtol=0, atol=1e-9)


def test_blocks_change_nothing(reading_of, monkeypatch):
    reading = reading_of(items=9, classes=4, sharpen=12.0)
    beyond = torch.zeros(len(reading.mask))
    whole = farthest_few(reading, EPSILON, beyond=beyond)
    monkeypatch.setattr(few_items, "_NUMBERS", 1)
    monkeypatch.setattr(few_items, "_TOGETHER", 3)
    torch.testing.assert_close(
        farthest_few(reading, EPSILON, beyond=beyond).value, whole.value, rtol=0, atol=1e-9
    )


def test_of_long_texts_three_items_are_taken_of_the_most_promising(reading_of, monkeypatch):
    reading = reading_of(items=12, classes=4, sharpen=12.0)
    beyond = torch.zeros(len(reading.mask))
    monkeypatch.setattr(few_items, "_THREES", 5)
    found = farthest_few(reading, EPSILON, beyond=beyond)
    far, moved = judged(reading, found.weights(12)[:, None].numpy())
    real = (found.value >= 0).numpy()
    assert real.any() and (moved[real] <= EPSILON).all()
    assert found.value.numpy()[real] == pytest.approx(far[real, 0], abs=SINGLE)


@pytest.mark.parametrize(
    "shape", [{"decoder": "mlp"}, {"heads": 2}, {"decoder": "mlp", "heads": 2, "classes": 2}]
)
def test_pairs_of_any_decoder_are_judged_by_it(reading_of, shape):
    reading = reading_of(items=6, **{"classes": 3, **shape})
    found = farthest_few(reading, EPSILON, beyond=torch.zeros(len(reading.mask)))
    heatmaps = found.weights(6)[:, None, None].expand(-1, 1, reading.weights.shape[1], -1)
    after = reading.decode(heatmaps)[:, 0]
    after = torch.cat([torch.zeros_like(after), after], -1) if after.shape[-1] == 1 else after
    moved = (torch.softmax(after, -1) - reading.probabilities).abs().sum(-1) / 2
    some = found.value >= 0
    assert some.any()
    assert (moved[some] <= EPSILON).all()
    assert (search(reading, EPSILON, seed=0).value >= found.value - SINGLE).all()


@pytest.mark.parametrize("shape", [{"classes": 2}, {"classes": 4}, {"classes": 3, "decoder": "mlp"}])
def test_neither_companions_nor_padding_matter(reading_of, shape):
    reading = reading_of(texts=14, items=range(2, 9), sharpen=12.0, **shape)
    together = farthest_few(reading, EPSILON, beyond=torch.zeros(14))
    for row in range(14):
        alone = read_batch(reading.model, reading.batch.take(torch.tensor([row])))
        found = farthest_few(alone, EPSILON, beyond=torch.zeros(1))
        assert found.value.item() == pytest.approx(together.value[row].item(), abs=1e-5)
        assert not together.weights(8)[row][~reading.mask[row]].any()


def test_two_items_and_one_have_answers_too(reading_of):
    for items in (1, 2):
        reading = reading_of(items=items, classes=3)
        found = search(reading, EPSILON, seed=0)
        assert (found.value >= 0).all() and found.value.isfinite().all()


SEARCHED = {"eps_max_jsd", "replaceable", "replaceable_needed"}


def summed_up(case, method, *, exact=None):
    audit = case.audit("counterfactual", method=method)
    rows = {
        name: np.asarray(values) for name, values in audit.rows(case.reading).items() if "weights" not in name
    }
    predicted = [case.classifier.labels[row] for row in case.reading.probabilities.argmax(-1)]
    items = case.reading.mask.sum(1).tolist()
    frame = pl.DataFrame(rows).with_columns(predicted=pl.Series(predicted), items=pl.Series(items))
    return audit.summarise(frame if exact is None else frame.with_columns(exact=pl.Series(exact)))


@pytest.mark.parametrize(
    ("name", "method", "bounds"),
    [
        ("binary", "exact", set()),
        ("binary", "search", SEARCHED),
        ("many", "exact", SEARCHED),
        ("mlp", "exact", SEARCHED),
    ],
)
def test_what_is_searched_is_marked_as_a_lower_bound(make_case, name, method, bounds):
    summary = summed_up(make_case(name), method)
    assert {number.name for number in summary.numbers if number.bound == "lower"} == bounds
    assert {number.name for number in summary.numbers} == SEARCHED | {"needless"} | (
        {"jsd_bound"} if bounds else set()
    )
    for number in summary.numbers:  # in every group, or in none
        assert (number.bound == "lower") == (number.name in bounds)


def test_one_text_that_is_searched_makes_a_bound_of_the_mean(make_case):
    case = make_case("binary")
    summary = summed_up(case, "exact", exact=[True] * (len(case.split) - 1) + [False])
    assert summary.number("eps_max_jsd").bound == "lower"
    assert "at least" in summary.finding


def test_numbers_of_older_audits_are_no_bounds():
    written = {"name": "x", "estimate": 0.5, "low": 0.4, "high": 0.6, "std": 0.1, "count": 9, "missing": 0}
    assert Number.model_validate(written).bound is None


def corner_distances(weights):
    """JSD of one head's weights and all weight on each item, by its definition."""
    ones = np.eye(len(weights))
    middle = (weights + ones) / 2
    return (rel_entr(weights, middle).sum(1) + rel_entr(ones, middle).sum(1)) / 2


@pytest.mark.parametrize("shape", [{"heads": 3}, {"heads": 2, "decoder": "mlp"}, {"heads": 2, "classes": 2}])
def test_corners_are_the_farthest_of_all_that_keep_the_prediction(reading_of, shape):
    """Brute force over one item for each head."""
    reading = reading_of(texts=8, items=4, sharpen=2.0, **shape)
    value, corner = farthest_corner(reading, EPSILON)
    bound = farthest_of_all(reading.weights, reading.mask)
    heads, items = reading.weights.shape[1:]
    picks = torch.cartesian_prod(*[torch.arange(items)] * heads).view(-1, heads)
    tried = torch.nn.functional.one_hot(picks, items).double()[None].expand(len(value), -1, -1, -1)
    with torch.no_grad():
        moved = tvd(probabilities(reading.decode(tried)), reading.probabilities[:, None])
    hits = 0
    for row in range(len(value)):
        own = reading.weights[row].double().numpy()
        far = np.stack([corner_distances(w / w.sum()) for w in own])  # [heads, items]
        assert bound[row] == pytest.approx(far.max(1).mean(), abs=1e-6)
        worth = far[np.arange(heads), picks.numpy()].mean(1)
        feasible = worth[(moved[row] <= EPSILON).numpy()]
        best = feasible.max() if len(feasible) else -1
        assert value[row] <= best + 1e-6
        hits += bool(value[row] >= best - 1e-6)
        if value[row] >= 0:
            with torch.no_grad():
                after = probabilities(
                    reading.decode(corner[row : row + 1, None].expand(len(value), -1, -1, -1))
                )
            assert tvd(after[row, 0], reading.probabilities[row]) <= EPSILON
    assert (
        hits >= 6
    )  # it gives heads other items one by one, and seldom misses what only two at once can reach


@pytest.mark.parametrize("shape", [{"heads": 3}, {"heads": 2, "decoder": "mlp"}, {"classes": 4}])
def test_nothing_that_is_found_exceeds_the_bound(reading_of, shape):
    reading = reading_of(texts=10, items=[1, 2, 5], **shape)
    found = search(reading, EPSILON, seed=0)
    bound = farthest_of_all(reading.weights, reading.mask)
    assert (found.value <= bound + 1e-6).all()
    published = published_search(reading, EPSILON, seed=0)
    assert (found.value >= published.value).all()


def test_a_model_that_ignores_its_attention_is_solved_by_the_first_corner(reading_of):
    reading = reading_of(heads=3, sharpen=0.0)
    found = search(reading, EPSILON, seed=0)
    torch.testing.assert_close(found.value, farthest_of_all(reading.weights, reading.mask))
    assert (found.weights.amax(-1) == 1).all()


def test_corners_depend_neither_on_companions_nor_on_padding(reading_of):
    together = reading_of(texts=9, items=[1, 3, 6], heads=3)
    value, _ = farthest_corner(together, EPSILON)
    for row in range(9):
        alone = read_batch(together.model, together.batch.take(torch.tensor([row])))
        assert farthest_corner(alone, EPSILON)[0][0] == pytest.approx(float(value[row]), abs=1e-6)
