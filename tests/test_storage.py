from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from heedful.errors import BadInput
from heedful.storage import make_folder, remove_leftovers, write_bytes, write_json, write_text


def test_what_is_written_is_read(tmp_path):
    write_text(tmp_path / "a" / "b.txt", "größer →")
    assert (tmp_path / "a" / "b.txt").read_text(encoding="utf-8") == "größer →"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.txt"]


def test_others_may_read_it(tmp_path):
    write_text(tmp_path / "x", "")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_temporary(tmp_path, monkeypatch, step):
    write_text(tmp_path / "x", "old")

    def fail(*_):
        # Whoever looks at this moment sees the old file whole.
        assert (tmp_path / "x").read_text() == "old"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(BadInput, match=r"The disk is full: \S+/x was not written"):
        write_text(tmp_path / "x", "new" * 100_000)
    assert (tmp_path / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_an_interruption_leaves_no_temporary_either(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "x", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_the_file_open_keeps_the_old_content(tmp_path):
    write_text(tmp_path / "x", "old")
    with (tmp_path / "x").open() as reader:
        write_text(tmp_path / "x", "new")
        assert reader.read() == "old"
    assert (tmp_path / "x").read_text() == "new"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_refuses_what_is_no_json_and_writes_nothing(tmp_path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "x.json", {"f1": value})
    assert list(tmp_path.iterdir()) == []


def test_equal_json_is_equal_bytes_in_the_order_given(tmp_path):
    for name in ("a", "b"):
        write_json(tmp_path / name, {"z": 1, "a": "é"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert list(json.loads((tmp_path / "a").read_text())) == ["z", "a"]


def test_leftovers_of_a_killed_writer_go_and_nothing_else(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:  # as a kill does it: no clean-up
        patch.setattr(Path, "unlink", lambda self: None)
        patch.setattr(os, "fsync", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_text(tmp_path / "x", "half")
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / "partial-results.txt").write_text("mine")
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["partial-results.txt"]


@pytest.mark.parametrize("path", ["file/x", "file", ".", "/proc/heedful", "n" * 300])
def test_a_place_that_takes_no_file_is_one_sentence(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("file").mkdir() if path == "file" else Path("file").write_text("")
    with pytest.raises(BadInput, match=r"^Cannot write .* \(.*\): choose another folder"):
        write_text(Path(path), "x")


def test_a_folder_under_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="Cannot write"):
        make_folder(tmp_path / "file" / "folder")
