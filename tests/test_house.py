"""Rules of the house that no ready-made linter knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import heedful

SOURCE = Path(heedful.__file__).parent
INSIDE = ("models", "training")
"""Folders that may look into a model; all others ask its stages."""

PARTS = {"architecture", "attention", "decoder", "embedding", "encoder", "query_encoder"}
DOORS = {
    "altered",
    "answers",
    "classifier",
    "function",
    "huggingface",
    "prediction",
    "redrawn",
    "shorter",
    "stages",
    "wrapped",
}
"""Files of `models/` that others may import; encoders may be listed too, by their registry."""


def looks_inside(tree: ast.AST) -> Iterator[str]:
    """Name every place where code reads a part of a model, or imports a class to recognise one by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (node.attr == "architecture" or _part_of_model(node)):
            yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heedful.models"):
            names = {alias.name for alias in node.names}
            file = (node.module or "").split(".")[2:3]
            if not (set(file or names) <= DOORS or names == {"ENCODERS"}):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Import) and any(a.name.startswith("heedful.models") for a in node.names):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def _part_of_model(node: ast.Attribute) -> bool:
    """Whether this is `model.part` or `something.model.part`."""
    owner = node.value
    name = (
        owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else None
    )
    return node.attr in PARTS and name == "model"


def test_nobody_outside_looks_into_a_model():
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        folder = path.relative_to(SOURCE).parts[0]
        if folder not in INSIDE:
            inside = looks_inside(ast.parse(path.read_text(encoding="utf-8")))
            # A recipe names models of its own: rows of a table, with the encoder that each is trained with.
            found[path] = [place for place in inside if folder != "papers" or "model.encoder" not in place]
    assert not (seen := {str(path): places for path, places in found.items() if places}), seen


@pytest.mark.parametrize(
    "code",
    [
        "subject.model.encoder.contextual",
        "classifier.model.decoder.linear",
        "model.attention",
        "model.architecture.hierarchical",
        "from heedful.models.encoders.transformer import TransformerEncoder",
        "from heedful.models.model import AttentionModel",
        "from heedful.models import decoders",
        "import heedful.models.attention",
    ],
)
def test_looking_into_a_model_is_seen(code):
    assert list(looks_inside(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "reading.model.contextual",
        "about.encoder",
        "from heedful.models.stages import Stages, probabilities",
        "from heedful.models.encoders.encoder import ENCODERS",
    ],
)
def test_asking_the_stages_is_not(code):
    assert not list(looks_inside(ast.parse(code)))


def imports_by_name(tree: ast.AST) -> Iterator[str]:
    """Name every import that import-linter cannot see."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in (
            "import_module",
            "__import__",
        ):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def test_only_registries_import_by_name():
    """They import the package that they are given, which lies in the layer that asks; nobody reaches up unseen.

    A user's own module is imported by name too, where models are found.
    """
    allowed = {SOURCE / name for name in ("registry.py", "declared.py", "__init__.py", "loading.py")}
    found = {
        str(path): places
        for path in sorted(SOURCE.rglob("*.py"))
        if path not in allowed
        and (places := list(imports_by_name(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert not found
    assert list(imports_by_name(ast.parse("import importlib\nimportlib.import_module('heedful.reports')")))


def test_nobody_inside_calls_what_the_package_hands_on():
    """`from heedful import audit` would reach from any layer to the top one; import-linter lets the package do that."""
    lent = {"__version__", *(path.stem for path in SOURCE.iterdir())}
    found = {
        str(path): node.lineno
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "heedful"
            and {a.name for a in node.names} - lent
        )
        or (isinstance(node, ast.Import) and any(alias.name == "heedful" for alias in node.names))
    }
    assert not found
