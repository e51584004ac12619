"""Noise in the embeddings: worked by hand and by brute force, whatever the batch; flat heatmaps do not look good."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import f1_score

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.questions import embedding_stability
from heedful.audits.questions.embedding_stability import normal_by_token, one_word
from heedful.audits.questions.movement import Snapshot, by_word, compare_snapshots, snapshot
from heedful.audits.subject.reading import read_batch
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.explainers.explain import explain
from heedful.explainers.explainer import EXPLAINERS
from heedful.measures.divergence import NOWHERE
from heedful.measures.resampling import f1_of, resample, spread
from heedful.models.model import probabilities
from heedful.output.numbers import value

NAME = "embedding_stability"
MEASURES = ("jsd", "relative_jsd", "top_k_overlap", "top_moved", "tvd", "flipped")


def ask(reading, *, source="attention", **options):
    return dict(AUDITS.get(NAME)(complete(AuditOptions)(**options), source=source).rows(reading))


def to_uniform(weights):
    return jensenshannon(weights, np.full(len(weights), 1 / len(weights))) ** 2


def run(classifier, texts, **options):
    return heedful.audit(classifier, texts, progress=False, only=[NAME], **options)


def one_by_one(case, row, *, size, draw, scope):
    """Read one text alone with noise on it, by the stages of the model: its weights and predicted."""
    model, batch = case.reading.model, case.reading.batch.take(torch.tensor([row]))
    with torch.no_grad():
        embedded = model.embed(batch)
        noise = normal_by_token(batch.rows, batch.tokens, embedded.shape[-1], seed=0, draw=2 * draw)
        place = one_word(batch.rows, batch.tokens, seed=0, draw=2 * draw + 1)
        mask = batch.tokens.mask if scope == "all" else place
        states = model.encode(embedded + size * noise * mask[..., None], batch)
        weights = model.attend(states)
        predicted = probabilities(model.decode(states, weights).double())[0]
    return weights[0, :, states.mask[0]].double().numpy(), predicted


def test_every_number_by_brute_force(case):
    found = ask(case.reading, noise=(0.1, 0.5), draws=2, top_k=2)
    for scope in ("one", "all"):
        for row in case.texts():
            before = case.reading.weights[row, :, case.reading.mask[row]].double().numpy()
            jsds, shares, moved = [], [], []
            for draw in range(2):
                after, predicted = one_by_one(case, row, size=0.5, draw=draw, scope=scope)
                jsds.append(np.mean([jensenshannon(p, q) ** 2 for p, q in zip(before, after, strict=True)]))
                apart = np.mean([to_uniform(p) + to_uniform(q) for p, q in zip(before, after, strict=True)])
                shares.append(jsds[-1] / apart if apart >= NOWHERE else np.nan)
                moved.append((predicted - case.reading.probabilities[row]).abs().sum().item() / 2)
            assert found[f"jsd_{scope}_0.5"][row] == pytest.approx(np.mean(jsds), rel=1e-3, abs=1e-7)
            assert found[f"relative_jsd_{scope}_0.5"][row] == pytest.approx(
                np.nanmean(shares), rel=1e-3, abs=1e-6
            )
            assert found[f"tvd_{scope}_0.5"][row] == pytest.approx(np.mean(moved), abs=1e-5)


def test_by_hand():
    before = Snapshot(
        torch.tensor([[[0.5, 0.25, 0.25]]]).double(), torch.ones(1, 3).bool(), torch.tensor([[0.6, 0.4]])
    )
    after = Snapshot(
        torch.tensor([[[0.25, 0.5, 0.25]]]).double(), torch.ones(1, 3).bool(), torch.tensor([[0.3, 0.7]])
    )
    jsd = 0.5 * math.log(4 / 3) + 0.25 * math.log(2 / 3)  # each half of two terms that are mirror images
    sharp = to_uniform(np.array([0.5, 0.25, 0.25]))
    found = compare_snapshots(before, after, k=2)
    assert found.jsd.item() == pytest.approx(jsd)
    assert found.relative_jsd.item() == pytest.approx(jsd / (2 * sharp))
    assert found.top_k_overlap.item() == 1
    assert (found.top_moved.item(), found.flipped.item()) == (1, 1)
    assert found.tvd.item() == pytest.approx(0.3)


def test_the_headline_is_all_words_at_the_usual_noise(make_case):
    case = make_case("binary")
    for noise, usual in (((0.001, 0.01), "0.01"), ((0.5, 0.002), "0.002"), ((0.3,), "0.3")):
        found = ask(case.reading, noise=noise, draws=1)
        for name in MEASURES:
            torch.testing.assert_close(
                found[name], found[f"{name}_all_{usual}"], rtol=0, atol=0, equal_nan=True
            )


def test_the_same_directions_grow(make_case):
    """JSD is quadratic in small noise and TVD linear, text by text, because the directions are the same."""
    case = make_case("average")
    case.reading.model.double()
    found = ask(read_batch(case.reading.model, case.reading.batch), noise=(1e-4, 1e-3), draws=1)
    for scope in ("one", "all"):
        small, large = (found[f"jsd_{scope}_{size}"] for size in ("0.0001", "0.001"))
        torch.testing.assert_close(large, 100 * small, rtol=0.05, atol=1e-16)
        small, large = (found[f"tvd_{scope}_{size}"] for size in ("0.0001", "0.001"))
        torch.testing.assert_close(large, 10 * small, rtol=0.02, atol=1e-12)


def test_no_noise_no_change(case):
    with torch.no_grad():
        shift = torch.zeros_like(case.reading.model.embed(case.reading.batch))
    batch = replace(case.reading.batch, tokens=case.reading.batch.tokens.shifted(shift))
    before, after = (snapshot(r, "attention") for r in (case.reading, read_batch(case.reading.model, batch)))
    found = compare_snapshots(before, after, k=3)
    for values in (found.jsd, found.tvd, found.flipped, found.top_moved, 1 - found.top_k_overlap):
        assert values.abs().max() == 0


def test_flat_heatmaps_do_not_look_steady(model, many_texts):
    classifier = model(encoder="bilstm")
    classifier.model.attention.similarity.vector.data.zero_()
    found = run(classifier, many_texts, draws=1)
    rows, summary = found.to_frame(NAME), found.summaries[NAME]
    assert rows["jsd"].max() < 1e-12
    assert rows["relative_jsd"].is_nan().all()
    assert rows["sharpness"].max() < 1e-6
    number = summary.number("relative_jsd")
    assert (number.estimate, number.count, number.missing) == (None, 0, len(rows))
    assert f"{len(rows)} texts have a heatmap that is the same everywhere" in " ".join(summary.notes)
    assert "flat, so that it can hardly move" in summary.finding


@pytest.mark.parametrize("shape", [{"encoder": "bilstm"}, {"encoder": "average"}, {"heads": 2}], ids=str)
def test_neither_batch_nor_companions_matter(model, many_texts, shape):
    classifier = model(**shape)
    whole = run(classifier, many_texts, draws=2, noise=(0.001, 0.05)).to_frame(NAME)
    columns = [name for name, kind in whole.schema.items() if kind.is_float()]
    for options in ({"batch_size": 1}, {"batch_size": 2}, {"batch_size": 7}, {"limit": 9}):
        other = run(classifier, many_texts, draws=2, noise=(0.001, 0.05), **options).to_frame(NAME)
        same = whole.filter(pl.col("row").is_in(other["row"].implode()))
        for name in columns:  # a ratio of two tiny numbers keeps four digits in single precision
            wanted = pytest.approx(
                same[name].to_list(), abs=1e-6, rel=1e-4 if "relative" in name else 0, nan_ok=True
            )
            assert other[name].to_list() == wanted, name


def test_order_does_not_matter(case):
    order = torch.randperm(len(case.reading.rows), generator=torch.Generator().manual_seed(0))
    one = ask(case.reading, noise=(0.2,), draws=1)
    other = ask(read_batch(case.reading.model, case.reading.batch.take(order)), noise=(0.2,), draws=1)
    for name in MEASURES:
        torch.testing.assert_close(other[name], one[name][order], atol=1e-6, rtol=1e-4, equal_nan=True)


def test_seeds_and_draws_are_others(make_case):
    reading = make_case("binary").reading
    one, same, other = (ask(reading, draws=1, seed=seed)["jsd"] for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert not torch.equal(ask(reading, draws=2, seed=1)["jsd"], one)


def shifts_of(reading, **options):
    """Give the noise of every condition and draw."""
    seen = {}
    audit = AUDITS.get(NAME)(complete(AuditOptions)(**options))
    for draw in range(audit.config.draws):
        noise, sizes = audit._noise(reading, draw)
        for condition, size in sizes.items():
            seen[condition, draw] = noise * size[..., None]
    return seen


def test_special_tokens_and_padding_carry_no_noise_and_all_pieces_of_a_word_do(make_case):
    reading = make_case("binary").reading
    tokens = reading.batch.tokens
    mask, word_of = tokens.mask.clone(), (tokens.word_of.clamp(min=-2) // 2).clone()  # words of two pieces
    mask[:, 0], word_of[:, 0] = False, -1
    word_of[~mask] = -1
    tokens = replace(tokens, mask=mask, word_of=word_of)
    reading = replace(reading, batch=replace(reading.batch, tokens=tokens))
    seen = shifts_of(reading, noise=(0.1, 0.2), draws=3)
    chosen = set()
    for (condition, draw), shift in seen.items():
        noisy = (shift != 0).any(-1)
        assert not (noisy & ~mask).any()
        if condition.startswith("all"):
            assert torch.equal(noisy, mask)
            continue
        for row in range(len(mask)):
            (word,) = set(word_of[row, noisy[row]].tolist())
            assert torch.equal(noisy[row], (word_of[row] == word) & mask[row])
            chosen.add((row, draw, word))
            assert torch.equal(
                shift[row, noisy[row]], seen[condition.replace("one", "all"), draw][row, noisy[row]]
            )
    assert len({(row, word) for row, _, word in chosen}) > len(mask)  # not the same word in every draw
    torch.testing.assert_close(seen["all_0.2", 0], 2 * seen["all_0.1", 0])


def test_noise_is_standard_normal_and_blocks_change_nothing(make_case, monkeypatch):
    batch = make_case("binary").reading.batch
    noise = normal_by_token(batch.rows, batch.tokens, 500, seed=3, draw=0)
    assert noise.isfinite().all()
    assert noise.mean().abs() < 0.02 and (noise.std() - 1).abs() < 0.02
    monkeypatch.setattr(embedding_stability, "_NUMBERS", 1)
    assert torch.equal(normal_by_token(batch.rows, batch.tokens, 500, seed=3, draw=0), noise)


def test_every_word_may_be_the_one(make_case):
    batch = make_case("binary").reading.batch
    marked = sum(one_word(batch.rows, batch.tokens, seed=0, draw=d).long() for d in range(400))
    share = marked / 400 * batch.tokens.mask.sum(1, keepdim=True)
    assert share[batch.tokens.mask].min() > 0.5 and share[batch.tokens.mask].max() < 1.5
    assert share[~batch.tokens.mask].max() == 0


@pytest.mark.parametrize("source", ["gradient", "leave_one_out", "integrated_gradients"])
def test_explainers_are_explained_again(make_case, source):
    case = make_case("binary", sharpen=4.0)
    found = ask(case.reading, source=source, noise=(0.5,), draws=1)
    model, batch = case.reading.model, case.reading.batch
    for row in case.texts():
        alone = batch.take(torch.tensor([row]))
        noise = normal_by_token(alone.rows, alone.tokens, 6, seed=0, draw=0) * alone.tokens.mask[..., None]
        noisy = replace(alone, tokens=alone.tokens.shifted(0.5 * noise))
        one, two = (
            EXPLAINERS.get(source)(model, b, seed=0)[0, alone.tokens.mask[0]].detach().abs()
            for b in (alone, noisy)
        )
        distance = jensenshannon(one / one.sum(), two / two.sum()) ** 2
        assert found["jsd"][row] == pytest.approx(distance, rel=1e-2, abs=1e-5)


def test_scores_that_are_all_zero_have_no_heatmap():
    mask = torch.ones(2, 3).bool()
    predicted = torch.tensor([[0.5, 0.5]]).expand(2, 2)
    nothing = torch.tensor([[[torch.nan] * 3], [[0.2, 0.3, 0.5]]]).double()
    some = torch.tensor([[[0.2, 0.3, 0.5]], [[0.2, 0.3, 0.5]]]).double()
    for pair in ((nothing, some), (some, nothing)):
        found = compare_snapshots(*(Snapshot(w, mask, predicted) for w in pair), k=2)
        for values in (found.jsd, found.relative_jsd, found.top_k_overlap, found.top_moved):
            assert values[0].isnan() and not values[1].isnan()
        assert found.tvd.tolist() == [0, 0]


def test_own_scores_are_refused(model, many_texts):
    classifier = model(encoder="average")
    texts = pl.read_csv(many_texts)["text"].to_list()
    own = [[item.weight for item in p.items] for p in explain(classifier, texts, "gradient")]
    for name in (NAME, "word_stability", "seed_stability"):
        with pytest.raises(BadInput, match=f"{name} cannot be asked here: it changes texts") as refused:
            heedful.audit(classifier, many_texts, scores=own, only=[name], progress=False)
        assert "\n" not in str(refused.value)


weights = st.lists(st.floats(0.001, 1), min_size=2, max_size=6)


@settings(max_examples=50)
@given(weights, st.data())
def test_relative_jsd_is_bounded_symmetric_and_knows_no_padding(first, data):
    second = data.draw(st.lists(st.floats(0.001, 1), min_size=len(first), max_size=len(first)))
    p, q = (torch.tensor([[row]]).double() for row in (first, second))
    p, q = p / p.sum(), q / q.sum()
    mask, predicted = torch.ones(1, len(first)).bool(), torch.tensor([[1.0, 0.0]])
    one, two = Snapshot(p, mask, predicted), Snapshot(q, mask, predicted)
    found = compare_snapshots(one, two, k=2).relative_jsd
    assert found.isnan() or 0 <= found <= 2
    torch.testing.assert_close(found, compare_snapshots(two, one, k=2).relative_jsd, equal_nan=True)
    wide = (
        Snapshot(torch.nn.functional.pad(s.weights, (1, 2)), torch.nn.functional.pad(mask, (1, 2)), predicted)
        for s in (one, two)
    )
    torch.testing.assert_close(compare_snapshots(*wide, k=2).relative_jsd, found, equal_nan=True)


def test_heads_of_other_models_may_stand_in_another_order():
    w = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]]).double()
    seen, swapped = (Snapshot(x, torch.ones(1, 3).bool(), torch.tensor([[1.0, 0.0]])) for x in (w, w.flip(1)))
    assert compare_snapshots(seen, swapped, k=1, matched=True).jsd.item() == 0
    assert compare_snapshots(seen, swapped, k=1).jsd.item() > 0.1


def test_pieces_are_added_up():
    w = torch.tensor([[[0.0, 0.1, 0.2, 0.3, 0.4]]])
    words = torch.tensor([[-1, 0, 1, 1, 2]])
    found = by_word(Snapshot(w, words >= 0, torch.tensor([[1.0, 0.0]])), words, 4)
    torch.testing.assert_close(found.weights[0, 0], torch.tensor([0.1, 0.5, 0.4, 0.0]))
    assert found.mask.tolist() == [[True, True, True, False]]


@pytest.mark.parametrize("classes", [2, 4])
def test_f1_is_the_usual_one(classes):
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(classes, size=50), rng.integers(classes, size=(50, 3))
    average = "binary" if classes == 2 else "macro"
    wanted = np.mean([f1_score(labels, predicted[:, draw], average=average) for draw in range(3)])
    estimate, low, high = spread(resample([[f1_of(labels, predicted, classes=classes)]], seed=0)[0, :, 0])
    assert estimate == pytest.approx(wanted)
    assert 0 <= low < estimate < high <= 1
    assert high - low < 0.5
    assert resample([[f1_of(labels, labels[:, None], classes=classes)]], seed=0)[0, 0, 0] == 1


def test_f1_is_there_where_labels_are(model, many_texts, tmp_path):
    classifier = model(encoder="average")
    found = run(classifier, many_texts, noise="0.001,2", draws=1)
    summary, rows = found.summaries[NAME], found.to_frame(NAME)
    labels = found.to_frame("predictions")["label"].str.tail(1).cast(int).to_numpy()
    for group, column in (("all words, noise 2", "said_all_2"), ("all", "said_all_0.001")):
        predicted = np.array(rows[column].to_list())[:, 0]
        assert summary.number("f1", group).estimate == pytest.approx(f1_score(labels, predicted))
    bare = tmp_path / "bare.csv"
    pl.read_csv(many_texts).select("text").write_csv(bare)
    unlabelled = run(classifier, bare, draws=1)
    assert "f1" not in {number.name for number in unlabelled.summaries[NAME].numbers}


def test_short_texts_are_counted_and_sharpness_stands_beside(model, many_texts):
    found = run(model(encoder="bilstm"), many_texts, draws=1, top_k=3)
    rows, summary = found.to_frame(NAME), found.summaries[NAME]
    short = rows.filter(pl.col("items") <= 3)
    assert short["top_k_overlap"].min() == 1
    assert f"{len(short)} texts have 3 items or fewer" in " ".join(summary.notes)
    sharp = found.to_frame("sharpness")
    for name in ("sharpness", "largest_weight"):
        assert rows[name].to_list() == pytest.approx(sharp[name].to_list())
        assert summary.number(name).estimate == pytest.approx(sharp[name].mean())
    assert value(summary.number("sharpness")) in summary.finding


def test_the_model_stays_as_it_was(model, many_texts):
    classifier = model(encoder="bilstm")
    before = {name: tensor.clone() for name, tensor in classifier.model.state_dict().items()}
    classifier.model.train()
    one = run(classifier, many_texts, source="gradient", draws=1).to_frame(NAME)
    two = run(classifier, many_texts, source="gradient", draws=1).to_frame(NAME)
    assert one.equals(two)  # no dropout
    assert all(torch.equal(tensor, before[name]) for name, tensor in classifier.model.state_dict().items())
    assert all(parameter.grad is None for parameter in classifier.model.parameters())


def test_the_report_shows_it(model, many_texts, tmp_path):
    found = run(model(encoder="bilstm"), many_texts, draws=1)
    text = found.report(tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "The heatmap as noise grows" in text and "all words, noise 0.05" in text
    titles = [
        chart.title for chart in AUDITS.get(NAME)(complete(AuditOptions)()).charts(found.to_frame(NAME))
    ]
    assert titles == ["The heatmap as noise grows", "Steadiness beside sharpness"]


def test_a_quick_look_at_an_explainer_takes_the_usual_noise_alone(model, many_texts):
    found = run(model(encoder="average"), many_texts, quick=True, source="gradient")
    columns = {name for name in found.to_frame(NAME).columns if name.startswith("jsd_")}
    assert columns == {"jsd_one_0.01", "jsd_all_0.01"}
    assert "Quick: noise of 0.01 alone." in found.summaries[NAME].notes
