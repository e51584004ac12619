"""Every audit against a slow one of its own: item by item, shuffle by shuffle, prefix by prefix, set by set."""

from __future__ import annotations

from copy import deepcopy
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

from heedful.audits.audit import AUDITS
from heedful.audits.questions.counterfactual import DIFFERENT
from heedful.audits.questions.heatmap_search import published_search, search
from heedful.audits.questions.single_erasure import RANKINGS
from heedful.audits.subject.reading import read_batch
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.explainers.explainer import EXPLAINERS
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import LN_2
from heedful.models.model import probabilities


class Slow:
    """One text by the model's own stages, in double precision, and nothing of the audits."""

    def __init__(self, case, row):
        self.model = deepcopy(case.classifier.model).double()
        self.batch = case.classifier.instances(case.split).batch(np.array([row]))
        with torch.no_grad():
            self.states = self.model.encode(self.model.embed(self.batch), self.batch)
            self.weights = self.model.attend(self.states)[0]
        self.items = int(self.states.mask.sum())

    def scores(self, name):
        scores = EXPLAINERS.get(name)(self.model, self.batch, seed=0)[0, : self.items].numpy()
        return np.round(scores / np.abs(scores).max(), 9)  # the same word twice is a tie

    def probabilities(self, weights):
        with torch.no_grad():
            return probabilities(self.model.decode(self.states, weights[None].double()))[0].numpy()

    def without(self, erased):
        left = self.weights.clone()
        left[:, list(erased)] = 0
        total = left.sum(-1, keepdim=True)
        return self.probabilities(torch.where(total > 0, left / total, 0.0))

    def flips(self, erased):
        return self.without(erased).argmax() != self.without(()).argmax()


def js(p, q):
    return jensenshannon(p, q) ** 2


def frame(case, columns):
    """Rows as an audit's summary gets them."""
    predicted = [f"class {k}" for k in case.reading.probabilities.argmax(-1).tolist()]
    values = {name: v.tolist() if isinstance(v, torch.Tensor) else v for name, v in columns.items()}
    return pl.DataFrame({"predicted": predicted, **values})


def test_agreement_is_kendalls_tau_of_every_text(case):
    found = case.ask("agreement")
    pairs = {
        "tau_g": ("attention", "gradient"),
        "tau_loo": ("attention", "leave_one_out"),
        "tau_g_loo": ("gradient", "leave_one_out"),
    }
    for row in case.texts():
        slow = Slow(case, row)
        for name, (x, y) in pairs.items():
            a, b = slow.scores(x), slow.scores(y)
            tau, p_value = kendalltau(a, b)
            assert found[name][row].item() == pytest.approx(tau, abs=1e-6, nan_ok=True)
            if not np.isnan(tau):
                assert found[f"{name}_significant"][row].item() == float(p_value <= 0.05)
            top = [set(np.argsort(-scores, kind="stable")[:3].tolist()) for scores in (a, b)]
            share = len(top[0] & top[1]) / min(3, slow.items)
            assert found[f"{name}_top"][row].item() == pytest.approx(share)


def test_agreement_of_pairs_on_request(make_case):
    case = make_case("binary")
    found = case.ask("agreement", pairs="random:weight_gradient,attention:attention")
    assert list(found)[::3] == ["tau_random_weight_gradient", "tau_attention_attention"]
    assert found["tau_attention_attention"].tolist() == pytest.approx([1.0] * len(case.split))
    assert found["tau_random_weight_gradient"].mean().abs() < 0.7


def test_constant_scores_are_left_out_and_counted(make_case):
    case = make_case("average")
    torch.nn.init.zeros_(case.classifier.model.attention.similarity.vector)
    audit = case.audit("agreement")
    rows = make_case_again(case, audit)
    summary = audit.summarise(rows)
    assert summary.number("tau_g").missing == len(case.split)
    assert summary.number("tau_g").estimate is None
    assert summary.number("tau_g_loo").count > 0
    assert f"{len(case.split)} texts have constant scores" in summary.notes[0]


