"""Pieces on a Ray cluster. Ray sees which processes and machines are lost, and what they were at is done again elsewhere."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from heedful.errors import BadInput, HeedfulError
from heedful.progress import Watcher
from heedful.scale.cluster_address import check_reachable
from heedful.scale.engine import ENGINES, MOST_DEATHS, given_up
from heedful.scale.engines.processes import usable_cores
from heedful.scale.piece import Outcome, Piece, failed
from heedful.scale.worker import Surroundings, do_elsewhere

_AHEAD = 4
"""Pieces that are handed to Ray for each core: enough that no core waits, and new machines find some."""
_LOOK = 1.0
"""Seconds between two looks at the cluster."""
_STORE = 100 * 2**20
"""Bytes of shared memory of a cluster of this machine alone; results go to files, so that little passes through it."""


@ENGINES.register(
    "ray", "a Ray cluster: ray:HOST:PORT, ray:auto for the one of this machine, or ray to start one here"
)
class RayCluster:
    """A task for each piece, on one core."""

    spreads = True

    def __init__(self, after: str = "") -> None:
        self.address = after or os.environ.get("RAY_ADDRESS") or "local"
        self.ray = _import_ray()
        if self.address not in ("local", "auto"):
            check_reachable(self.address)

    def run(self, pieces: Sequence[Piece], *, watcher: Watcher) -> Iterator[tuple[int, Outcome]]:
        """Hand out pieces, a few more than there are cores."""
        if not pieces:
            return
        ray, surroundings = self.ray, Surroundings.ours()
        with self._connected():
            task = ray.remote(num_cpus=1, max_retries=MOST_DEATHS - 1)(do_elsewhere)
            waiting, under_way = deque(range(len(pieces))), dict[Any, int]()
            told = False
            while waiting or under_way:
                cores = int(ray.cluster_resources().get("CPU", 0))
                if not cores and not told:
                    watcher.say("No machine of the Ray cluster has a core: waiting until one joins.")
                told = not cores
                while waiting and len(under_way) < _AHEAD * max(1, cores):
                    place = waiting.popleft()
                    under_way[task.remote(pieces[place], surroundings)] = place
                ready, _ = ray.wait(list(under_way), num_returns=1, timeout=_LOOK)
                for reference in ready:
                    yield under_way.pop(reference), self._taken(reference)

    def _taken(self, reference: Any) -> Outcome:
        errors = self.ray.exceptions
        try:
            found: Outcome = self.ray.get(reference)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError):
            return failed(f"{given_up()}.")
        except errors.RayError as error:
            told = " ".join(str(error).split())[-300:]
            if "No module named" in told:
                return failed(
                    BadInput(
                        f"A machine of the cluster lacks what a piece needs ({told[told.index('No module') :]}): install "
                        "the same heedful on all of them."
                    )
                )
            return failed(f"Ray could not do it ({told}).")
        return found

    @contextmanager
    def _connected(self) -> Iterator[None]:
        ray = self.ray
        if ray.is_initialized():  # by the program that we are a part of, and whose cluster it is
            yield
            return
        own = self.address == "local"
        alone = {"num_cpus": usable_cores(), "include_dashboard": False, "object_store_memory": _STORE}
        try:
            ray.init(
                address=self.address,
                log_to_driver=False,
                logging_level="ERROR",
                **(alone if own else {}),
            )
        except Exception as error:  # Ray raises whatever it met, plain exceptions too
            told = " ".join(str(error).split())[:200]
            where = "on this machine" if own or self.address == "auto" else f"at {self.address}"
            raise _refused(own, where, told) from error
        try:
            yield
        finally:
            ray.shutdown()


def _refused(own: bool, where: str, told: str) -> HeedfulError:
    """Say that Ray would not have us, and what to do."""
    if own:
        return HeedfulError(f"Ray could not be started {where} ({told}).")
    return BadInput(
        f"No Ray cluster takes this process in {where} ({told}): run heedful on a machine of the cluster, of the same "
        "versions of Python and Ray (ray start --head on the first, ray start --address HOST:PORT on the others)."
    )


def _import_ray() -> Any:
    """Import Ray, which is told first to report nothing to anybody."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about the future
    try:
        import ray
    except ImportError as error:
        raise BadInput(
            f"Ray is not installed ({error}): pip install 'heedful[ray]', or choose another place with --on."
        ) from None
    return ray
