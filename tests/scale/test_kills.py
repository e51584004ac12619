"""Kill what gives out the work, or what does it, again and again: nothing is lost, nothing is left over, and the bits are the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scale.conftest import bits, leftovers
from tests.stopped_writes import begin, gone, stopped

PIECES, STEPS = 7, 11
"""A piece takes eleven steps of writing: config, environment, log, checkpoint, words, weights, …, and the line of the sweep."""
ROUNDS = ((1, False), (16, False), (3, True), (5, False), (8, True))
"""At which step each process stops, and whether a process that does pieces is killed before the one that gives them out."""


def sweep(spec: Path, folder: Path, at: int | None = None) -> subprocess.Popen[bytes]:
    arguments = ["sweep", spec, "--on", "processes:2", "--runs", folder / "runs", "-o", folder / "sweep"]
    return begin(arguments, at=at, folder=folder / "stopped", log=folder.with_suffix(".log"))


def finished(folder: Path) -> dict[str, int]:
    """The pieces that are done, and when their entries were written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "sweep/pieces").glob("*.json")}


def children(process: int) -> set[int]:
    """The processes that do pieces, if any are there."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return {int(child) for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}


def killed(driver: subprocess.Popen[bytes], folder: Path, *, worker_first: bool) -> None:
    """Kill one that stands still in the midst of a piece, then another that took its place, with what gave them work."""
    at = folder / "stopped"
    still = stopped(driver, at)
    if worker_first:
        before = children(driver.pid)
        assert still in before
        os.kill(still, signal.SIGKILL)
        stopped(driver, at, besides=before)
    workers = children(driver.pid)
    assert driver.poll() is None
    driver.kill()
    driver.wait()
    assert all(gone(worker) for worker in workers), "a process was left over"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc to look into")
def test_killed_drivers_and_workers_lose_nothing(spec, tmp_path):
    # However the processes share the pieces, enough is left to do that they come to the step of each round.
    most = [at * (3 if worker_first else 2) for at, worker_first in ROUNDS[1:]]
    assert PIECES * STEPS - sum(most) >= 0
    small, wild = spec(grid={"seed": list(range(PIECES))}), tmp_path / "wild"
    for at, worker_first in ROUNDS:
        before = finished(wild)
        killed(sweep(small, wild, at), wild, worker_first=worker_first)
        assert before.items() <= finished(wild).items(), "a finished piece was lost, or done again"
    before = finished(wild)
    assert 0 < len(before) < PIECES
    assert sweep(small, wild).wait() == 0, (tmp_path / "wild.log").read_text()
    assert before.items() <= finished(wild).items()
    killed(
        sweep(small, wild, 3), wild, worker_first=False
    )  # in the midst of the last table, with nothing left to do
    assert sweep(small, wild).wait() == 0
    assert len(finished(wild)) == PIECES

    here = ["sweep", small, "--on", "here", "--runs", "calm/runs", "-o", "calm/sweep"]
    calm = subprocess.run(
        [sys.executable, "-m", "heedful", *map(str, here)], capture_output=True, check=False
    )
    assert calm.returncode == 0, calm.stderr
    assert bits(wild / "runs") == bits(tmp_path / "calm/runs")
    assert len(bits(wild / "runs")) == 2 * PIECES
    assert leftovers(wild) == []
    whole = (wild / "sweep/table.csv").read_text()
    assert whole.replace(f"{wild}/", "calm/") == (tmp_path / "calm/sweep/table.csv").read_text()
