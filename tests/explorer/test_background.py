"""Attacks and audits beside the pages: they end, they can be stopped, and after a kill they go on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from fastapi.testclient import TestClient
from tests.patience import PATIENCE, soon

from heedful.explorer import background
from heedful.explorer.application import make_application
from heedful.explorer.background import FOLDER
from heedful.explorer.naming import shelf_named
from heedful.explorer.work_record import AuditWork, keep, new_record

TOKEN, HERE = "a-token-for-tests", "http://127.0.0.1:8765"
SYNONYMS = "lovely dull slow grim\ngreat dull boring\nwarm slow\nfunny grim\ndull lovely\nslow great\ngrim warm\nboring funny\n"


def opened(runs: Any) -> TestClient:
    app = make_application(shelf_named([], runs=runs.folder), token=TOKEN, port=8765)
    return TestClient(app, base_url=HERE, headers={"authorization": f"Bearer {TOKEN}"})


def until(client: TestClient, work: str, *states: str) -> Any:
    found: Any = None

    def there() -> bool:
        nonlocal found
        found = client.get(f"/api/work/{work}").json()
        return found["work"]["state"] in states

    assert soon(there), found
    return found


def begin(client: TestClient, **asked: Any) -> Any:
    found = client.post("/api/work", json=asked)
    assert found.status_code == 201, found.text
    return found.json()


def test_an_attack_tells_every_step_and_its_outcome(own_runs: Any, tmp_path: Path) -> None:
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text(SYNONYMS, encoding="utf-8")
    asked = {
        "kind": "attack",
        "model": own_runs.plain,
        "text": "film 3 was lovely and great .",
        "recipe": "textfooler",
        "synonyms": str(synonyms),
        "similarity": False,
        "same_part_of_speech": False,
    }
    with opened(own_runs) as client:
        work = begin(client, **asked)
        assert begin(client, **asked)["id"] == work["id"]  # asked twice, begun once
        found = until(client, work["id"], "done", "failed")
        assert found["work"]["state"] == "done", found
        result = found["result"]
        first, *steps = result["steps"]
        assert first["text"] == result["original"] == "film 3 was lovely and great ."
        assert steps
        assert steps[-1]["queries"] == first["read"] + sum(step["read"] for step in steps)
        for step in result["steps"]:
            said = client.post(f"/api/models/{own_runs.plain}/read", json={"text": step["text"]}).json()
            index = result["labels"].index(result["label"])
            assert said["probabilities"][index] == pytest.approx(step["probability"], abs=1e-5)
            assert "".join(part for part, _ in step["parts"]) == step["text"]
        after = client.post(f"/api/models/{own_runs.plain}/read", json={"text": result["attacked"]}).json()
        assert (after["predicted"] != result["label"]) == (result["status"] == "successful")
        # What cannot be attacked is said in the same way, and the process goes on to the next.
        wrong = begin(client, kind="attack", model=own_runs.plain, text="good", recipe="nothing")
        assert "There is no attack named" in until(client, wrong["id"], "failed")["work"]["error"]
        lacking = begin(client, **asked | {"recipe": "bae", "language_model": str(tmp_path / "nowhere")})
        assert "nowhere" in until(client, lacking["id"], "failed")["work"]["error"]
    with opened(own_runs) as again:  # another explorer shows the same
        assert again.get(f"/api/work/{work['id']}").json()["result"] == result


def test_work_is_stopped_and_what_waits_is_never_begun(own_runs: Any) -> None:
    with opened(own_runs) as client:
        first = begin(client, kind="audit", model=own_runs.heads, quick=False)
        second = begin(client, kind="audit", model=own_runs.plain, quick=False)
        assert second["state"] == "waiting"
        assert client.delete(f"/api/work/{second['id']}").json()["state"] == "stopped"
        until(client, first["id"], "running")
        stopped = client.delete(f"/api/work/{first['id']}").json()
        assert stopped["state"] == "stopped"
        assert client.delete(f"/api/work/{first['id']}").json() == stopped
        third = begin(client, kind="audit", model=own_runs.plain, only=["sharpness"], quick=False)
        assert until(client, third["id"], "done", "failed")["work"]["state"] == "done"
        assert until(client, second["id"], "stopped")["result"] is None


def test_work_never_goes_to_a_process_that_was_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is slow to end took the next work with it, which then had failed."""
    context = MagicMock()  # its processes seem alive for ever
    context.Process.side_effect = lambda **_: MagicMock()
    context.Pipe.side_effect = lambda: (MagicMock(), MagicMock())
    monkeypatch.setattr(background, "get_context", lambda _: context)
    lane = background._Lane("audit", MagicMock())
    first = lane._open("one")
    process = lane._process
    assert lane._open("one") is first
    lane.interrupt("another")
    assert lane._process is process
    lane.interrupt("one")
    assert process is not None and process.terminate.called
    assert lane._open("two") is not first and lane._process is not process


