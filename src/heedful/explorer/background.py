"""Long work beside the pages: attacks in one process, audits in another, one at a time, each can be stopped.

Records are kept beside the runs. What was under way when an explorer ended, however it ended, goes on in the next one, or in
another that is open on the same runs; an explorer that is still at it holds a lock.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Condition, Thread
from typing import Any

from filelock import FileLock, Timeout

from heedful.errors import HeedfulError
from heedful.explorer.faults import NotHere
from heedful.explorer.shelf import Shelf
from heedful.explorer.work_record import (
    RESULT,
    AttackWork,
    AuditWork,
    WorkProgress,
    WorkRecord,
    keep,
    new_record,
    read_record,
    read_records,
    read_result,
)
from heedful.storage import make_folder, write_json

FOLDER = ".explorer"
_MOST_WAITING, _SAID = 50, 20
_KEPT = 200
"""Records that are kept; the oldest that are over go first."""


class Background:
    """Everything that runs, waits or ran beside the pages."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf, self._folder = shelf, shelf.runs / FOLDER
        self._records: dict[str, WorkRecord] = {}
        self._ours: set[str] = set()
        """What is not over and is done here; of the rest another explorer knows more."""
        self._changed = Condition()
        self._lanes = {kind: _Lane(kind, self) for kind in ("attack", "audit")}
        self._lock = FileLock(self._folder / ".lock", thread_local=False)
        self._closed = False

    def begin(self) -> None:
        """Find what was under way when the last explorer ended, and go on with it."""
        if not self._folder.is_dir():
            return
        with self._changed:
            self._records = {record.id: record for record in read_records(self._folder)}
            self._look_around()

    def ask(self, asked: AttackWork | AuditWork) -> WorkRecord:
        """Put work in line; what is waiting or running already is not begun twice."""
        self._shelf.find(asked.model)
        with self._changed:
            self._look_around()
            for record in self._records.values():
                if not record.over and record.asked == asked:
                    return record
            if sum(not record.over for record in self._records.values()) >= _MOST_WAITING:
                raise HeedfulError(f"{_MOST_WAITING} pieces of work are waiting already: wait, or stop some.")
            if not self._folder.is_dir():
                make_folder(self._folder)
            self._hold()
            record = new_record(asked)
            self._records[record.id] = record
            keep(record, self._folder)
            self._line_up(record)
            return record.model_copy(deep=True)

    def all(self) -> list[WorkRecord]:
        """Give all records, the newest first."""
        with self._changed:
            self._look_around()
            return [record.model_copy(deep=True) for record in reversed(self._records.values())]

    def find(self, name: str) -> WorkRecord:
        """Give a record by its name."""
        with self._changed:
            if name not in self._records:
                raise NotHere("There is no such work here: it may be of another folder of runs.")
            self._look_around()
            return self._records[name].model_copy(deep=True)

    def result(self, name: str) -> dict[str, Any] | None:
        """What came of it; None while it is not done."""
        record = self.find(name)
        return read_result(record, self._folder) if record.state == "done" else None

    def stop(self, name: str) -> WorkRecord:
        """Stop work that waits or runs; what it finished stays."""
        with self._changed:
            self.find(name)
            record = self._records[name]
            if not record.over:
                if name not in self._ours:
                    raise HeedfulError("Another explorer of these runs is at it: stop it there.")
                self._end(record, "stopped", "Stopped. What was finished is kept.")
                self._lanes[record.asked.kind].interrupt(name)
            return record.model_copy(deep=True)

    def close(self) -> None:
        """End all processes; what was under way goes on in the next explorer."""
        self._closed = True
        for lane in self._lanes.values():
            lane.close()
        self._lock.release()

    def task_of(self, name: str) -> dict[str, Any] | None:
        """Take work that waits, to be done now; None if it was stopped meanwhile."""
        with self._changed:
            record = self._records.get(name)
            if record is None or record.state != "waiting":
                return None
            record.state = "running"
            record.progress = WorkProgress(doing="Beginning")
            keep(record, self._folder)
            shelved = self._shelf.find(record.asked.model)
            return {"asked": record.asked, "named": shelved.named, "options": self._shelf.options()}

    def told(self, name: str, kind: str, content: Any, seconds: float) -> bool:
        """Take in what the process says; True if that was its last word on this work."""
        with self._changed:
            record = self._records.get(name)
            if record is None or record.over or self._closed:
                return True
            record.seconds = round(seconds, 1)
            if kind == "doing":
                record.progress = WorkProgress(**content, said=record.progress.said)
            elif kind == "said":
                record.progress.said = [*record.progress.said, str(content)][-_SAID:]
            elif kind == "done":
                write_json(self._folder / record.id / RESULT, content)
                self._end(record, "done")
            else:
                ours = f"This is an error in heedful, not yours ({content})."
                self._end(record, "failed", ours if kind == "broken" else str(content))
            return record.over

    def _hold(self) -> bool:
        """Let other explorers of the same runs know that this one is at it; False where another is."""
        if not self._lock.is_locked:
            with suppress(Timeout, OSError):  # some network file systems have no locks
                self._lock.acquire(timeout=0)
        return self._lock.is_locked

    def _look_around(self) -> None:
        """See how far another explorer of the same runs is, and take over what it left when it ended."""
        others = [r for r in self._records.values() if not r.over and r.id not in self._ours]
        if not others:
            return
        alone = self._hold()
        for known in others:
            record = read_record(self._folder, known.id) or known
            self._records[record.id] = record
            if record.over or not alone:
                continue
            if record.asked.model in {model.id for model in self._shelf}:
                record.state = "waiting"
                self._line_up(record)
            else:
                self._end(record, "stopped", "The model is not among those that are explored now.")

    def _line_up(self, record: WorkRecord) -> None:
        self._ours.add(record.id)
        self._lanes[record.asked.kind].add(record.id)

    def _end(self, record: WorkRecord, state: Any, error: str = "") -> None:
        record.state, record.error = state, error
        keep(record, self._folder)
        self._ours.discard(record.id)
        over = [name for name, other in self._records.items() if other.over]
        for name in over[: max(0, len(over) - _KEPT)]:
            del self._records[name]
            shutil.rmtree(self._folder / name, ignore_errors=True)