def make_case_again(case, audit):
    """Read once more, after the model has changed."""
    from heedful.audits.subject.reading import read_batch

    reading = read_batch(case.classifier.model, case.reading.batch)
    return frame(case._replace(reading=reading), audit.rows(reading))


def test_shuffles_have_their_median(case):
    """Against all permutations, or many of our own, of each text's weights."""
    found = case.ask("permutation", permutations=301)
    rng = np.random.default_rng(0)
    for row in case.texts():
        slow = Slow(case, row)
        before = slow.without(())
        orders = [rng.permutation(slow.items) for _ in range(301)]
        moved = [np.abs(slow.probabilities(slow.weights[:, order]) - before).sum() / 2 for order in orders]
        low, high = np.quantile(moved, [0.36, 0.64])  # seven deviations of a median of 301
        assert low - 1e-6 <= found["permutation_change"][row].item() <= high + 1e-6
    assert found["largest_weight"].tolist() == pytest.approx(case.reading.weights.mean(1).amax(1).tolist())


def test_shuffling_uniform_weights_changes_nothing(make_case):
    case = make_case("heads", sharpen=4.0)
    torch.nn.init.zeros_(case.classifier.model.attention.similarity.vector)
    audit = case.audit("permutation")
    summary = audit.summarise(make_case_again(case, audit))
    assert summary.number("permutation_change").estimate == pytest.approx(0, abs=1e-6)
    assert summary.number("indifferent").estimate == 1.0


@pytest.mark.parametrize("name", ["binary", "average", "sparse", "hierarchical"])
def test_the_exact_counterfactual_is_the_measures(make_case, name):
    case = make_case(name, sharpen=4.0)
    found = case.ask("counterfactual", epsilon=0.03)
    assert found["exact"] == [True] * len(case.split)
    reading = case.reading
    exact = eps_max_jsd(reading.weights[:, 0], reading.item_logits[..., 0], reading.mask, epsilon=0.03)
    torch.testing.assert_close(found["eps_max_jsd"], exact.value)
    assert found["replaceable"].tolist() == (exact.value >= DIFFERENT).double().tolist()


@pytest.mark.parametrize("method", ["exact", "search"])
def test_counterfactual_heatmaps_are_what_they_claim(case, method):
    """Distributions that move the prediction by ε at most, as far from the model's own as claimed."""
    found = case.ask("counterfactual", method=method)
    for row in case.texts():
        slow = Slow(case, row)
        kept = np.array(found["counterfactual_weights"][row])
        own = np.array(found["weights"][row])
        assert len(kept) == len(own) == slow.items
        assert kept.sum() == pytest.approx(1, abs=1e-5)
        assert (kept >= 0).all()
        assert 0 <= found["eps_max_jsd"][row] <= LN_2 + 1e-9
        if len(slow.weights) == 1:  # of several heads, the mean is kept
            moved = np.abs(slow.probabilities(torch.from_numpy(kept)[None]) - slow.without(())).sum() / 2
            assert moved <= 0.01 + 1e-6
            assert found["eps_max_jsd"][row].item() == pytest.approx(js(own, kept), abs=1e-5)


@pytest.mark.parametrize("find", [search, published_search])
@pytest.mark.parametrize("name", ["heads", "heads-many"])
def test_searches_over_heads_keep_the_prediction(make_case, find, name):
    case = make_case(name, sharpen=4.0)
    value, weights = find(case.reading, 0.01, seed=0)
    for row in case.texts():
        slow, found = Slow(case, row), weights[row, :, : case.items(row)]
        moved = np.abs(slow.probabilities(found) - slow.without(())).sum() / 2
        assert moved <= 0.01 + 1e-6
        distances = [
            js(own, new) for own, new in zip(slow.weights.numpy(), found.detach().numpy(), strict=True)
        ]
        assert value[row].item() == pytest.approx(np.mean(distances), abs=1e-5)


