"""Which words of the command line are models, and what each can be asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heedful.errors import BadInput
from heedful.explorer.naming import shelf_named
from heedful.explorer.page_templates import STATIC, palette

FUNCTION = """
def predict(texts):
    return [[1 - p, p] for p in ((0.9 if "great" in t else 0.5 if "film" in t else 0.1) for t in texts)]
"""


def ids(shelf: Any) -> list[str]:
    return [model.id for model in shelf]


def test_runs_folders_and_data_are_told_apart(runs: Any) -> None:
    every = {runs.plain, runs.heads, runs.mean}
    assert set(ids(shelf_named([], runs=runs.folder))) == every
    assert set(ids(shelf_named([str(runs.folder)], runs=Path("elsewhere")))) == every
    one = shelf_named([runs.plain], runs=runs.folder)
    assert (ids(one), one.data) == ([runs.plain], None)
    two = shelf_named([runs.heads, runs.plain, str(runs.data)], runs=runs.folder)
    assert (ids(two), two.data) == ([runs.heads, runs.plain], str(runs.data))
    assert shelf_named([runs.plain, "sst2"], runs=runs.folder).data == "sst2"


def test_what_is_neither_is_one_sentence(runs: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="did you mean"):
        shelf_named([runs.plain[1:]], runs=runs.folder)
    with pytest.raises(BadInput, match="no trained model"):
        shelf_named([], runs=tmp_path)


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Any) -> Any:
    (tmp_path / "a_model_for_the_explorer.py").write_text(FUNCTION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return shelf_named(
        ["predict:a_model_for_the_explorer:predict", str(runs.data)],
        runs=runs.folder,
        label_names=["neg", "pos"],
    )


def test_of_a_function_the_words_are_scored_and_the_weights_are_not_moved(function: Any) -> None:
    from fastapi.testclient import TestClient

    from heedful.explorer.application import make_application

    app = make_application(function, token="t", port=80)
    with TestClient(app, base_url="http://127.0.0.1", headers={"authorization": "Bearer t"}) as client:
        (model,) = ids(function)
        about = client.get(f"/api/models/{model}").json()
        assert about["access"] == "predictions"
        assert "predictions alone" in about["cannot"][0]
        assert about["data"] == "reviews.csv"
        read = client.post(f"/api/models/{model}/read", json={"text": "a great film"}).json()
        assert read["probabilities"] == pytest.approx([0.1, 0.9])
        assert (read["movable"], read["source"]) == (False, "leave_one_out")
        assert read["weights"] == pytest.approx([0, 0.4, 0], abs=1e-6)
        refused = client.post(f"/api/models/{model}/button", json={"text": "a great film", "how": "uniform"})
        assert refused.status_code == 422
        changed = client.post(
            f"/api/models/{model}/words", json={"text": "a great film", "changes": [{"word": 1}]}
        ).json()
        assert changed["real"]["probabilities"] == pytest.approx([0.5, 0.5])
        assert changed["attention"] is None


def test_what_a_model_can_be_asked(ask: Callable[..., Any], runs: Any) -> None:
    about = ask("")
    assert about["sources"][0]["name"] == "attention"
    assert {"leave_one_out", "integrated_gradients"} <= {one["name"] for one in about["sources"]}
    assert about["twins"] == about["cannot"] == []
    assert about["attacks"]


def test_the_reports_palette_has_every_colour_that_the_pages_use() -> None:
    style = (STATIC / "explorer.css").read_text(encoding="utf-8")
    used = set(re.findall(r"var\((--[a-z]+)\)", style)) - {"--tall"}
    defined = palette()
    light, _, dark = defined.partition("@media")
    assert len(used) > 10
    for name in used - {"--serif", "--sans"}:
        assert f"{name}:" in light
        assert f"{name}:" in dark
    assert ".w20{" in defined
    assert "prefers-color-scheme" in defined