class _Lane:
    """One process, and what waits for it."""

    def __init__(self, kind: str, background: Background) -> None:
        self._background = background
        self._waiting: deque[str] = deque()
        self._ready = Condition()
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._now: str | None = None
        self._closed = False
        self._thread = Thread(target=self._run, name=f"heedful-{kind}", daemon=True)

    def add(self, name: str) -> None:
        with self._ready:
            self._waiting.append(name)
            if not self._thread.is_alive():
                self._thread.start()
            self._ready.notify()

    def interrupt(self, name: str) -> None:
        """End the process if it is at this work; the next begins with a new one."""
        with self._ready:
            if self._now == name and self._process is not None:
                self._process.terminate()
                # It may seem alive for a while, and what it said last may lie in the pipe: neither is for the next work.
                self._process, self._pipe = None, None

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify()
            if self._process is not None:
                self._process.terminate()
                self._process.join(5)
                if self._process.is_alive():
                    self._process.kill()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                name = self._waiting.popleft()
            task = self._background.task_of(name)
            if task is not None:
                self._do(name, task)

    def _do(self, name: str, task: dict[str, Any]) -> None:
        begun = time.monotonic()
        tell: Callable[[str, Any], bool] = lambda kind, content: self._background.told(  # noqa: E731
            name, kind, content, time.monotonic() - begun
        )
        try:
            pipe = self._open(name)
            pipe.send(task)
            while not tell(*pipe.recv()):
                pass
        except (EOFError, OSError, BrokenPipeError):  # stopped, or killed by somebody else
            self._forget()
            tell("failed", "The process that did this was ended from outside: begin again, and it goes on.")
        finally:
            with self._ready:
                self._now = None

    def _open(self, name: str) -> Connection:
        from heedful.explorer.worker import work_until_told

        with self._ready:
            self._now = name
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                context = get_context("spawn")
                self._pipe, theirs = context.Pipe()
                # No daemon: some audits train in processes of their own.
                self._process = context.Process(target=work_until_told, args=(theirs,))
                self._process.start()
                theirs.close()
            return self._pipe

    def _forget(self) -> None:
        with self._ready:
            if self._process is not None:
                self._process.join(5)
            self._process, self._pipe = None, None
