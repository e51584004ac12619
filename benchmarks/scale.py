"""A sweep of 40 small runs on one machine of a Ray cluster and on two, in one run: how much sooner, and the same bits.

Both machines are this one, with a core each, in a network of its own (unshare). What Ray needs to start, and each worker to
import torch, comes before the clock. Needs two free cores: on a busy machine the ratio says how busy it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS, REPEATS, AIM = 40, 3, 0.65
_SPEC = """\
command: train
options: {dataset: mock_1, epochs: 2, limit: 400, hidden: 16, embedding_size: 16}
grid: {seed: [%s]}
"""
_STORE = 80 * 2**20


def sweep(folder: Path, address: str, runs: int) -> float:
    """Do a sweep afresh, and give its seconds."""
    from heedful.cli.app import main

    folder.mkdir(parents=True)
    spec = folder / "spec.yaml"
    spec.write_text(_SPEC % ", ".join(map(str, range(runs))))
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(
            [
                "sweep",
                str(spec),
                "--on",
                f"ray:{address}",
                "--runs",
                str(folder / "runs"),
                "-o",
                str(folder / "sweep"),
            ]
        )
    seconds = time.perf_counter() - begun
    if len(list((folder / "runs").glob("*/metrics.json"))) != runs:
        sys.exit("The sweep was not finished.")
    return seconds


def weights(folder: Path) -> list[str]:
    """Give digests of all weights."""
    paths = sorted((folder / "runs").glob("*/model.safetensors"))
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def measure() -> None:
    """Time both, with everything started and imported before."""
    import ray
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "work"
        # Else it would write the address of this cluster where Ray looks for the machine's own.
        os.environ["RAY_TMPDIR"] = temporary
        head = {"num_cpus": 1, "object_store_memory": _STORE, "include_dashboard": False}
        ratios = []
        for repeat in range(REPEATS):
            cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            here = folder / str(repeat)
            sweep(here / "warm-1", cluster.address, 2)
            one = sweep(here / "one", cluster.address, RUNS)
            cluster.add_node(num_cpus=1, object_store_memory=_STORE)
            cluster.wait_for_nodes()
            sweep(here / "warm-2", cluster.address, 8)
            two = sweep(here / "two", cluster.address, RUNS)
            ray.shutdown()
            cluster.shutdown()
            if weights(here / "one") != weights(here / "two"):
                sys.exit("The bits are not the same.")
            ratios.append(two / one)
            print(
                f"{RUNS} runs: one machine {one:.1f} s, two {two:.1f} s, ratio {two / one:.2f}; the same bits",
                flush=True,
            )
        middle = sorted(ratios)[len(ratios) // 2]
        print(f"median ratio {middle:.2f} (aim: at most {AIM})")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure()
    else:
        alone = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        settings = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        try:
            allowed = subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0
        except OSError:
            allowed = False
        if not allowed:
            sys.exit("A network of its own is not allowed here (unshare): nothing was measured.")
        done = subprocess.run([*alone, sys.executable, __file__, "here"], env=settings, check=False)
        sys.exit(done.returncode)
