"""Pieces in several processes of this machine. One that is killed costs the piece that it was at, which is done again."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread

from heedful.errors import BadInput
from heedful.progress import Watcher
from heedful.scale.engine import ENGINES, MOST_DEATHS, given_up
from heedful.scale.piece import Outcome, Piece, failed
from heedful.scale.worker import Surroundings, do_elsewhere, do_here

_MOST = 1024


@ENGINES.register("processes", "processes of this machine, as many as usable cores; processes:N for N")
class Processes:
    """As many processes as cores, each of which takes the next piece when it has done one."""

    spreads = True

    def __init__(self, after: str = "") -> None:
        if after and not (after.isdecimal() and 1 <= int(after[:9]) <= _MOST):
            raise BadInput(
                f"{after!r} is no number of processes: write processes:N, with N from 1 to {_MOST}."
            )
        self.count = int(after) if after else usable_cores()

    def run(self, pieces: Sequence[Piece], *, watcher: Watcher) -> Iterator[tuple[int, Outcome]]:
        """Do them as processes become free. A single piece stays in this process, and its own pieces may leave it."""
        if len(pieces) == 1:
            yield 0, do_here(pieces[0])
            return
        crew: list[_Worker] = []
        waiting, deaths = deque(range(len(pieces))), [0] * len(pieces)
        surroundings = Surroundings.ours()
        try:
            while waiting or any(worker.at is not None for worker in crew):
                while waiting and len(crew) < min(self.count, len(pieces)):
                    crew.append(_Worker())
                for worker in crew:
                    if worker.at is None and waiting:
                        place = waiting.popleft()
                        worker.give(place, pieces[place], surroundings)
                for worker in _ready(crew):
                    if worker.at is None:  # it died with nothing to do
                        crew.remove(worker)
                        continue
                    place, outcome = worker.at, worker.take()
                    if outcome is not None:
                        yield place, outcome
                        continue
                    crew.remove(worker)
                    deaths[place] += 1
                    if deaths[place] < MOST_DEATHS:
                        waiting.appendleft(place)
                    else:
                        yield place, failed(f"{given_up()}.")
        finally:
            for worker in crew:
                worker.end()


class _Worker:
    """A process, and the place of the piece that it is at."""

    def __init__(self) -> None:
        # A fresh process: a forked copy of one that used torch's threads may hang.
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs,))
        self.process.start()
        theirs.close()
        self.at: int | None = None

    def give(self, place: int, piece: Piece, surroundings: Surroundings) -> None:
        self.at = place
        with suppress(OSError):  # it is gone, which is seen when its outcome is asked for
            self.connection.send((piece, surroundings))

    def take(self) -> Outcome | None:
        """Give its outcome; None if it died over it."""
        try:
            found: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return None
        self.at = None
        return found

    def end(self) -> None:
        """Kill it: whatever it has finished is in its files, and half of a file is never seen."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def usable_cores() -> int:
    """Count the cores this process may run on, which a container or `taskset` may have made fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ready(crew: Sequence[_Worker]) -> list[_Worker]:
    """Wait until one of them has an outcome, or is dead."""
    by_source = {source: w for w in crew for source in (w.connection, w.process.sentinel)}
    return list(dict.fromkeys(by_source[source] for source in wait(list(by_source))))  # type: ignore[index]


def _serve(connection: Connection) -> None:
    """Do pieces until there are no more. Ctrl-C is for the process that gives them out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    while True:
        try:
            piece, surroundings = connection.recv()
        except EOFError:
            return
        connection.send(do_elsewhere(piece, surroundings))


def _end_with_parent() -> None:
    """End when the parent is gone, however it ended: a process left over would keep its run locked."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
