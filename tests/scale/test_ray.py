"""A real Ray cluster, in a network of its own that has no way out, loses a machine and gives the numbers of one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.scale.conftest import bits, leftovers

ALONE = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
"""Begins a program where there is no network but the machine's own."""
_ROOT = Path(__file__).parents[2]


@cache
def forbidden() -> str:
    """Why there can be no network of its own here; empty if there can."""
    for program in ("unshare", "ip"):
        if shutil.which(program) is None:
            return f"there is no {program} here"
    done = subprocess.run([*ALONE, "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"a network of its own is not allowed here ({done.stderr.strip()})"


@pytest.fixture
def alone():
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'heedful[ray]')")
    if why := forbidden():
        pytest.skip(why)
    paths = [str(Path(sys.modules["heedful"].__file__).parents[1]), str(_ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ALONE, sys.executable, *map(str, arguments)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_machine_that_is_lost_costs_the_piece_it_was_at(alone, spec, tmp_path):
    six = spec(grid={"seed": list(range(6))})
    done = alone(_ROOT / "tests/scale/ray_program.py", six, tmp_path / "cluster")
    assert (tmp_path / "cluster/outcome.json").is_file(), done.stderr[-3000:]
    said = json.loads((tmp_path / "cluster/outcome.json").read_text())
    assert said["killed"], "the machine was never at work"
    assert said["before"] in (1, 2)  # one that the lost machine did before, and one of the other's
    assert said["code"] == 0, done.stderr[-3000:]
    assert sum("done" in line for line in done.stderr.splitlines() if line.startswith("[")) == 6
    assert leftovers(tmp_path / "cluster/sweep") == leftovers(tmp_path / "cluster/runs") == []

    here = subprocess.run(
        [sys.executable, "-m", "heedful", "sweep", six, "--on", "here", "--runs", "here", "-o", "one"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert here.returncode == 0, here.stderr
    assert bits(tmp_path / "cluster/runs") == bits(Path("here"))
    assert len(bits(Path("here"))) == 12
    table = (tmp_path / "cluster/sweep/table.csv").read_text()
    assert table.replace(f"{tmp_path}/cluster/runs", "here") == Path("one/table.csv").read_text()
