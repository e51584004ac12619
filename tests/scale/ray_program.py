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
from typing import Any
from unittest.mock import patch

from tests.patience import PATIENCE, soon
from tests.scale import stopping_pieces
from tests.stopped_writes import GO, stopped_in

_STORE = 80 * 2**20
# Ray gives what it starts half a minute, which is short on a busy machine.
_PATIENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_agent_register_timeout_ms": str(PATIENCE * 1000),
    "RAY_worker_register_timeout_seconds": str(PATIENCE),
}


def of_machine(raylet: int, processes: set[int]) -> list[int]:
    """Those of the processes that belong to a machine of the cluster."""
    found = []
    for process in processes:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == raylet:
            found.append(process)
    return found


def run(spec: str, folder: Path) -> dict[str, object]:
    """Begin the sweep, take a machine away when it stands still in the midst of a piece, and wait for the end."""
    from ray._private import services
    from ray.cluster_utils import Cluster

    from heedful.cli.app import main

    still = folder / "still"
    still.mkdir(parents=True)
    os.environ[stopping_pieces.FOLDER] = str(still)
    get_node = services.get_node

    def patient(*arguments: Any) -> Any:
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.2)

    with (
        tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as temporary,
        patch.object(services, "get_node", patient),
        patch("heedful.scale.engines.ray_cluster.do_elsewhere", stopping_pieces.do_elsewhere),
        patch("heedful.scale.cluster_address._PATIENCE", float(PATIENCE)),
    ):
        # Else it would write the address of this cluster where Ray looks for the machine's own.
        os.environ["RAY_TMPDIR"] = temporary
        head = {"num_cpus": 1, "object_store_memory": _STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
        second = cluster.add_node(num_cpus=1, object_store_memory=_STORE)
        raylet = second.all_processes["raylet"][0].process.pid
        said: dict[str, object] = {"address": cluster.address, "killed": [], "before": -1}

        def kill() -> None:
            busy = soon(lambda: of_machine(raylet, stopped_in(still)))
            done = list(folder.glob("sweep/pieces/*.json"))
            cluster.remove_node(second, allow_graceful=False)
            said.update(killed=busy, before=len(done))
            (still / GO).touch()

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        arguments = ["sweep", spec, "--on", f"ray:{cluster.address}"]
        try:
            main([*arguments, "--runs", f"{folder}/runs", "-o", f"{folder}/sweep"])
        except SystemExit as left:
            said["code"] = left.code
        finally:
            cluster.shutdown()
    return said


if __name__ == "__main__":
    os.environ.update(_PATIENT)
    outcome = run(sys.argv[1], Path(sys.argv[2]))
    Path(sys.argv[2], "outcome.json").write_text(json.dumps(outcome))
