"""Runs where machines share no folder: made in a folder of this machine, and carried to the address when they are finished."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heedful.scale.store import Store

_LAST = "metrics.json"
"""Completes a run: carried last, so that no run at the address looks complete and is not."""
_STAYS = (".lock", "checkpoint.safetensors")


@contextmanager
def folder_of_runs(store: Store, *, scratch: Path) -> Iterator[Path]:
    """Give the folder to write runs into; what has changed in it is at the address afterwards."""
    if store.runs is not None:
        yield store.runs
        return
    here = scratch / hashlib.sha256(store.address.encode()).hexdigest()[:16]
    here.mkdir(parents=True, exist_ok=True)
    before = _seen(here)
    yield here
    changed = [path for path, state in _seen(here).items() if before.get(path) != state]
    for path in sorted(changed, key=lambda path: (path.name == _LAST, path)):
        with suppress(FileNotFoundError):  # another process tidied up
            store.write(f"runs/{path.relative_to(here).as_posix()}", path.read_bytes())


def _seen(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in _STAYS and not path.name.startswith(".partial-"):
            there = path.stat()
            found[path] = (there.st_size, there.st_mtime_ns)
    return found
