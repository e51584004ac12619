"""heedful: may this model's attention be shown as an explanation?

import heedful

model = heedful.train("sst2", encoder="bilstm", vectors="glove-840b-300d")
model = heedful.train(texts, labels)
model(["a warm , funny , engaging film ."])
heedful.explain(model, ["a warm , funny film ."], "leave_one_out")
heedful.audit(model, quick=True).verdict == "show"
heedful.train_for_show("mr", vectors="glove-840b-300d").result.verdict
heedful.attack(model, texts, labels, recipe="pwws").to_frame()
heedful.audit(predict=function, data=texts, labels=labels).verdict
heedful.audit("a-folder-with-config.json", "reviews.csv").verdict
heedful.audit(heedful.wrap(module, tokenizer, labels=["no", "yes"]), frame).verdict
heedful.load("runs/…")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful import reporting
from heedful.functions.attack import attack
from heedful.functions.audit import audit
from heedful.functions.compare import compare
from heedful.functions.explain import explain, words
from heedful.functions.load import load, wrap
from heedful.functions.predict import predict
from heedful.functions.report import report
from heedful.functions.reproduce import reproduce
from heedful.functions.study import study
from heedful.functions.train import train, train_for_show

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "attack",
    "audit",
    "compare",
    "explain",
    "load",
    "measures",
    "predict",
    "report",
    "reproduce",
    "study",
    "train",
    "train_for_show",
    "words",
    "wrap",
]


def _write_report(audits: Sequence[Any], path: Path) -> Path:
    from heedful.reports import write_report

    return write_report(audits, path)


def _print_audit(result: Any, screen: Any) -> None:
    from heedful.reports.printed_audit import print_audit

    print_audit(result, screen)


def _write_attack(result: Any, path: Path) -> Path:
    from heedful.reports.attack_page import write_attack

    return write_attack(result, path)


reporting.writer = _write_report
reporting.printer = _print_audit
reporting.attack_writer = _write_attack


def __getattr__(name: str) -> Any:
    """Import `heedful.measures` when it is first asked for: it brings torch along."""
    if name == "measures":
        import importlib

        return importlib.import_module("heedful.measures")
    raise AttributeError(f"module 'heedful' has no attribute {name!r}")
