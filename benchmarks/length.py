"""How the cost of audits grows with the length of a text, and what leave-one-out costs against reading every text again.

One process, one thread. First, growth: texts of random words, twice as long each time, and the time of the default audits and of
leave-one-out alone, of one text; a ratio near 2 is linear, near 4 quadratic. Second, ratios on texts of one length: ours,
against deleting each word and reading the rest again, with the largest difference. Third, with `python benchmarks/length.py
corpus`, 40 texts of 1,000 words, one of 5,000, and a CNN with 500 texts of the lengths of imdb. Models are untrained unless
a run is named last (its leave-one-out is then the third part's), because time depends on shapes: except how long a recurrent
encoder remembers, which a trained one decides, so that its run should be named.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import heedful
from heedful.config import ModelOptions
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.explainers.explainer import EXPLAINERS
from heedful.explainers.reread import probabilities_without
from heedful.measures.divergence import tvd
from heedful.models.classifier import Classifier
from heedful.models.model import Architecture, AttentionModel
from heedful.models.stages import output_of, probabilities

ENCODERS = ("average", "cnn", "bilstm")
LENGTHS = (500, 1000, 2000, 4000)
PLAIN = 300  # words of the text on which the plain way is timed
WORDS = [f"word{n}" for n in range(2000)]
IMDB = (230, 170)
"""Mean and standard deviation of the number of words of a review, drawn from a gamma distribution."""


def untrained(encoder: str) -> Classifier:
    """A model of the usual size that nobody trained, over made-up words."""
    torch.manual_seed(0)
    shape = ModelOptions(encoder=encoder)
    words = Vocabulary.learn([" ".join(WORDS)] * 5, sentences=False)
    architecture = Architecture(**shape.model_dump(), vocabulary_size=len(words), classes=2)
    return Classifier(AttentionModel(architecture).eval(), words, ("no", "yes"), "classification")


def made_up(lengths: Sequence[int], seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=length)) for length in lengths]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def batches(instances: Instances) -> list[Batch]:
    return [instances.batch(rows) for rows in inference_batches(instances.lengths, 64)]


def leave_one_out(classifier: Classifier, instances: Instances) -> list[torch.Tensor]:
    explain = EXPLAINERS.get("leave_one_out")
    return [explain(classifier.model, batch, seed=0) for batch in batches(instances)]


def read_again(classifier: Classifier, instances: Instances) -> list[torch.Tensor]:
    """Delete each word, and read what is left."""
    found = []
    for batch in batches(instances):
        with torch.no_grad():
            before = probabilities(output_of(classifier.model, batch).logits)
        rows, items = batch.tokens.mask.nonzero(as_tuple=True)
        keep = batch.tokens.mask[rows] & (torch.arange(batch.tokens.mask.shape[1]) != items[:, None])
        scores = before.new_zeros(batch.tokens.mask.shape)
        scores[rows, items] = tvd(probabilities_without(classifier.model, batch, rows, keep), before[rows])
        found.append(scores)
    return found


def texts_of(classifier: Classifier, texts: list[str]) -> Instances:
    from heedful.data.corpus import Split

    return classifier.instances(Split(texts, np.zeros(len(texts), dtype=np.int64)))


def growth(classifier: Classifier, name: str) -> None:
    for what in ("leave-one-out", "default audits"):
        spent = []
        for length in LENGTHS:
            texts = made_up([length])
            if what == "leave-one-out":
                instances = texts_of(classifier, texts)
                spent.append(seconds(lambda i=instances: leave_one_out(classifier, i))[0])
            else:
                spent.append(
                    seconds(lambda t=texts: heedful.audit(classifier, texts=t * 2, progress=False))[0]
                )
        ratios = "  ".join(f"{after / before:.1f}" for before, after in pairwise(spent))
        shown = "  ".join(f"{part:6.2f}" for part in spent)
        print(
            f"{name:8} {what:15} {LENGTHS} words: {shown} s, each over the one before: {ratios}", flush=True
        )


def against_reading_again(classifier: Classifier, name: str) -> None:
    instances = texts_of(classifier, made_up([PLAIN]))
    plain, expected = seconds(lambda: read_again(classifier, instances))
    ours, found = seconds(lambda: leave_one_out(classifier, instances))
    worst = max(float((a - b).abs().max()) for a, b in zip(expected, found, strict=True))
    print(
        f"{name:8} leave-one-out of {PLAIN} words: {plain / ours:6.1f} times as fast as reading again, largest difference {worst:.0e}",
        flush=True,
    )


def corpora(classifier: Classifier, name: str) -> None:
    random = np.random.default_rng(0)
    mean, std = IMDB
    shape = (mean / std) ** 2
    reviews = random.gamma(shape, mean / shape, 500).astype(int).clip(10, 2500).tolist()
    for what, lengths in (("40 of 1,000", [1000] * 40), ("one of 5,000", [5000]), ("500 like imdb", reviews)):
        instances = texts_of(classifier, made_up(lengths))
        once = seconds(lambda i=instances: [output_of(classifier.model, b) for b in batches(i)])[0]
        spent = seconds(lambda i=instances: leave_one_out(classifier, i))[0]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:8} leave-one-out of {what:14} {spent:7.1f} CPU s, {spent / once:6.1f} forward passes, peak memory {peak:.1f} GB",
            flush=True,
        )


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    named = sys.argv[1:]
    models = [(encoder, untrained(encoder)) for encoder in ENCODERS]
    if named and named[-1] != "corpus":
        models = [("run", heedful.load(named.pop()))]
    for name, classifier in models:
        if named:
            corpora(classifier, name)
        else:
            with torch.enable_grad():
                growth(classifier, name)
            against_reading_again(classifier, name)


if __name__ == "__main__":
    main()
