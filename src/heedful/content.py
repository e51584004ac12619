"""What files and models are known by: what they hold, wherever they stand and whatever they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

_MODEL_FILES = {".json", ".txt", ".model", ".safetensors", ".bin", ".npz", ".npy"}
"""What a model is read from: settings, words, weights. Other files, such as a page about it, change nothing."""


def by_content(values: Mapping[str, Any], names: Iterable[str], *, folders: bool = True) -> dict[str, Any]:
    """Put a digest of what it holds in the place of every option that names a file, or the folder of a model."""
    found = dict(values)
    for name in names:
        if isinstance(value := values.get(name), str) and value:
            path = Path(value).expanduser()
            if path.is_file() or (folders and path.is_dir()):
                found[name] = digest(path)
    return found


def digest(path: Path) -> str:
    """Hash a file, or a model's folder: the files that it is read from, by their names. What has not changed is read once."""
    if path.is_file():
        return _file_digest(path)
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        if (
            file.suffix in _MODEL_FILES
            and file.is_file()
            and not any(p.startswith(".") for p in inside.parts)
        ):
            total.update(f"{inside.as_posix()}\0{_file_digest(file)}\n".encode())
    return total.hexdigest()


def _file_digest(path: Path) -> str:
    there = path.stat()
    return _read(path.resolve(), there.st_size, there.st_mtime_ns, there.st_ctime_ns)


@lru_cache(maxsize=1024)
def _read(path: Path, size: int, modified: int, changed: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
