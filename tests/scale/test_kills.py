"""Kill what gives out the work, or what does it, again and again: nothing is lost, nothing is left over, and the bits are the same."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.scale.conftest import bits, leftovers

PIECES, KILLS = 6, 4


def sweep(spec: Path, folder: Path, on: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    with (folder.parent / f"{folder.name}.log").open("ab") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "heedful",
                "sweep",
                str(spec),
                "--on",
                on,
                "--runs",
                str(folder / "runs"),
                "-o",
                str(folder / "sweep"),
            ],
            stderr=log,
            stdout=log,
        )


def done(folder: Path) -> int:
    return len(list((folder / "sweep/pieces").glob("*.json")))


def seconds_of_a_piece(folder: Path) -> float:
    """How long one took after another."""
    ends = [piece.stat().st_mtime for piece in (folder / "sweep/pieces").glob("*.json")]
    return (max(ends) - min(ends)) / (PIECES - 1)


def children(process: int) -> list[int]:
    """The processes that do pieces, if any are there."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [child for child in map(int, text.split()) if b"spawn_main" in command(child)]


def command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
def test_killed_drivers_and_workers_lose_nothing(spec, tmp_path):
    small, chance = spec(grid={"seed": list(range(PIECES))}), random.Random(0)
    calm = sweep(small, tmp_path / "calm", "here")
    assert calm.wait() == 0, (tmp_path / "calm.log").read_text()
    wild, kills, moment = tmp_path / "wild", 0, seconds_of_a_piece(tmp_path / "calm") / 4
    while True:
        before, driver = done(wild), sweep(small, wild, "processes:2")
        workers: set[int] = set()
        # Kill in the middle: when one more piece is done, and a moment later that is too short for the rest of them.
        while driver.poll() is None and done(wild) <= before:
            workers |= set(children(driver.pid))
            time.sleep(0.01)
        time.sleep(moment * chance.random())
        if driver.poll() is not None or kills >= KILLS:
            break
        mine = children(driver.pid)
        if mine and kills % 2 == 0:
            os.kill(chance.choice(mine), signal.SIGKILL)
            kills += 1
            time.sleep(moment * chance.random())
        workers |= set(children(driver.pid))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        kills += 1
        ends = time.monotonic() + 60
        while any(b"spawn_main" in command(worker) for worker in workers):
            assert time.monotonic() < ends, "a process was left over"
            time.sleep(0.05)
        assert done(wild) > before, "a finished piece was lost"
    assert driver.wait() == 0, (tmp_path / "wild.log").read_text()
    assert kills >= 2
    assert done(wild) == PIECES
    assert bits(wild / "runs") == bits(tmp_path / "calm/runs")
    assert leftovers(wild) == []
    whole = [(folder / "sweep/table.csv").read_text() for folder in (wild, tmp_path / "calm")]
    assert whole[0].replace("wild", "calm") == whole[1]
