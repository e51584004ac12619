"""Options that single files declare: found without running the files, and never in each other's way."""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint

import pytest

from heedful import declared
from heedful.audits.audit import AUDITS
from heedful.checking import build
from heedful.config import AuditOptions, ModelOptions, ObjectiveOptions, TrainConfig
from heedful.declared import complete, declared_options
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.train import resolve, run_name


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Give a function that puts a file beside the audits, or elsewhere, as far as declarations go."""

    def put(code: str, package: str = "heedful.audits.questions", name: str = "mine") -> None:
        folder = tmp_path / package
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        found = importlib.import_module(package)
        monkeypatch.setattr(found, "__path__", [*found.__path__, str(folder)])
        declared._complete.cache_clear()

    yield put
    monkeypatch.undo()
    declared._complete.cache_clear()


COUNT = """
from heedful.config import AuditOptions, Count
from pydantic import Field
import a_module_that_is_not_there

class MineOptions(AuditOptions):
    depth: Count = Field(3, description="How deep.")
"""


def test_a_file_is_read_and_not_run(file):
    file(COUNT)
    assert complete(AuditOptions)().depth == 3
    assert build(AuditOptions, {"depth": "5"}).depth == 5
    assert declared_options(AuditOptions) >= {"depth", "radii"}
    assert "depth" not in AuditOptions.model_fields


def test_a_package_that_is_broken_stops_no_help_and_is_named_where_it_is_needed(monkeypatch):
    from heedful import registry
    from heedful.errors import BadInput

    broken = [EntryPoint("mine", "a_package_that_is_not_there.mine", "heedful.audits")]
    for module in (declared, registry):
        monkeypatch.setattr(module, "entry_points", lambda group: broken if group == "heedful.audits" else [])
    declared._complete.cache_clear()
    assert "radii" in complete(AuditOptions).model_fields
    monkeypatch.setattr(AUDITS, "_complete", False)
    with pytest.raises(BadInput, match="adds the audit 'mine', and it cannot be imported"):
        AUDITS.get("sharpness")
    declared._complete.cache_clear()


def test_two_files_cannot_declare_the_same_option(file):
    file(COUNT.replace("depth", "radii"))
    with pytest.raises(ValueError, match=r"'radii' is declared in .*certificate and in .*mine"):
        complete(AuditOptions)


def test_a_class_of_options_that_needs_more_than_it_may_says_so(file):
    file(COUNT.replace("Field(3", "Field(SOMEWHERE"))
    with pytest.raises(NameError, match=r"may use only heedful\.config, pydantic and typing"):
        complete(AuditOptions)


def test_what_is_installed_besides_changes_no_name_and_no_record_of_a_run(file, tmp_path):
    from heedful.data.corpora.reader import load_corpus

    def name() -> str:
        config = resolve({"dataset": "mock_2_strong"})
        return run_name(config, load_corpus(config), "f1")

    before = name()
    file(
        "from heedful.config import ObjectiveOptions, Size\n"
        "class Mine(ObjectiveOptions):\n    far: Size = 2.0\n",
        "heedful.training.objectives",
    )
    file(
        "from heedful.config import Count, ModelOptions\nclass Mine(ModelOptions):\n    turns: Count = 2\n",
        "heedful.models.encoders",
    )
    assert {"far", "turns"} <= complete(TrainConfig).model_fields.keys()
    assert name() == before


@pytest.mark.parametrize("kind", [AuditOptions, ModelOptions, ObjectiveOptions])
def test_every_declared_option_is_described(kind):
    for name in declared_options(kind):
        assert complete(kind).model_fields[name].description


def test_every_declared_option_is_read_by_one_alone():
    for name in declared_options(AuditOptions):
        assert len([audit for audit in AUDITS if name in AUDITS.get(audit).options]) == 1, name
    for name in declared_options(ObjectiveOptions):
        assert len([other for other in OBJECTIVES if name in OBJECTIVES.get(other).options]) == 1, name
