"""Writing files so that a reader never sees half of one, whatever happens to the writer."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from heedful.errors import BadInput

_TEMPORARY = ".partial-"
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one sentence about `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise BadInput(
                f"The disk is full: {path} was not written. Free some space and run the same command again."
            ) from error
        reason = (error.strerror or str(error)).lower()
        raise BadInput(
            f"Cannot write {path} ({reason}): choose another folder or fix its permissions."
        ) from error


def make_folder(path: Path) -> Path:
    """Create a folder and its parents, or say in one sentence why that is impossible."""
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def folder_for(path: Path, *, lock: str) -> Iterator[Path]:
    """Create a folder for what is done inside; where that fails before anything is written, leave none behind.

    Parents that were created for it go too. A file by the name `lock` does not count as written.
    """
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    make_folder(path)
    try:
        yield path
    except BaseException:
        if {file.name for file in path.iterdir()} <= {lock}:
            with contextlib.suppress(OSError):  # another process may have written meanwhile
                (path / lock).unlink(missing_ok=True)
                for folder in new:
                    folder.rmdir()
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: temporary file, fsync, rename."""
    make_folder(path.parent)
    with disk_errors(path):
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(path.parent)


def write_text(path: Path, content: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically, keys in the order given, so that equal content is equal bytes."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files that a killed writer left behind."""
    for leftover in folder.glob(_TEMPORARY + "*"):
        leftover.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, *, busy: Callable[[], None]) -> Iterator[None]:
    """Let one process at a time in; the lock goes when the process does, however it ends.

    `busy` is called where another process is inside: it raises, or returns to wait for that one's end. Some network
    file systems have no locks. There two processes may do the same work, and renames still keep every file whole.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    with disk_errors(path):
        try:
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0)
            if not lock.is_locked:
                busy()
                lock.acquire()
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
    try:
        yield
    finally:
        lock.release()


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable."""
    if os.name == "nt":  # Windows does not open folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
