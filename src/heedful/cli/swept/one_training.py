"""heedful sweep with command: train"""

from __future__ import annotations

from pathlib import Path

from heedful.cli.swept.swept_command import SWEPT, Options, Row, SweptCommand

_METRICS = ("f1", "accuracy", "macro_f1", "roc_auc")


def _check(options: Options) -> Options:
    from heedful.training.train import resolve

    return resolve(options).model_dump(mode="json")


def _do(options: Options, runs: Path) -> Row:
    from heedful.runs import Run
    from heedful.training.train import resolve, train

    folder = train(resolve(options), runs=runs).run
    assert folder is not None
    metrics = Run(folder).metrics()
    row: Row = {}
    for split in ("test", "dev"):
        row |= {f"{split}_{name}": metrics[split].get(name) for name in _METRICS if name in metrics[split]}
    return row | {"epoch": metrics["epoch"], "run": str(folder)}


SWEPT.register("train", "train a model; then: {audit: …} audits it, and attack: … attacks it")(
    SweptCommand(_check, _do, makes="run")
)
