"""Measures and explainers against straightforward implementations of the published algorithms.

One process, one thread, the sst2 test set, the same instances for both sides of each ratio. The plain side goes
item by item, prefix by prefix, instance by instance, as the papers' code does. Needs HEEDFUL_DATA with sst2;
without it, runs on Mock-2. `python benchmarks/audits.py 200` uses the first 200 texts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from scipy import stats

import heedful
from heedful.config import DataOptions
from heedful.data.batches import inference_batches
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.sources import find_folder
from heedful.data.instances import Instances
from heedful.explainers.explainer import EXPLAINERS
from heedful.measures import eps_max_jsd, erasure_curve, first_flip, jsd, kendall_tau, permutation_change
from heedful.models.classifier import Classifier
from heedful.models.stages import probabilities

EPSILON = 0.01
SLOW = 300  # texts on which the slowest plain algorithm is timed, and ours with it


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def report(name: str, plain: float, ours: float, texts: int, note: str = "") -> None:
    print(
        f"{name:22} {plain:8.2f} s plain {ours:8.3f} s heedful {plain / ours:8.1f} times, {texts} texts  {note}",
        flush=True,
    )


def read(classifier: Classifier, instances: Instances) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weights, the logit of each item alone, and the mask of all instances."""
    batch = instances.batch(np.arange(len(instances)))
    model = classifier.model
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        weights = model.attend(states)[:, 0]
        logits = states.h @ model.decoder.output.weight[0] + model.decoder.output.bias
    return weights.double(), logits.double(), states.mask