@pytest.mark.parametrize("name", ["binary", "average", "hierarchical"])
def test_searches_are_lower_bounds_and_ours_is_nearer(make_case, name):
    exact, ours, published = [], [], []
    for seed in range(3):
        case = make_case(name, sharpen=6.0, seed=seed)
        exact += case.ask("counterfactual", epsilon=0.01)["eps_max_jsd"].tolist()
        ours += search(case.reading, 0.01, seed=0).value.tolist()
        published += published_search(case.reading, 0.01, seed=0).value.tolist()
    assert (np.array(ours) <= np.array(exact) + 1e-6).all()
    assert (np.array(published) <= np.array(exact) + 1e-6).all()
    assert np.mean(ours) >= np.mean(published)
    assert np.mean(ours) >= 0.95 * np.mean(exact)


def test_lower_bounds_are_called_so(make_case):
    for name, method, note in (
        ("binary", "exact", ""),
        ("many", "exact", "lower bounds"),
        ("binary", "search", "published"),
    ):
        case = make_case(name)
        audit = case.audit("counterfactual", method=method)
        summary = audit.summarise(frame(case, audit.rows(case.reading)))
        assert note in " ".join(summary.notes)
        assert ("at least" in summary.finding) == bool(note)
        assert summary.number("eps_max_jsd", "class class 0").count <= len(case.split)


@pytest.mark.parametrize(("task", "epsilon"), [("classification", 0.01), ("pair", 0.01), ("qa", 0.05)])
def test_epsilon_is_the_papers(make_case, task, epsilon):
    case = make_case("pair")
    case.classifier.task = task
    assert case.audit("counterfactual").epsilon == epsilon
    assert case.audit("counterfactual", epsilon=0.2).epsilon == 0.2


def test_single_erasure_by_hand(case):
    """The other item is not named in the rows, so its numbers must be those of one that is not the top."""
    found = case.ask("single_erasure")
    for row in case.texts():
        slow = Slow(case, row)
        before, weights = slow.without(()), slow.weights.mean(0).numpy()
        for name, explainer in RANKINGS.items():
            top = int(slow.scores(explainer).argmax())
            assert found[f"{name}_flips"][row].item() == float(slow.flips((top,)))
            moved = js(slow.without((top,)), before)
            others = [
                (
                    moved - js(slow.without((k,)), before),
                    weights[top] - weights[k],
                    float(slow.flips((k,))),
                )
                for k in range(slow.items)
                if k != top
            ]
            measured = [
                found[f"{name}_{column}"][row].item()
                for column in ("delta_js", "delta_weight", "other_flips")
            ]
            assert any(measured == pytest.approx(other, abs=1e-6) for other in others)


def test_the_random_other_item_is_never_the_top_one(make_case):
    """The published code draws a rank and uses it as a position. With two items only one choice is right."""
    case = make_case("binary", sharpen=4.0)
    row = 5  # "dull film"
    assert case.items(row) == 2
    slow = Slow(case, row)
    apart = (slow.weights[0].max() - slow.weights[0].min()).item()
    assert apart > 1e-4
    for seed in range(20):
        found = case.ask("single_erasure", seed=seed)["attention_delta_weight"]
        assert found[row].item() == pytest.approx(apart, abs=1e-6)
        assert (found >= 0).all()


def test_every_other_item_may_be_drawn(make_case):
    case = make_case("binary")
    drawn = {
        round(case.ask("single_erasure", seed=s)["attention_delta_weight"][0].item(), 9) for s in range(60)
    }
    assert len(drawn) == case.items(0) - 1


def test_single_erasure_shares_add_up(make_case):
    case = make_case("many", sharpen=8.0)
    audit = case.audit("single_erasure")
    rows = frame(case, audit.rows(case.reading))
    summary = audit.summarise(rows)
    for name in RANKINGS:
        cells = [
            summary.number(f"{name}_{cell}").estimate
            for cell in ("both", "top_only", "other_only", "neither")
        ]
        assert sum(cells) == pytest.approx(1)
        assert cells[0] + cells[1] == pytest.approx(summary.number(f"{name}_flips").estimate)
        negative = np.mean(rows[f"{name}_delta_js"].to_numpy() < -1e-8)
        assert summary.number(f"{name}_negative").estimate == pytest.approx(negative)


