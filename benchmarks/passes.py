"""What a default audit costs, in forward passes over its texts; and which audit takes how many of them.

One process, one thread, CPU time. A forward pass reads every text of the test set once, in batches of 64, as audits do; the best
of five counts, which is hard on the audits. What belongs to no audit (reading, predictions, the verdict, imports) is told apart.
Needs HEEDFUL_DATA with sst2; without it, trains on Mock-2. `python benchmarks/passes.py RUN` audits that run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

import heedful
from heedful.audits.running.run import audit
from heedful.data.batches import inference_batches
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.sources import find_folder
from heedful.models.classifier import Classifier
from heedful.models.shorter import read
from heedful.progress import Quiet


class Clock(Quiet):
    """Measures the CPU time between the beginning of a bar and its end."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def bar(self, title: str, total: int, *, unit: str = "texts", note: str = "") -> Iterator[Any]:
        begun = time.process_time()
        yield lambda more=1, note="": None
        self.spent[title] = self.spent.get(title, 0.0) + time.process_time() - begun


def seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def forward(classifier: Classifier) -> float:
    """Of all texts of the test set that are audited."""
    assert classifier.trained is not None
    instances = classifier.instances(load_corpus(classifier.trained).splits["test"])
    model = classifier.model.eval()

    def once() -> None:
        with torch.no_grad():
            for rows in inference_batches(instances.lengths, 64):
                read(model, instances.batch(rows))

    return min(seconds(once) for _ in range(5))


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        dataset = "sst2" if find_folder("sst2") else "mock_2"
        named = sys.argv[1:]
        model = (
            heedful.load(named[0]) if named else heedful.train(dataset, epochs=2, runs=folder, progress=False)
        )
        once, clock = forward(model), Clock()
        whole = seconds(lambda: audit(model, watcher=clock))
    print(f"a forward pass: {once:.3f} CPU s")
    for name, spent in (clock.spent | {"outside of any": whole - sum(clock.spent.values())}).items():
        print(f"{name:20} {spent:7.2f} s {spent / once:6.1f} forward passes")
    print(f"{'default audit':20} {whole:7.2f} s {whole / once:6.1f} forward passes", flush=True)


if __name__ == "__main__":
    main()
