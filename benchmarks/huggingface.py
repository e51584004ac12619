"""What audits of a classifier of transformers cost, in forward passes of the same network over the same texts.

One process, one thread. The network is MiniLM with six layers and twelve heads (`heedful data get minilm-l6`, or one of the same
size with drawn weights) with a head that was not trained: what is measured is time. Texts are of sst2's test set, or drawn, all of
22 tokens. `python benchmarks/huggingface.py 100 FOLDER` uses 100 texts and a classifier of your own. `python benchmarks/huggingface.py
memory FOLDER` says how much memory audits of 100 and of 1,000 texts of 512 tokens take at the most, each in a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import heedful
from heedful.data.corpora.sources import find_folder
from heedful.data.fetch import assets
from heedful.models.huggingface.classifier_folder import classify_with
from heedful.models.shorter import decode_many

TEXTS, TOKENS, VARIANTS = 200, 22, 200
AUDITS = ["sharpness", "permutation", "counterfactual", "single_erasure", "flip_set"]


LONG, MANY = 512, (100, 1000)
FOR_MEMORY = ["sharpness", "permutation"]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> None:
    torch.set_num_threads(1)
    many = int(sys.argv[1]) if len(sys.argv) > 1 else TEXTS
    classifier = heedful.load(sys.argv[2]) if len(sys.argv) > 2 else untrained()
    texts = some_texts(classifier, many)
    model, batch = classifier.model, classifier.batch(texts[:32])

    with torch.no_grad():
        model.logits(batch)  # warms up
        forward = min(seconds(lambda: model.logits(batch))[0] for _ in range(5)) / len(batch)
        states = model.encode(model.embed(batch), batch)
        own = model.attend(states)
        drawn = torch.rand(len(batch), VARIANTS, *own.shape[1:]) * states.mask[:, None, None]
        drawn = drawn / drawn.sum(-1, keepdim=True)
        decode_many(model, states, drawn[:, :10])
        variant = min(seconds(lambda: decode_many(model, states, drawn))[0] for _ in range(3)) / (
            len(batch) * VARIANTS
        )
    print(f"{classifier.name}, {batch.tokens.ids.shape[1]} tokens, way of decoding: {model.route}")
    print(
        f"forward pass {forward * 1e3:.2f} ms, other weights {variant * 1e3:.3f} ms: ratio {forward / variant:.0f} (aim 50)"
    )

    once, _ = seconds(
        lambda: [model.logits(classifier.batch(texts[i : i + 32])) for i in range(0, len(texts), 32)]
    )
    whole, result = seconds(lambda: heedful.audit(classifier, texts, only=AUDITS, progress=False))
    print(
        f"{len(texts)} texts through {', '.join(AUDITS)}: {whole / once:.1f} forward passes over them (aim 25)"
    )
    together = sum(summary.seconds for summary in result.summaries.values())
    for name, summary in sorted(result.summaries.items(), key=lambda found: -found[1].seconds):
        print(f"  {name:16} {summary.seconds / together:4.0%}")
    rows = result.to_frame("counterfactual")
    gap = (rows["jsd_bound"] - rows["eps_max_jsd"]).to_numpy()
    print(
        f"counterfactual: gap to what no heatmap exceeds at most .02 for {np.mean(gap <= 0.02):.0%} of the texts (aim 95 %), {gap.mean():.3f} on average"
    )


def memory(folder: str | None) -> None:
    """Peak resident memory of one process after another; what is measured with more texts must hardly take more."""
    command = [sys.executable, __file__, "peak", *([folder] if folder else [])]
    peaks = []
    for many in MANY:
        done = subprocess.run([*command, str(many)], check=True, stdout=subprocess.PIPE, text=True)
        loaded, peak = map(int, done.stdout.split()[-2:])
        peaks.append(peak)
        print(
            f"{many} texts of {LONG} tokens through {', '.join(FOR_MEMORY)}: at most {peak} MB, {loaded} MB of them before the audit"
        )
    print(f"ratio {peaks[1] / peaks[0]:.2f} (aim: near 1)")


def peak(folder: str | None, many: int) -> None:
    """Audit, and print megabytes before the audit and at the most."""
    classifier = heedful.load(folder) if folder else untrained()
    texts = some_texts(classifier, many, tokens=LONG)
    classifier.model.logits(classifier.batch(texts[:1]))
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heedful.audit(classifier, texts, only=FOR_MEMORY, permutations=10, progress=False)
    print(loaded // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def untrained() -> Any:
    """MiniLM with a head that was not trained."""
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        BertConfig,
        BertForSequenceClassification,
    )

    torch.manual_seed(0)
    folder = assets.find("minilm-l6")
    if folder is None:
        raise SystemExit("The tokenizer of minilm-l6 is needed: run heedful data get minilm-l6.")
    config = BertConfig.from_pretrained(folder)
    known = (folder / "model.safetensors").is_file() or (folder / "pytorch_model.bin").is_file()
    module = (
        AutoModelForSequenceClassification.from_pretrained(folder)
        if known
        else BertForSequenceClassification(config)
    )
    return classify_with(module.eval(), AutoTokenizer.from_pretrained(folder))


def some_texts(classifier: Any, many: int, *, tokens: int = TOKENS) -> list[str]:
    """Texts that are cut to the same number of tokens."""
    from heedful.data.corpora.reader import load_corpus
    from heedful.training.train import resolve

    dataset = "sst2" if find_folder("sst2") else "mock_2"
    corpus = load_corpus(resolve({"dataset": dataset}))
    joined = " ".join(corpus.splits["test"].texts).split()
    found: list[str] = []
    place = 0
    while len(found) < many:
        words = max(2, tokens // 2)
        while len(classifier.vocabulary.encode([" ".join(joined[place : place + words])]).ids) < tokens:
            words += max(1, tokens // 64)
        found.append(" ".join(joined[place : place + words]))
        place = place + words if place + 2 * words < len(joined) else len(found)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    match sys.argv[1:]:
        case ["memory", *folder]:
            memory(folder[0] if folder else None)
        case ["peak", *folder, many]:
            peak(folder[0] if folder else None, int(many))
        case _:
            main()
