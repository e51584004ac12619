"""What CONTRIBUTING.md tells to write works as it stands there, in files of under 25 lines."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import heedful
from heedful import declared
from heedful.attacks.attack import ATTACKS
from heedful.audits.audit import AUDITS
from heedful.errors import BadInput
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
REGISTRIES = {
    "position": AUDITS,
    "last_word": EXPLAINERS,
    "shift": ENCODERS,
    "plain_entropy": OBJECTIVES,
    "plain_synonyms": ATTACKS,
}
SMALL = {"limit": 200, "epochs": 1, "hidden": 4, "embedding_size": 8, "progress": False}


@pytest.fixture
def added(tmp_path, monkeypatch):
    """All five, as if their files lay in the folders that the page names, and gone again afterwards."""
    for registry in REGISTRIES.values():
        list(registry)  # what is there is found first
        for name in ("_things", "_descriptions"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))
    for path, code in PARTS.items():
        folder = tmp_path / Path(path).parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{Path(path).name}.py").write_text(code, encoding="utf-8")
        package = importlib.import_module("heedful." + ".".join(Path(path).parent.parts))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    declared._complete.cache_clear()
    names = ["heedful." + ".".join(Path(path).parts) for path in PARTS]
    for name in names:
        importlib.import_module(name)
    yield
    for name in names:
        del sys.modules[name]
    declared._complete.cache_clear()


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
        "mock_2_strong", encoder="shift", objective="plain_entropy", spread=0.5, runs=tmp_path, **SMALL
    )
    assert model.trained.spread == 0.5
    found = heedful.audit(model, only=["position"], limit=30, progress=False)
    assert "The largest weight stands at" in found.summaries["position"].finding
    place = found.to_frame("position")["place"]
    assert place.is_between(0, 1).all()
    turned = heedful.audit(model, only=["position"], limit=30, from_the_end=True, progress=False)
    assert (turned.to_frame("position")["place"] + place).to_list() == pytest.approx([1.0] * 30)
    (explained,) = heedful.explain(model, ["one two three"], "last_word")
    assert [item.weight for item in explained.items] == [0, 0, 1]
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("good fine nice\nbad poor weak\n", encoding="utf-8")
    attacked = heedful.attack(
        model, ["a good film", "a bad film"], recipe="plain_synonyms", synonyms=str(synonyms), progress=False
    )
    assert set(attacked.to_frame()["status"]) <= {"successful", "failed"}


def test_a_value_that_is_wrong_is_told_of_as_any_other(added):
    with pytest.raises(BadInput, match="Option spread must be at least 0"):
        heedful.train("mock_2_strong", objective="plain_entropy", spread=-1, progress=False)
    with pytest.raises(BadInput, match="vanilla does not read --spread"):
        heedful.train("mock_2_strong", spread=0.3, progress=False)


def test_help_of_every_option_needs_no_torch():
    code = (
        "import sys; from heedful.config import AuditOptions, TrainConfig; from heedful.declared import complete\n"
        "assert 'radii' in complete(AuditOptions).model_fields and 'norm' in complete(TrainConfig).model_fields\n"
        "assert 'torch' not in sys.modules and 'polars' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
