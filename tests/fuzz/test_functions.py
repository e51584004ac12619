"""Every function of Python, with odd things in the place of what it asks for: it does it, or refuses in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedful
from heedful.errors import HeedfulError

TEXTS = ["a fine film", "a dull plot"]


def probabilities(texts: list[str]) -> list[list[float]]:
    return [[0.4, 0.6]] * len(texts)


def broken(texts: list[str]) -> Any:
    raise ValueError("half \ud800")


ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "3": lambda: 3, "0": lambda: 0, "-1": lambda: -1, "1.5": lambda: 1.5, "NaN": lambda: float("nan"), "1j": lambda: 1j,
    "401 digits": lambda: 10**400, "True": lambda: True, "empty": lambda: "", "word": lambda: "x", "bytes": lambda: b"run", "list": lambda: [], "dict": lambda: {},
    "set": lambda: {"x"}, "object": object, "Nones": lambda: [None], "mixed": lambda: ["a", None], "nested": lambda: [[1]], "pairs": lambda: {"a": 1},
    "column of number": lambda: {"train": 3}, "column of text": lambda: {"text": "ab"}, "rows": lambda: [{"text": "a"}], "array": lambda: np.zeros(3),
    "objects": lambda: np.array(["a", None], object), "date": lambda: np.datetime64("2020-01-01"), "tensor": lambda: torch.zeros(2), "range": lambda: range(3),
    "iterator": lambda: iter(["x"]), "path": lambda: Path("nowhere"), "function": lambda: probabilities, "broken function": lambda: broken,
    "a function of nothing": lambda: lambda texts: None, "a kind": lambda: type, "half a character": lambda: "\ud800", "halves": lambda: ["\ud800"], "zero": lambda: "a\0b",
    "blank": lambda: [" "], "long": lambda: ["x" * 10_000],
}  # fmt: skip

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "load": lambda model, odd: heedful.load(odd),
    "words": lambda model, odd: heedful.words(odd),
    "train": lambda model, odd: heedful.train(odd, epochs=1, limit=20, hidden=4, embedding_size=4, progress=False),
    "train config": lambda model, odd: heedful.train("x.csv", config=odd),
    "train option": lambda model, odd: heedful.train("x.csv", epochs=odd),
    "predict model": lambda model, odd: heedful.predict(odd, TEXTS),
    "predict": heedful.predict,
    "explain": heedful.explain,
    "explain with": lambda model, odd: heedful.explain(model, TEXTS, odd),
    "audit model": lambda model, odd: heedful.audit(odd, TEXTS, only=["sharpness"], progress=False),
    "audit data": lambda model, odd: heedful.audit(model, odd, only=["sharpness"], progress=False),
    "audit labels": lambda model, odd: heedful.audit(model, TEXTS, odd, only=["sharpness"], progress=False),
    "audit only": lambda model, odd: heedful.audit(model, TEXTS, only=["x"] if odd is None else odd, progress=False),
    "audit scores": lambda model, odd: heedful.audit(model, TEXTS, scores=odd, only=["sharpness"], progress=False),
    "audit policy": lambda model, odd: heedful.audit(model, TEXTS, policy=odd, only=["sharpness"], progress=False),
    "audit names": lambda model, odd: heedful.audit(predict=probabilities, data=TEXTS, label_names=odd, only=["x"]),
    "audit option": lambda model, odd: heedful.audit(model, TEXTS, limit=odd, only=["sharpness"], progress=False),
    "attack": lambda model, odd: heedful.attack(model, odd, recipe="x"),
    "attack recipe": lambda model, odd: heedful.attack(model, TEXTS, recipe=odd),
    "compare": lambda model, odd: heedful.compare(odd),
    "compare only": lambda model, odd: heedful.compare(["a", "b"], only=odd),
    "report": lambda model, odd: heedful.report(odd),
    "report output": lambda model, odd: heedful.report("x", odd),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_odd_things_are_refused_in_one_line(toy_classifier, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    model, refused = toy_classifier(), 0
    for name, odd in ODD.items():
        try:
            CALLS[call](model, odd())
        except HeedfulError as error:
            refused += 1
            said = str(error)
            assert said and "\n" not in said and len(said) <= 2000, (name, said)
            said.encode()
    assert refused >= len(ODD) // 4
    assert not list(tmp_path.iterdir())
