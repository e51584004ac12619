"""Files and models count by what they hold: elsewhere they are the same, and changed they are others."""

from __future__ import annotations

import shutil

import pytest

from heedful.content import by_content, digest


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "model"
    (made / "1_Pooling").mkdir(parents=True)
    for name, content in {
        "config.json": "{}",
        "vocab.txt": "a\nb\n",
        "model.safetensors": "weights",
        "1_Pooling/config.json": "mean",
        "README.md": "a page",
    }.items():
        (made / name).write_text(content)
    return made


def test_a_model_elsewhere_is_the_same(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "deep" / "copy")
    assert digest(folder) == digest(tmp_path / "deep" / "copy")
    (folder / "README.md").write_text("another page")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "note.json").write_text("1")
    assert digest(folder) == digest(tmp_path / "deep" / "copy")


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "model.safetensors", "1_Pooling/config.json"])
def test_another_model_at_the_same_path_is_another(folder, name):
    before = digest(folder)
    (folder / name).write_text("something else")
    assert digest(folder) != before


def test_a_name_is_part_of_what_a_model_is(folder):
    before = digest(folder)
    (folder / "vocab.txt").rename(folder / "words.txt")
    assert digest(folder) != before


def test_names_that_are_no_paths_stay(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = {"model": "model", "hub": "bert-base-uncased", "none": None, "size": 3, "empty": ""}
    found = by_content(values, values)
    assert found == values | {"model": digest(folder)}
    assert by_content(values, values, folders=False) == values
    (tmp_path / "words.txt").write_text("fine good")
    assert by_content({"file": "words.txt"}, ["file"], folders=False)["file"] == digest(
        tmp_path / "words.txt"
    )


def test_what_has_not_changed_is_read_once(folder, monkeypatch):
    before = digest(folder)
    with monkeypatch.context() as patched:
        patched.setattr("hashlib.file_digest", None)
        assert digest(folder) == before
