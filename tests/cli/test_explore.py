"""heedful explore: it says what it needs, and where it listens."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

from tests.patience import PATIENCE, soon


def test_help_names_its_options(run) -> None:
    found = run("explore", "--help")
    assert found.code == 0
    assert "--port" in found.out
    assert "--no-browser" in found.out


def test_a_run_that_is_not_there(run, trained) -> None:
    found = run("explore", "nothing", "--runs", trained.parent, "--port", 0, "--no-browser")
    assert found.code == 2
    assert "There is no run 'nothing'" in found.err
    assert not (trained.parent / ".explorer").exists()


def test_no_runs_at_all(run) -> None:
    found = run("explore", "--port", 0)
    assert found.code == 2
    assert "heedful train" in found.err


def test_a_port_that_is_taken(run, trained) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = run("explore", trained, "--port", taken.getsockname()[1])
    assert found.code == 2
    assert "--port 0" in found.err


def test_a_folder_of_numbers_that_is_not_there(run, trained) -> None:
    assert "--measured" in run("explore", trained, "--measured", "nowhere").err


def test_without_the_packages_it_says_what_to_install(run, trained, monkeypatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "heedful.cli.explore.find_spec", lambda name: None if name == "uvicorn" else real(name)
    )
    found = run("explore", trained)
    assert found.code == 2
    assert "heedful[explore]" in found.err


def test_it_prints_the_port_it_got_answers_there_and_ends_quietly(trained, tmp_path) -> None:
    log = tmp_path / "said"
    command = [sys.executable, "-m", "heedful", "explore", str(trained), "--port", "0", "--no-browser"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:

        def address() -> re.Match[str] | None:
            said = log.read_text()
            assert process.poll() is None, said
            return re.search(r"Explorer: http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", said)

        found = soon(address)
        assert found
        port, token = int(found[1]), found[2]
        assert port > 0
        assert len(token) >= 32
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/models?token={token}", timeout=PATIENCE
        ) as answer:
            assert [model["id"] for model in json.load(answer)] == [trained.name]
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/models", timeout=PATIENCE)
        except urllib.error.HTTPError as refused:
            assert refused.code == 403
        else:
            raise AssertionError("answered without the token")
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)
    assert code in (0, 130)
    assert "Traceback" not in log.read_text()
