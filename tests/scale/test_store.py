"""Results in a folder and at an address: whole or not at all, and refused in a sentence where they cannot be kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heedful.errors import BadInput
from heedful.scale.carried import folder_of_runs
from heedful.scale.piece import Outcome
from heedful.scale.store import AddressStore, FolderStore, store_at
from heedful.scale.sweeps.grid import SweptPiece
from heedful.scale.sweeps.ledger import Ledger, seconds_left


@pytest.fixture(params=["folder", "address"])
def store(request, tmp_path):
    where = tmp_path / "kept"
    return store_at(str(where) if request.param == "folder" else f"local://{where}", runs=tmp_path / "runs")


def test_what_is_written_is_read(store):
    assert store.read("a/b.json") is None
    assert store.names("a") == []
    store.write("a/b.json", b"one")
    store.write("a/b.json", b"two")
    store.write("a/c.json", b"")
    assert store.read("a/b.json") == b"two"
    assert store.names("a") == ["b.json", "c.json"]
    store.remove("a/c.json")
    store.remove("a/c.json")
    assert store.names("a") == ["b.json"]


def test_what_a_killed_writer_left_is_removed(store, tmp_path):
    store.write("pieces/x.json", b"{}")
    (tmp_path / "kept/pieces/.partial-00000000-1-abc").write_bytes(b"half")
    with store.alone():
        assert store.names("pieces") == ["x.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    store = AddressStore(f"local://{tmp_path}/kept")
    store.write("a.json", b"whole")
    monkeypatch.setattr(store.files, "mv", lambda *paths: (_ for _ in ()).throw(OSError("gone")))
    with pytest.raises(BadInput, match=r"cannot be written .gone."):
        store.write("a.json", b"other")
    assert store.read("a.json") == b"whole"


def test_which_kind_an_address_is(tmp_path):
    assert isinstance(store_at("runs/x", runs=tmp_path), FolderStore)
    assert isinstance(store_at(f"file://{tmp_path}", runs=tmp_path), FolderStore)
    assert isinstance(store_at("memory://x", runs=tmp_path), AddressStore)


@pytest.mark.parametrize("address", ["nosuch://bucket/x", "://x"])
def test_an_address_that_nothing_knows(address, tmp_path):
    with pytest.raises(BadInput, match="cannot be opened"):
        store_at(address, runs=tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = store_at(str(tmp_path / "file" / "kept"), runs=tmp_path)
    with pytest.raises(BadInput, match="Cannot write"), store.alone():
        pass


def test_only_one_process_at_a_time(tmp_path):
    store = FolderStore(tmp_path / "kept", tmp_path)
    assert store.busy is False
    with store.alone():
        assert store.busy is True
        with pytest.raises(BadInput, match="Another process is working on"), store.alone():
            pass
    assert store.busy is False


def test_runs_are_carried_and_what_completes_them_goes_last(tmp_path, monkeypatch):
    store = AddressStore(f"local://{tmp_path}/kept")
    written: list[str] = []
    write = store.write
    monkeypatch.setattr(store, "write", lambda name, content: (written.append(name), write(name, content)))
    for _ in range(2):
        with folder_of_runs(store, scratch=tmp_path / "scratch") as runs:
            (runs / "one").mkdir(exist_ok=True)
            if not written:
                (runs / "one/metrics.json").write_text("{}")
                (runs / "one/model.safetensors").write_text("w")
                (runs / "one/.lock").touch()
    assert written == ["runs/one/model.safetensors", "runs/one/metrics.json"]
    assert store.read("runs/one/metrics.json") == b"{}"


def test_in_a_folder_runs_stay_where_they_are(tmp_path):
    with folder_of_runs(FolderStore(tmp_path / "kept", tmp_path / "runs"), scratch=tmp_path / "s") as runs:
        assert runs == tmp_path / "runs"
    assert not (tmp_path / "s").exists()


def test_a_damaged_entry_is_none(store):
    ledger, piece = Ledger(store), SweptPiece("one", "train", {"seed": 1}, {}, "k1")
    config = {"key": "k1", "name": "one", "options": {"seed": 1}}
    ledger.put(config, Outcome({"f1": 0.5}, seconds=2.0, place="here 1", machine="m"))
    entry = ledger.entries([piece])["k1"]
    assert (entry.row, entry.problem, entry.seconds) == ({"f1": 0.5}, "", 2.0)
    for damage in (b"", b"{", b"[]", b'{"name": 1}', b"\xff"):
        store.write("pieces/k1.json", damage)
        assert ledger.entries([piece]) == {}


def test_the_pace_of_the_last_pieces(store):
    ledger = Ledger(store)
    entry = ledger.put({"key": "a", "name": "a", "options": {}}, Outcome({}))
    times = [entry.model_copy(update={"finished": float(second)}) for second in (10, 12, 14)]
    assert seconds_left(times, todo=5) == pytest.approx(10)
    assert seconds_left(times[:1], todo=5) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(BadInput, match="Cannot write"), store_at(str(closed / "x"), runs=Path()).alone():
        pass
