"""Writing files so that a reader never sees half of one, whatever happens to the writer.

A file is written where nobody sees it, flushed to the disk and then given its name. On Linux it has no name at all until then
(`O_TMPFILE`), so that a writer that is killed leaves nothing. Where the file system cannot do that, or a file is there that
must be replaced in one step, it is for a moment called `.partial-MACHINE-PROCESS-…`; what a killed process left so is removed by the
next that writes into the folder.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import secrets
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from heedful.errors import BadInput
from heedful.intake.encodings import without_surrogates

_TEMPORARY = ".partial-"
_DESCRIPTORS = Path("/proc/self/fd")
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
        handle = _unnamed(path.parent)
        if handle is None or not _filled(handle, content, lambda: _link(handle, path)):
            _write_named(path, content)
        _sync_folder(path.parent)


def _filled(handle: int, content: bytes, then: Callable[[], bool] = lambda: True) -> bool:
    """Write an open file to the disk; before it is closed, do what only an open file allows."""
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        if hasattr(os, "fchmod"):
            os.fchmod(handle, 0o644)
        os.fsync(handle)
        return then()


def _write_named(path: Path, content: bytes) -> None:
    temporary = _temporary(path.parent)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        _filled(os.open(temporary, flags, 0o644), content)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _unnamed(folder: Path) -> int | None:
    """Open a file without a name; None where the system has none, or could not name it later."""
    if not hasattr(os, "O_TMPFILE") or not _DESCRIPTORS.is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o644)
    except OSError:  # a file system without such files; whatever else it is comes again with a named one
        return None


def _link(handle: int, path: Path) -> bool:
    """Give a file without a name its name, in the place of an older file; False where files cannot be named so."""

    def name(new: Path) -> None:
        # Only with a descriptor, which an absolute path has no need of, does Python call what follows links.
        os.link(_DESCRIPTORS / str(handle), new, src_dir_fd=handle, follow_symlinks=True)

    try:
        name(path)
        return True
    except FileExistsError:
        temporary = _temporary(path.parent)
    except OSError:
        return False
    try:
        name(temporary)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return True


def _temporary(folder: Path) -> Path:
    """Choose a name that says whose it is, and remove those of this machine whose process is gone."""
    ours = f"{_TEMPORARY}{zlib.crc32(platform.node().encode()):08x}-"
    for leftover in folder.glob(f"{ours}*"):
        process = leftover.name.removeprefix(ours).partition("-")[0]
        if process.isdigit() and not _alive(int(process)):
            leftover.unlink(missing_ok=True)
    return folder / f"{ours}{os.getpid()}-{secrets.token_hex(8)}"


def _alive(process: int) -> bool:
    """Whether a process of this number may be at work, on this machine."""
    if os.name == "nt":
        return True  # nobody can be asked without harm
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def write_text(path: Path, content: str) -> None:
    """Write a UTF-8 text file atomically. What cannot be written is refused when it is read; this is for what slipped through."""
    write_bytes(path, without_surrogates(content).encode("utf-8"))


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