def first_flip(slow, order):
    """Count items, and their share of attention, until the decision changes; None if it never does."""
    for k in range(1, slow.items + 1):
        if slow.flips(order[:k]):
            return k / slow.items, slow.weights.mean(0)[order[:k].tolist()].sum().item()
    return None


def test_first_flips_are_those_of_a_loop_over_prefixes(case):
    found = case.ask("flip_set")
    flipped = 0
    for row in case.texts():
        slow = Slow(case, row)
        for name, explainer in RANKINGS.items():
            expected = first_flip(slow, np.argsort(-slow.scores(explainer), kind="stable"))
            ours = [found[f"{name}_{field}"][row].item() for field in ("fraction", "mass")]
            if expected is None:
                assert np.isnan(ours).all()
            else:
                flipped += 1
                assert ours == pytest.approx(expected, abs=1e-5)
    assert flipped > 0


def test_the_minimum_is_that_of_all_subsets(case):
    found = case.ask("flip_set")
    if not case.reading.linear:
        assert found["minimum_fraction"].isnan().all()
        assert "members" not in found
        return
    for row in case.texts():
        slow = Slow(case, row)
        if slow.items > 9:
            continue
        sizes = [
            k for k in range(1, slow.items + 1) for s in combinations(range(slow.items), k) if slow.flips(s)
        ]
        size = found["minimum_fraction"][row].item() * slow.items
        assert size == pytest.approx(min(sizes, default=np.nan), nan_ok=True)
        if sizes:
            members = found["members"][row]
            assert len(members) == min(sizes)
            assert slow.flips(members)
            mass = slow.weights[0][members].sum().item()
            assert found["minimum_mass"][row].item() == pytest.approx(mass, abs=1e-6)


def test_special_tokens_are_not_counted_among_the_members_of_a_flip_set(pieces):
    """They carry no weight, and the report, which marks the members, does not show them."""
    batch = pieces.batch(["a fine film made dull"])
    with torch.no_grad():
        pieces.model.decoder.output.bias += 1e-4 - pieces.model(batch).logits[0]
    reading = read_batch(pieces.model, batch)
    speaks = (reading.weights[0, 0] * reading.item_logits[0, :, 0]).masked_fill(~reading.mask[0], -torch.inf)
    found = AUDITS.get("flip_set")(complete(AuditOptions)(), task=pieces.task).rows(reading)
    assert not reading.mask[0, 0]  # [CLS]
    assert found["members"] == [[int(speaks.argmax()) - 1]]


@pytest.mark.parametrize("scale", [4.0, 1e-3])
def test_candidates_leave_close_decisions_close(make_case, scale):
    """Classes that are no candidates have a logit of −10⁹, which must not make ties of what is near."""
    case = make_case("candidates", sharpen=scale)
    found = case.ask("flip_set")
    for row in case.texts():
        slow = Slow(case, row)
        if slow.items <= 9:
            sets = (s for k in range(1, slow.items + 1) for s in combinations(range(slow.items), k))
            smallest = next((len(s) for s in sets if slow.flips(s)), np.nan)
            assert found["minimum_fraction"][row].item() * slow.items == pytest.approx(smallest, nan_ok=True)


