"""The fewest substitutions by a sort against a plain greedy search and against brute force, on the same texts and substitutes.

One process, one thread, texts of sst2's test set (a Mock corpus without HEEDFUL_DATA), a model without encoder, eight substitutes
for each word drawn among the words it knows. The greedy search reads all texts with one more word replaced in one batch, keeps
the one of lowest probability, and goes on until the decision changes or nothing helps. Brute force reads every combination, on
short texts and with two substitutes for each word. `python benchmarks/robustness.py 200` uses 200 texts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch

import heedful
from heedful.data.corpora.sources import find_folder
from heedful.data.instances import Batch
from heedful.models.shorter import read, robustness
from heedful.models.stages import probabilities
from heedful.training.prepare import prepare
from heedful.training.train import load_corpus, resolve

TEXTS, SUBSTITUTES, SHORT = 300, 8, 7


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> None:
    torch.set_num_threads(1)
    dataset = "sst2" if find_folder("sst2") else "mock_2"
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else TEXTS
    options = {"encoder": "none", "epochs": 2}
    with tempfile.TemporaryDirectory() as folder:
        classifier = heedful.train(dataset, runs=folder, progress=False, **options)
        config = resolve({"dataset": dataset, **options})
        test = prepare(config, load_corpus(config)).splits["test"]
    model = classifier.model.exact()
    batch = test.batch(np.arange(min(texts, len(test))))
    random = np.random.default_rng(0)
    words = batch.tokens.mask.sum(1).tolist()
    drawn = [random.integers(2, len(classifier.vocabulary), (count, SUBSTITUTES)) for count in words]
    substitutes = [[[[int(number)] for number in row] for row in rows] for rows in drawn]

    robustness(model, batch, substitutes)  # warms up
    sort, exact = seconds(lambda: robustness(model, batch, substitutes))
    loop, found = seconds(lambda: [greedy(model, batch, row, drawn[row]) for row in range(len(batch))])
    greedily = torch.tensor(found, dtype=torch.float64)
    assert (exact.smallest <= greedily).all()
    more = (greedily > exact.smallest).double().mean()
    print(f"{dataset}, {len(batch)} texts, {SUBSTITUTES} substitutes for each word")
    print(f"sort {sort:.2f} s, greedy search {loop:.2f} s, ratio {loop / sort:.0f}")
    print(f"the search needs more words than the fewest, or finds none, for {more:.1%} of the texts")

    short = [row for row, count in enumerate(words) if count <= SHORT]
    if short:
        few = batch.take(torch.tensor(short))
        pairs = [[options[:2] for options in substitutes[row]] for row in short]
        sort, exact = seconds(lambda: robustness(model, few, pairs))
        every, found = seconds(lambda: [brute_force(model, batch, row, drawn[row][:, :2]) for row in short])
        assert exact.smallest.tolist() == found
        print(
            f"brute force on {len(short)} texts of {SHORT} words at most: ratio {every / sort:.0f}, the same numbers"
        )


def greedy(model: Any, batch: Batch, row: int, numbers: np.ndarray) -> float:
    """How many words a greedy search replaces until the decision changes; infinite where it gives up."""
    ids = batch.tokens.ids[row, : len(numbers)].clone()
    before = chances(model, batch, row, ids[None])[0]
    decided, lowest, left = int(before.argmax()), float(before.max()), set(range(len(ids)))
    for count in range(1, len(ids) + 1):
        places = [(word, option) for word in sorted(left) for option in range(numbers.shape[1])]
        texts = ids.repeat(len(places), 1)
        for text, (word, option) in zip(texts, places, strict=True):
            text[word] = int(numbers[word, option])
        after = chances(model, batch, row, texts)
        best = int(after[:, decided].argmin())
        if float(after[best, decided]) >= lowest:
            return float("inf")
        ids, lowest = texts[best], float(after[best, decided])
        left.discard(places[best][0])
        if int(after[best].argmax()) != decided:
            return float(count)
    return float("inf")


def brute_force(model: Any, batch: Batch, row: int, numbers: np.ndarray) -> float:
    """The fewest over every combination."""
    own = batch.tokens.ids[row, : len(numbers), None]
    options = torch.cat([own, torch.from_numpy(numbers)], dim=1)
    chosen = torch.tensor(list(product(range(options.shape[1]), repeat=len(options))))
    texts = options[torch.arange(len(options)), chosen]
    decided = chances(model, batch, row, texts).argmax(1)
    changed = decided != decided[0]
    return float((chosen > 0).sum(1)[changed].min()) if bool(changed.any()) else float("inf")


def chances(model: Any, batch: Batch, row: int, ids: torch.Tensor) -> torch.Tensor:
    """Probabilities of texts of one length."""
    again = batch.take(torch.full((len(ids),), row))
    cut = {
        name: getattr(again.tokens, name)[:, : ids.shape[1]]
        for name in ("mask", "present", "offsets", "word_of")
    }
    with torch.no_grad():
        return probabilities(read(model, replace(again, tokens=replace(again.tokens, ids=ids, **cut))).logits)


if __name__ == "__main__":
    main()
