"""Train models for show on real corpora, and other objectives beside them: F1 against what the verdict asks.

    HEEDFUL_DATA=… python docs/make_for_show.py RUNS [CORPUS,CORPUS,… [METHOD,METHOD,…]]

Trains what is missing in the folder RUNS, keeps every number in docs/measured/for-show.json, and writes docs/for-show.md and
its figure anew. Interrupted, the same command goes on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

import heedful
from heedful.errors import HeedfulError
from heedful.models.classifier import Classifier
from heedful.panel.cost_frontier import MADE, page, write_figure
from heedful.panel.for_show import RECIPE
from heedful.runs import Run
from heedful.storage import write_json, write_text

HERE = Path(__file__).parent
KEPT = HERE / "measured" / "for-show.json"
CORPORA = ("trec", "mr", "ag_news_binary", "sst2")
SHARED = {"vectors": "glove-840b-300d", "train_embeddings": False, "hidden": 64, "threads": 1}
TEXTS = 1000
METHODS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "vanilla": ({"encoder": "bilstm"}, (0, 1, 2)),
    "for show": ({}, (0, 1, 2)),
    "erasure": ({**RECIPE, "base": "vanilla"}, (0, 1, 2)),
    "average": ({"encoder": "average"}, (0,)),
    "pointer": ({"encoder": "pointer"}, (0,)),
    "steady": ({"encoder": "bilstm", "objective": "steady"}, (0,)),
    "diverse": ({"encoder": "bilstm", "objective": "diverse"}, (0,)),
    "selective": ({"encoder": "pointer", "objective": "selective", "normaliser": "sparsemax"}, (0,)),
    "unreplaceable": ({"encoder": "bilstm", "objective": "unreplaceable"}, (0,)),
    "frozen": ({"encoder": "bilstm", "objective": "frozen"}, (0,)),
}
"""Options and seeds; those with a base are taught by the model of that method and seed. `for show` is what `--for-show` takes."""


def measure(corpus: str, method: str, seed: int, runs: Path) -> dict[str, Any]:
    """Train a model, or find it, audit it, and give what counts."""
    model = _model(corpus, method, seed, runs)
    result = heedful.audit(model, progress=False, limit=TEXTS)
    assert model.run is not None
    metrics = Run(model.run).metrics()
    name = "f1" if len(model.labels) == 2 else "macro_f1"
    shares = {
        n: result.summaries["rationale"].number(f"{n}_share").model_dump()
        for n in ("comprehensiveness", "sufficiency")
    }
    return {
        "corpus": corpus,
        "method": method,
        "seed": seed,
        "verdict": str(result.verdict),
        "dev": metrics["dev"][name],
        "test": metrics["test"][name],
        "encoder": model.encoder,
        "texts": result.about.texts,
        "top_loo": result.summaries["agreement"].number("tau_loo_top").estimate,
        **shares,
    }


def _model(corpus: str, method: str, seed: int, runs: Path) -> Classifier:
    given = {**SHARED, "seed": seed, "runs": runs, "progress": False}
    if method == MADE:
        return heedful.train_for_show(corpus, **given).classifier
    options, _ = METHODS[method]
    if "base" in options:
        teacher = _model(corpus, options["base"], seed, runs)
        options = {**options, "base": str(teacher.run)}
    return heedful.train(corpus, **{**given, **options})


def main() -> None:
    """Measure what is missing, and write the page."""
    torch.set_num_threads(1)
    runs = Path(sys.argv[1])
    corpora = sys.argv[2].split(",") if len(sys.argv) > 2 else CORPORA
    methods = sys.argv[3].split(",") if len(sys.argv) > 3 else list(METHODS)
    kept: list[dict[str, Any]] = json.loads(KEPT.read_text()) if KEPT.is_file() else []
    console = Console()
    for corpus in corpora:
        for method in methods:
            for seed in METHODS[method][1]:
                if any((k["corpus"], k["method"], k["seed"]) == (corpus, method, seed) for k in kept):
                    continue
                try:
                    found = measure(corpus, method, seed, runs)
                except HeedfulError as error:
                    console.print(f"{corpus} {method}: {error}")
                    break
                kept = json.loads(KEPT.read_text()) if KEPT.is_file() else []
                kept.append(found)
                write_json(KEPT, sorted(kept, key=lambda k: (k["corpus"], k["method"], k["seed"])))
                console.print(
                    f"{corpus} {method} {seed}: {found['verdict']}, test {found['test']:.3f}, "
                    f"{found['comprehensiveness']['estimate']:.2f} {found['sufficiency']['estimate']:.2f}"
                )
    kept = json.loads(KEPT.read_text())
    write_figure(kept, HERE / "for-show.svg")
    write_text(HERE / "for-show.md", page(kept))


if __name__ == "__main__":
    main()