@pytest.mark.parametrize("name", ["binary", "average", "sparse", "hierarchical"])
def test_the_product_ranking_is_optimal_for_binary_linear_decoders(make_case, name):
    """α · ∂ŷ/∂α is, up to a factor, each item's part of the logit less the bias; without bias there is no regret."""
    case = make_case(name, sharpen=4.0)
    output, mean = case.classifier.model.decoder.output, case.reading.states.h[case.reading.mask].mean(0)
    with torch.no_grad():
        output.bias.zero_()
        output.weight -= (output.weight @ mean)[:, None] * mean / mean.dot(mean)  # items of either sign
    audit = case.audit("flip_set")
    rows = make_case_again(case, audit)
    assert rows["product_fraction"].is_not_nan().sum() > 0
    assert rows["product_fraction"].to_list() == pytest.approx(
        rows["minimum_fraction"].to_list(), nan_ok=True
    )
    assert audit.summarise(rows).number("product_regret").estimate == pytest.approx(0)


def test_no_ranking_beats_the_minimum(make_case):
    for name in ("binary", "many", "pair", "candidates", "hierarchical-many"):
        found = make_case(name, sharpen=4.0).ask("flip_set")
        least = found["minimum_fraction"]
        for ranking in (*RANKINGS, "random"):
            fraction = found[f"{ranking}_fraction"]
            assert (fraction[~fraction.isnan()] >= least[~fraction.isnan()] - 1e-9).all()


def test_texts_that_never_flip_are_left_out_and_counted(make_case):
    case = make_case("binary", sharpen=4.0)
    with torch.no_grad():
        case.classifier.model.decoder.output.bias.fill_(50.0)
    audit = case.audit("flip_set")
    rows = make_case_again(case, audit)
    summary = audit.summarise(rows)
    assert summary.number("attention_fraction").count == 0
    assert f"{len(case.split)} of {len(case.split)} texts are left out" in summary.notes[0]

    audit = make_case("binary", sharpen=4.0).audit("flip_set")
    one = pl.DataFrame(
        {
            f"{name}_{field}": [0.5, value]
            for name in (*RANKINGS, "random", "minimum")
            for field in ("fraction", "mass")
            for value in [float("nan") if name == "gradient" else 0.25]
        }
    )
    summary = audit.summarise(one.with_columns(predicted=pl.Series(["a", "b"])))
    assert "1 of 2 texts are left out" in summary.notes[0]
    assert summary.number("attention_fraction").estimate == 0.5
    assert summary.number("attention_regret").estimate == 0.0
    assert summary.number("attention_is_minimal").estimate == 1.0


def test_random_rankings_are_averaged(make_case):
    case = make_case("binary", sharpen=4.0)
    slow = Slow(case, 3)
    assert slow.items == 3
    orders = {
        first_flip(slow, np.array(order))
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    }
    fractions = {
        round(case.ask("flip_set", random_rankings=1, seed=s)["random_fraction"][3].item(), 6)
        for s in range(40)
    }
    assert {round(o[0], 6) for o in orders if o} == {f for f in fractions if not np.isnan(f)}


def test_sharpness_by_hand(make_case):
    case = make_case("heads")
    found = case.ask("sharpness")
    for row in case.texts():
        weights = Slow(case, row).weights.numpy()
        uniform = np.full(weights.shape[1], 1 / weights.shape[1])
        assert found["sharpness"][row].item() == pytest.approx(
            np.mean([js(w, uniform) for w in weights]), abs=1e-6
        )
        assert found["largest_weight"][row].item() == pytest.approx(weights.mean(0).max(), abs=1e-6)
        assert found["flat"][row].item() == float(found["sharpness"][row] < 0.02)


def test_sharpness_of_other_scores_is_that_of_their_sizes(make_case):
    case = make_case("heads")
    audit = AUDITS.get("sharpness")(complete(AuditOptions)(), source="gradient", task=case.classifier.task)
    found = audit.rows(case.reading)
    for row in case.texts():
        sizes = case.reading.scores("gradient")[row, : case.items(row)].abs().numpy()
        shares = sizes / sizes.sum()
        uniform = np.full(len(shares), 1 / len(shares))
        assert found["sharpness"][row].item() == pytest.approx(js(shares, uniform), abs=1e-6)
        assert found["largest_weight"][row].item() == pytest.approx(shares.max(), abs=1e-6)