def adam_search(weights: torch.Tensor, logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The published search, in batches of 32: five starts, 500 steps of Adam, a penalty beyond ε."""
    best = []
    for w, s, m in zip(weights.split(32), logits.split(32), mask.split(32), strict=True):
        generator = torch.Generator().manual_seed(0)
        start = torch.randn(5, *w.shape, generator=generator, dtype=w.dtype) * 3
        scores = start.masked_fill(~m, -1e9).requires_grad_()
        observed = torch.sigmoid((w * s.masked_fill(~m, 0)).sum(-1))
        optimiser = torch.optim.Adam([scores], lr=0.01, amsgrad=True)
        for _ in range(500):
            optimiser.zero_grad()
            other = torch.softmax(scores, dim=-1)
            moved = (torch.sigmoid((other * s.masked_fill(~m, 0)).sum(-1)) - observed).abs()
            loss = -jsd(other, w.expand_as(other)) + 500 * torch.relu(moved - EPSILON)
            loss.mean().backward()
            optimiser.step()
        other = torch.softmax(scores.detach(), dim=-1)
        moved = (torch.sigmoid((other * s.masked_fill(~m, 0)).sum(-1)) - observed).abs()
        found = jsd(other, w.expand_as(other)).masked_fill(moved > EPSILON, 0.0)
        best.append(found.amax(0))
    return torch.cat(best)


def counterfactual(weights: torch.Tensor, logits: torch.Tensor, mask: torch.Tensor) -> None:
    plain, searched = seconds(lambda: adam_search(weights, logits, mask))
    ours, exact = seconds(lambda: eps_max_jsd(weights, logits, mask, EPSILON))
    note = f"mean ε-max JSD {searched.mean():.3f} searched, {exact.value.mean():.3f} exact"
    report("counterfactual", plain, ours, len(weights), note)


def permutation(classifier: Classifier, instances: Instances, readings: tuple[torch.Tensor, ...]) -> None:
    """Shuffle each text's weights in turn and decode the batch again, a hundred times."""
    model, random = classifier.model, np.random.default_rng(0)

    def shuffle_by_shuffle() -> list[float]:
        medians = []
        with torch.no_grad():
            for first in range(0, len(instances), 32):
                batch = instances.batch(np.arange(first, min(first + 32, len(instances))))
                states = model.encode(model.embed(batch), batch)
                weights = model.attend(states)
                before = torch.sigmoid(model.decode(states, weights))[:, 0]
                moved = []
                for _ in range(100):
                    shuffled = weights.clone()
                    for i, real in enumerate(states.mask.sum(1).tolist()):
                        shuffled[i, 0, :real] = weights[i, 0, torch.from_numpy(random.permutation(real))]
                    moved.append((torch.sigmoid(model.decode(states, shuffled))[:, 0] - before).abs())
                medians += torch.stack(moved).median(0).values.tolist()
        return medians

    plain, expected = seconds(shuffle_by_shuffle)
    ours, found = seconds(lambda: permutation_change(*readings))
    note = f"mean of medians {np.mean(expected):.4f} plain, {found.mean():.4f} heedful"
    report("permutation", plain, ours, len(instances), note)


def erasure(classifier: Classifier, instances: Instances, readings: tuple[torch.Tensor, ...]) -> None:
    """Erase the top items one by one and decode again, text by text, until the decision flips."""
    weights, logits, mask = readings
    model = classifier.model

    def prefix_by_prefix() -> list[int]:
        counts = []
        for row in range(len(instances)):
            batch = instances.batch(np.array([row]))
            with torch.no_grad():
                states = model.encode(model.embed(batch), batch)
                w = model.attend(states)
                first = model.decode(states, w)[0, 0] > 0
                order = w[0, 0].argsort(descending=True, stable=True)
                count = 0
                for k in range(1, len(order)):
                    kept = w.clone()
                    kept[0, 0, order[:k]] = 0
                    flipped = (model.decode(states, kept / kept.sum())[0, 0] > 0) != first
                    if flipped and not count:
                        count = k
            counts.append(count)
        return counts

    plain, counts = seconds(prefix_by_prefix)
    ours, flips = seconds(lambda: first_flip(erasure_curve(weights, logits, weights, mask)))
    same = np.mean(np.array(counts) == flips.count.numpy())
    report("erasure curves", plain, ours, len(weights), f"same count for {same:.1%}")


def leave_one_out(classifier: Classifier, instances: Instances) -> None:
    """Delete each position in turn and run the whole padded batch again."""
    model = classifier.model

    def position_by_position() -> dict[tuple[int, int], float]:
        scores = {}
        with torch.no_grad():
            for first in range(0, len(instances), 32):
                rows = np.arange(first, min(first + 32, len(instances)))
                batch = instances.batch(rows)
                before, tokens = probabilities(model(batch).logits), batch.tokens
                lengths = tokens.present.sum(1)
                width = tokens.ids.shape[1]
                for gone in range(width):
                    keep = [place for place in range(width) if place != gone]
                    real = torch.arange(width - 1)[None] < (lengths - (gone < lengths).long())[:, None]
                    shorter = replace(
                        tokens,
                        ids=tokens.ids[:, keep],
                        mask=real,
                        present=real,
                        offsets=tokens.offsets[:, keep],
                        word_of=tokens.word_of[:, keep],
                    )
                    after = probabilities(model(replace(batch, tokens=shorter)).logits)
                    moved = 0.5 * (after - before).abs().sum(-1)
                    scores |= {(r, gone): float(moved[i]) for i, r in enumerate(rows) if gone < lengths[i]}
        return scores

    plain, expected = seconds(position_by_position)
    ours, found = seconds(lambda: explain_all(classifier, instances, "leave_one_out"))
    worst = max(abs(found[row][place] - score) for (row, place), score in expected.items())
    report("leave-one-out", plain, ours, len(instances), f"largest difference {worst:.0e}")


def explain_all(classifier: Classifier, instances: Instances, name: str) -> dict[int, list[float]]:
    scores = {}
    for rows in inference_batches(instances.lengths, 64):
        found = EXPLAINERS.get(name)(classifier.model, instances.batch(rows), seed=0)
        scores |= dict(zip(rows.tolist(), found.tolist(), strict=True))
    return scores


def kendall(classifier: Classifier, instances: Instances, weights: torch.Tensor, mask: torch.Tensor) -> None:
    scores = explain_all(classifier, instances, "gradient")
    padded = torch.zeros_like(weights)
    for row, values in scores.items():
        padded[row, : len(values)] = torch.tensor(values)
    rows = [(weights[i, mask[i]].numpy(), padded[i, mask[i]].numpy()) for i in range(len(weights))]
    plain, expected = seconds(lambda: [stats.kendalltau(x, y).statistic for x, y in rows])
    ours, found = seconds(lambda: kendall_tau(weights, padded, mask).tau)
    worst = np.nanmax(np.abs(found.numpy() - np.array(expected)))
    report("Kendall's tau", plain, ours, len(weights), f"largest difference {worst:.0e}")


def integrated_gradients(classifier: Classifier, instances: Instances) -> None:
    """captum's own call on the embeddings, one text at a time, with its default of 50 steps."""
    from captum.attr import IntegratedGradients

    model = classifier.model

    def of_text(row: int) -> torch.Tensor:
        batch = instances.batch(np.array([row]))
        embedded = model.embed(batch).detach()
        decided = probabilities(model(batch).logits.detach()).argmax(-1)

        def probability_at(points: torch.Tensor) -> torch.Tensor:
            states = model.encode(points, batch.take(torch.zeros(len(points), dtype=torch.long)))
            return probabilities(model.decode(states, model.attend(states)))[:, decided[0]]

        return IntegratedGradients(probability_at).attribute(embedded, n_steps=50).sum(-1)[0]

    plain, expected = seconds(lambda: [of_text(row) for row in range(len(instances))])
    ours, found = seconds(lambda: explain_all(classifier, instances, "integrated_gradients"))
    worst = max(float((torch.tensor(found[i][: len(e)]) - e).abs().max()) for i, e in enumerate(expected))
    report("integrated gradients", plain, ours, len(instances), f"largest difference {worst:.0e}")


def jain_and_wallace(classifier: Classifier, instances: Instances) -> None:
    """Agreement, permutation and counterfactual attention, from the texts to the measurements."""

    def four_tests() -> None:
        weights, logits, mask = read(classifier, instances)
        scores = {"attention": weights}
        for name in ("gradient", "leave_one_out"):
            padded = scores[name] = torch.zeros_like(weights)
            for row, values in explain_all(classifier, instances, name).items():
                padded[row, : len(values)] = torch.tensor(values)
        for first, second in combinations(scores.values(), 2):
            kendall_tau(first, second, mask)
        permutation_change(weights, logits, mask)
        eps_max_jsd(weights, logits, mask, EPSILON)

    spent, _ = seconds(four_tests)
    print(
        f"four Jain & Wallace tests together: {spent:.1f} CPU s (published code: 76–98 on its machine)",
        flush=True,
    )


def main() -> None:
    torch.set_num_threads(1)
    dataset = "sst2" if find_folder("sst2") else "mock_2"
    with tempfile.TemporaryDirectory() as folder:
        classifier = heedful.train(dataset, epochs=2, runs=folder, progress=False)
    test = load_corpus(DataOptions(dataset=dataset)).splits["test"]
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else len(test)
    instances = classifier.instances(test.take(np.arange(min(texts, len(test)))))
    readings = read(classifier, instances)
    print(f"{dataset} test, BiLSTM 128 per direction")
    counterfactual(*readings)
    permutation(classifier, instances, readings)
    erasure(classifier, instances, readings)
    kendall(classifier, instances, readings[0], readings[2])
    few = classifier.instances(test.take(np.arange(min(SLOW, len(instances)))))
    leave_one_out(classifier, instances)
    integrated_gradients(classifier, few)
    jain_and_wallace(classifier, instances)


if __name__ == "__main__":
    main()
