"""What CONTRIBUTING.md tells to write works as it stands there, in files of under 25 lines."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import heedful
from heedful.audits.audit import AUDITS
from heedful.explainers.explainer import EXPLAINERS
from heedful.models.encoders.encoder import ENCODERS
from heedful.training.objectives.objective import OBJECTIVES

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"
PARTS = dict(
    re.findall(
        r"^## An? \w+: `src/heedful/(\S+)\.py`\n.*?```python\n(.*?)```",
        PAGE.read_text(encoding="utf-8"),
        re.S | re.M,
    )
)
REGISTRIES = {"position": AUDITS, "last_word": EXPLAINERS, "shift": ENCODERS, "plain_entropy": OBJECTIVES}
SMALL = {"limit": 200, "epochs": 1, "hidden": 4, "embedding_size": 8, "progress": False}


@pytest.fixture
def added(tmp_path, monkeypatch):
    """All four, as if their files were there, and gone again afterwards."""
    for registry in REGISTRIES.values():
        list(registry)  # what is there is found first
        for name in ("_things", "_descriptions"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
    for path, code in PARTS.items():
        file = tmp_path / f"{Path(path).name}.py"
        file.write_text(code, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_page_has_a_short_file_for_each_in_a_folder_that_is_there():
    assert {Path(path).name for path in PARTS} == set(REGISTRIES)
    source = Path(heedful.__file__).parent
    for path, code in PARTS.items():
        assert (source / path).parent.is_dir()
        assert len(code.splitlines()) < 25


def test_they_are_known_by_their_names_and_work(added, tmp_path):
    for name, registry in REGISTRIES.items():
        assert name in registry and registry.descriptions()[name]
    model = heedful.train(
        "mock_2_strong", encoder="shift", objective="plain_entropy", strength=0.1, runs=tmp_path, **SMALL
    )
    found = heedful.audit(model, only=["position"], limit=30, progress=False)
    assert "The largest weight stands at" in found.summaries["position"].finding
    assert found.to_frame("position")["place"].is_between(0, 1).all()
    (explained,) = heedful.explain(model, ["one two three"], "last_word")
    assert [item.weight for item in explained.items] == [0, 0, 1]
