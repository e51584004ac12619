"""The models that are explored: named once, loaded when somebody first asks, and asked one thing at a time."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from heedful.errors import did_you_mean
from heedful.explorer.faults import NotHere
from heedful.models.stages import Auditable, Stages
from heedful.runs import Run, list_runs

_LOADED = 6
"""Models that are kept in memory: the one that nobody asked for longest goes first."""


@dataclass
class Shelved:
    """A model by its name."""

    id: str
    """Its name in addresses."""
    named: str
    """What `heedful audit` would call it."""
    lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def folder(self) -> Path | None:
        """Its run, where it has one that is there."""
        path = Path(self.named).expanduser()
        return path if (path / "config.yaml").is_file() else None


@dataclass(frozen=True)
class Opened:
    """A model that is loaded, and its stages as audits read them."""

    classifier: Auditable
    stages: Stages


class Shelf:
    """Every model that was named, or every run of a folder."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        runs: Path,
        data: str | None = None,
        adapter: Path | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.runs, self.data = runs, data
        self._given: dict[str, Any] = {"adapter": adapter, "label_names": label_names}
        self._models: dict[str, Shelved] = {}
        for named in dict.fromkeys(names):
            self._add(named)
        self._loaded: OrderedDict[str, Opened] = OrderedDict()
        self._loading = RLock()

    def __iter__(self) -> Iterator[Shelved]:
        return iter(self._models.values())

    def find(self, name: str) -> Shelved:
        """Give a model by its name in addresses."""
        if name not in self._models:
            raise NotHere(f"There is no model {name!r} here: {did_you_mean(name, self._models)}")
        return self._models[name]

    def options(self) -> dict[str, Any]:
        """What `find_model` is told besides a model's name."""
        return {"runs": self.runs, "data": self.data, **self._given}

    @contextmanager
    def opened(self, name: str) -> Iterator[Opened]:
        """Hold a model for one question: its hooks and its random numbers serve one at a time."""
        import torch

        shelved = self.find(name)
        with shelved.lock:
            torch.set_num_threads(1)  # each thread of a server would take all cores otherwise
            yield self._open(shelved)

    @contextmanager
    def free(self, name: str) -> Iterator[bool]:
        """Hold a model if nobody asks it anything now, without waiting, and say whether it is held."""
        import torch

        lock = self.find(name).lock
        held = lock.acquire(blocking=False)
        try:
            torch.set_num_threads(1)
            yield held
        finally:
            if held:
                lock.release()

    def loaded(self) -> set[str]:
        """Which models are in memory."""
        with self._loading:
            return set(self._loaded)

    def home(self, name: str) -> Path | None:
        """The folder that a model's audits are kept in; a run need not be loaded for that."""
        shelved = self.find(name)
        if shelved.folder is not None:
            return shelved.folder
        with self.opened(name) as opened:
            return opened.classifier.home

    def _open(self, shelved: Shelved) -> Opened:
        from heedful.audits.subject.reading import as_audited
        from heedful.loading import find_model

        with self._loading:
            found = self._loaded.get(shelved.id)
            if found is not None:
                self._loaded.move_to_end(shelved.id)
                return found
        classifier = find_model(shelved.named, **self.options())
        opened = Opened(classifier, as_audited(classifier.model).eval())
        with self._loading:
            self._loaded[shelved.id] = opened
            while len(self._loaded) > _LOADED:
                self._loaded.popitem(last=False)
        return opened

    def _add(self, named: str) -> None:
        slug = (
            re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(named).name if "/" in named else named).strip("-.")
            or "model"
        )
        taken, number = slug, 2
        while taken in self._models:
            taken, number = f"{slug}-{number}", number + 1
        self._models[taken] = Shelved(taken, named)


def runs_in(folder: Path) -> list[str]:
    """Name the trained models of a folder of runs, the newest first."""
    return [str(run.folder) for run in reversed(list_runs(folder)) if _holds_model(run)]


def _holds_model(run: Run) -> bool:
    return run.complete and (run.folder / "model.json").is_file()
