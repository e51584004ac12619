"""The process that does long work: it can be stopped at any moment, and the pages stay quick meanwhile.

Whatever it measures it keeps on the disk as the commands do, so that a stop loses little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from heedful.errors import HeedfulError
from heedful.explorer.work_record import AttackWork, AuditWork
from heedful.models.stages import Auditable
from heedful.progress import Advance, Update

_EVERY = 0.1  # seconds between two reports


def work_until_told(connection: Connection) -> None:
    """Do one piece of work after another; the last model stays in memory for the next."""
    _end_with_parent()
    import torch

    torch.set_num_threads(1)
    loaded: tuple[Any, Auditable] | None = None
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            wanted = (task["named"], task["options"])
            if loaded is None or loaded[0] != wanted:
                loaded = (wanted, _load(*wanted, connection))
            connection.send(("done", _do(task["asked"], loaded[1], task, connection)))
        except HeedfulError as error:
            connection.send(("failed", str(error)))
        except MemoryError:
            connection.send(("failed", "There is not enough memory: ask for fewer texts."))
        except Exception as error:
            connection.send(("broken", f"{type(error).__name__}: {error}"[:500]))


def _load(named: str, options: dict[str, Any], connection: Connection) -> Auditable:
    from heedful.loading import find_model

    connection.send(("doing", {"doing": "Loading the model"}))
    return find_model(named, **options)


def _do(
    asked: AttackWork | AuditWork, classifier: Auditable, task: dict[str, Any], connection: Connection
) -> dict[str, Any]:
    watcher = Reporter(connection)
    if isinstance(asked, AttackWork):
        from heedful.explorer.attack_steps import attack_text

        return attack_text(classifier, asked, watcher)
    return _audit(classifier, asked, task["options"]["data"], watcher)


def _audit(classifier: Auditable, asked: AuditWork, data: str | None, watcher: Reporter) -> dict[str, Any]:
    """Audit as the command does, with the comparison of explainers and the report."""
    from heedful.audits.running.compare_explainers import compare_explainers
    from heedful.audits.running.run import audit
    from heedful.models.stages import Opaque
    from heedful.reports import write_report
    from heedful.reports.material import Material

    options: dict[str, Any] = {"quick": asked.quick, **({"limit": asked.limit} if asked.limit else {})}
    result = audit(classifier, data, only=asked.only, keep=True, watcher=watcher, **options)
    whole = asked.only is None and not isinstance(classifier.model, Opaque)
    if whole and result.verdict.verdict != "show":
        compare_explainers(result, classifier, data, watcher=watcher, **options)
    assert result.folder is not None
    with watcher.status("Writing the report"):
        write_report([Material.read(result.folder)], result.folder / "report.html")
    return {
        "audit": result.folder.name,
        "verdict": "findings, not a verdict" if result.verdict.partial else result.verdict.verdict,
    }


class Reporter:
    """A watcher that tells the explorer, not more often than a reader can see."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._told = 0.0

    def say(self, line: str, *, good: str = "") -> None:
        """Pass a sentence on."""
        self._connection.send(("said", f"{line} {good}".strip()))

    @contextmanager
    def status(self, doing: str) -> Iterator[Update]:
        """Pass on what is being done."""

        def update(now: str) -> None:
            self._connection.send(("doing", {"doing": now}))

        update(doing)
        yield update

    @contextmanager
    def bar(self, title: str, total: int, *, unit: str = "texts", note: str = "") -> Iterator[Advance]:
        """Pass on how far it is."""
        done = 0

        def tell() -> None:
            self._connection.send(("doing", {"doing": title, "done": done, "total": total, "unit": unit}))

        def advance(more: int = 1, /, note: str = "") -> None:
            nonlocal done
            done += more
            if time.monotonic() - self._told > _EVERY:
                self._told = time.monotonic()
                tell()

        tell()
        yield advance
        tell()


def _end_with_parent() -> None:
    """End when the explorer is gone, however it ended: what it was at begins again with the next."""
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()