def test_two_explorers_of_the_same_runs_know_of_each_other(own_runs: Any) -> None:
    """The second shows what the first is at, begins it no second time, and goes on with it when the first has ended."""
    asked = {"kind": "audit", "model": own_runs.heads, "quick": False}
    with opened(own_runs) as second:
        with opened(own_runs) as first:
            stopped, left = begin(first, **asked), begin(first, **asked | {"only": ["sharpness", "reach"]})
            assert second.get("/api/work").json() == []  # it looked when it began
            with opened(own_runs) as third:
                assert begin(third, **asked)["id"] == stopped["id"]
                refused = third.delete(f"/api/work/{stopped['id']}")
                assert refused.status_code == 409 and "Another explorer" in refused.json()["error"]
                assert first.delete(f"/api/work/{stopped['id']}").json()["state"] == "stopped"
                assert until(third, stopped["id"], "stopped")["work"]["state"] == "stopped"
        with opened(own_runs) as fourth:
            ended = until(fourth, left["id"], "done", "failed")["work"]
            assert ended["state"] == "done", ended["error"]


def test_an_explorer_goes_on_with_what_another_left(own_runs: Any) -> None:
    with opened(own_runs) as first:
        left = begin(first, kind="audit", model=own_runs.heads, quick=False)
        second = opened(own_runs)
        second.__enter__()
    try:
        assert until(second, left["id"], "running", "done")["work"]["state"] in ("running", "done")
        assert second.delete(f"/api/work/{left['id']}").status_code == 200
    finally:
        second.__exit__(None, None, None)


def test_records_of_long_ago_go_from_the_disk_too(own_runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heedful.explorer.background._KEPT", 2)
    with opened(own_runs) as client:
        names = []
        for number in range(4):
            work = begin(client, kind="attack", model=own_runs.plain, text=f"good {number}", recipe="nothing")
            until(client, work["id"], "failed")
            names.append(work["id"])
        shown = [work["id"] for work in client.get("/api/work").json()]
        assert shown == names[:1:-1]
        assert client.get(f"/api/work/{names[0]}").status_code == 404
        there = [path.name for path in (own_runs.folder / FOLDER).glob("*") if path.is_dir()]
        assert sorted(there) == sorted(shown)


def served(folder: Path, log: Path) -> tuple[subprocess.Popen[bytes], str, str]:
    command = [
        sys.executable,
        "-m",
        "heedful",
        "explore",
        "--runs",
        str(folder),
        "--port",
        "0",
        "--no-browser",
    ]
    process = subprocess.Popen(command, stdout=log.open("wb"), stderr=subprocess.STDOUT)

    def ready() -> bool:
        said = log.read_text()
        assert process.poll() is None, said
        return "Explorer: http" in said and said.endswith("\n")

    assert soon(ready), log.read_text()
    lines = log.read_text().splitlines()
    base, _, token = (
        next(line for line in lines if line.startswith("Explorer: ")).split()[1].partition("/?token=")
    )
    return process, base, token


def get(base: str, token: str, path: str) -> Any:
    asked = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        return json.load(answer)


def test_after_a_kill_the_next_explorer_goes_on_with_the_audit(own_runs: Any, tmp_path: Path) -> None:
    record = new_record(
        AuditWork(kind="audit", model=own_runs.plain, only=["permutation", "reach"], quick=False)
    )
    keep(record, own_runs.folder / FOLDER)  # as an explorer leaves it that was killed before it began
    process, base, token = served(own_runs.folder, tmp_path / "first.log")
    assert soon(lambda: get(base, token, f"/api/work/{record.id}")["work"]["state"] != "waiting")
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = json.loads((own_runs.folder / FOLDER / record.id / "work.json").read_text())
    process, base, token = served(own_runs.folder, tmp_path / "second.log")
    try:
        assert left["state"] in ("running", "done")

        def ended() -> Any:
            found = get(base, token, f"/api/work/{record.id}")
            return found if found["work"]["state"] in ("done", "failed") else None

        found = soon(ended)
        assert found and found["work"]["state"] == "done", found
        audits = get(base, token, f"/api/models/{own_runs.plain}/audits")
        assert found["result"]["audit"] in {audit["id"] for audit in audits}
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) in (0, 130)
    assert (tmp_path / "second.log").read_text().count("Traceback") == 0
    assert not _children(process.pid)


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(entry.parent.name))
    return found


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({}, 422, "kind"),
        ({"kind": "dance"}, 422, "attack"),
        ({"kind": "attack", "model": "nobody", "text": "good"}, 404, "no model"),
        ({"kind": "audit", "model": "nobody"}, 404, "no model"),
        ({"kind": "audit", "model": "nobody", "limit": 0}, 422, "limit"),
    ],
)
def test_what_cannot_be_begun_is_one_sentence(client: TestClient, asked: Any, status: int, says: str) -> None:
    found = client.post("/api/work", json=asked)
    assert (found.status_code, list(found.json())) == (status, ["error"])
    assert says in found.json()["error"]


def test_work_that_nobody_asked_for_is_not_here(client: TestClient) -> None:
    for name in ("nothing", "..", "20261118202359-e1119369"):
        assert client.get(f"/api/work/{name}").status_code == 404 or name == ".."
        assert client.delete(f"/api/work/{name}").status_code in (404, 405)
