"""A Ray cluster of two machines of one core each, on this one; a sweep on it, in the middle of which one machine is lost.

Run in a network of its own: python ray_program.py SPEC FOLDER. It writes what happened into outcome.json of FOLDER.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

_STORE = 80 * 2**20


def at_work(raylet: int) -> list[int]:
    """Processes of a machine that do a piece now: Ray gives them the name of what they do."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                doing = (path / "cmdline").read_bytes().startswith(b"ray::do_elsewhere")
                parent = int((path / "stat").read_bytes().rpartition(b")")[2].split()[1])
            except OSError:
                continue
            if doing and parent == raylet:
                found.append(int(path.name))
    return found


def run(spec: str, folder: str) -> dict[str, object]:
    """Begin the sweep, take a machine away as soon as it is at work, and wait for the end."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from heedful.cli.app import main

    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        head = {
            "num_cpus": 1,
            "object_store_memory": _STORE,
            "include_dashboard": False,
            "temp_dir": temporary,
        }
        cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
        second = cluster.add_node(num_cpus=1, object_store_memory=_STORE)
        raylet = second.all_processes["raylet"][0].process.pid
        said: dict[str, object] = {"address": cluster.address, "killed": [], "before": -1}

        def kill() -> None:
            while not (busy := at_work(raylet)):
                time.sleep(0.02)
            done = list(Path(folder).glob("sweep/pieces/*.json"))
            cluster.remove_node(second, allow_graceful=False)
            said.update(killed=busy, before=len(done))

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        try:
            main(
                [
                    "sweep",
                    spec,
                    "--on",
                    f"ray:{cluster.address}",
                    "--runs",
                    f"{folder}/runs",
                    "-o",
                    f"{folder}/sweep",
                ]
            )
        except SystemExit as left:
            said["code"] = left.code
        finally:
            killer.join(timeout=5)
            cluster.shutdown()
    return said


if __name__ == "__main__":
    outcome = run(*sys.argv[1:])
    Path(sys.argv[2], "outcome.json").write_text(json.dumps(outcome))
