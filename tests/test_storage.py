from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from heedful import storage
from heedful.errors import BadInput
from heedful.storage import locked, make_folder, remove_leftovers, write_bytes, write_json, write_text


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


KILLED = """
import os, signal, sys
from pathlib import Path
from heedful import storage
if sys.argv[2] == "named":
    storage._unnamed = lambda folder: None
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
storage.write_text(Path(sys.argv[1]), "half")
"""


def killed_writer(path: Path, way: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, path, way], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
@pytest.mark.parametrize("there", [False, True])
def test_a_killed_writer_leaves_nothing(tmp_path, there):
    if there:
        write_text(tmp_path / "report.html", "old")
    killed_writer(tmp_path / "report.html", "unnamed")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"] * there


def test_where_files_need_a_name_the_next_writer_clears_up(tmp_path, monkeypatch):
    killed_writer(tmp_path / "report.html", "named")
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".partial-")
    others = [left.with_name(".partial-00000000-1-ab"), left.with_name(f"{left.name[:18]}{os.getpid()}-ab")]
    for other in others:  # of another machine, and of a process that is alive
        other.write_text("")
    monkeypatch.setattr(storage, "_unnamed", lambda folder: None)
    write_text(tmp_path / "report.html", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", *(other.name for other in others)}
    assert (tmp_path / "report.html").read_text() == "whole"


def test_half_a_character_costs_no_file(tmp_path):
    write_json(tmp_path / "x.json", {"label": "half \ud83d"})
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == {"label": "half \ufffd"}


def test_leftovers_of_a_killed_writer_go_and_nothing_else(tmp_path):
    killed_writer(tmp_path / "x", "named")
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


HOLDER = """
import sys
from pathlib import Path
from heedful.storage import locked
with locked(Path(sys.argv[1]), busy=lambda: sys.exit("busy")):
    print("inside", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process, which holds the lock until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "inside\n"
    yield process
    process.kill()
    process.communicate()


def test_whoever_finds_a_lock_held_may_refuse(tmp_path: Path, holder):
    def refuse() -> None:
        raise BadInput("somebody is inside")

    with pytest.raises(BadInput, match="somebody is inside"), locked(tmp_path / "lock", busy=refuse):
        pytest.fail("two processes are inside")


def test_whoever_finds_a_lock_held_may_wait_and_a_killed_process_lets_go(tmp_path: Path, holder):
    waited = []

    def wait() -> None:
        waited.append(holder.poll())
        holder.kill()

    with locked(tmp_path / "lock", busy=wait):
        assert waited == [None]  # it was alive when it was found inside
    with locked(tmp_path / "lock", busy=lambda: pytest.fail("nobody is inside any more")):
        pass


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS])
def test_without_locks_work_goes_on(tmp_path: Path, monkeypatch, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with locked(tmp_path / "lock", busy=lambda: pytest.fail("nobody is inside")):
        done = True
    assert done


def test_a_lock_that_cannot_be_written_is_said(tmp_path: Path):
    with pytest.raises(BadInput, match="Cannot write"), locked(tmp_path, busy=lambda: None):
        pytest.fail("a folder is no lock")
