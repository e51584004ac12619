"""What the default verdict costs, in readings of the same texts: a ratio that no machine changes much.

One process, one thread, the sst2 test set, or Mock-2 without HEEDFUL_DATA. `python benchmarks/verdict.py 200` uses 200 texts.
A change that makes a verdict dearer shows here, whatever the machine; so does the audit that it comes from.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch

import heedful
from heedful.data.corpora.sources import find_folder

TEXTS = 600


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> None:
    torch.set_num_threads(1)
    dataset = "sst2" if find_folder("sst2") else "mock_2"
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else TEXTS
    with tempfile.TemporaryDirectory() as folder:
        classifier = heedful.train(dataset, epochs=2, runs=folder, progress=False)

        def audit(**options: Any) -> Any:
            return heedful.audit(classifier, progress=False, limit=texts, **options)

        audit(only=["sharpness"])  # warms up
        once, _ = seconds(lambda: audit(only=["sharpness"]))
        whole, result = seconds(audit)
    print(f"{dataset} test, {result.about.texts} texts, BiLSTM 128 per direction: {result.verdict}")
    print(f"one reading {once:6.2f} s   verdict {whole:6.2f} s   {whole / once:6.1f} readings")
    together = sum(summary.seconds for summary in result.summaries.values())
    for name, summary in sorted(result.summaries.items(), key=lambda found: -found[1].seconds):
        print(f"  {name:22} {summary.seconds / together:4.0%}")


if __name__ == "__main__":
    main()
