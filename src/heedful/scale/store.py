"""Where results are shared between machines: a folder that all of them see, or an address that fsspec knows.

A file is there whole or not at all, in both. In a folder `storage` sees to that. Elsewhere it is written under another
name and then given its own; what a killed writer left under the other name is removed by the next that begins.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from heedful.errors import BadInput
from heedful.storage import disk_errors, locked, make_folder, remove_leftovers, write_bytes

_PARTIAL = ".partial-"
_LOCK = ".lock"


class Store(Protocol):
    """Files by their names, which may have folders in them."""

    @property
    def address(self) -> str:
        """What the user calls it."""

    @property
    def runs(self) -> Path | None:
        """Where runs may be written straight away; None where they must be carried there."""

    def read(self, name: str) -> bytes | None:
        """Give what a file holds; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all."""

    def names(self, folder: str) -> list[str]:
        """Name the files of a folder, in order."""

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""

    @property
    def busy(self) -> bool | None:
        """Whether somebody is at work here; None where nobody can tell."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep others out, as far as that is possible, and tidy up after those that were killed."""


def store_at(address: str, *, runs: Path) -> Store:
    """Open a folder or an address; nothing is written yet."""
    kind, found, after = address.partition("://")
    if not found:
        return FolderStore(Path(address).expanduser(), runs)
    if kind == "file":
        return FolderStore(Path(after), runs)
    if not (kind and after):
        raise BadInput(
            f"{address!r} cannot be opened: write a folder, or an address such as s3://bucket/folder."
        )
    return AddressStore(address)


class FolderStore:
    """A folder, on this machine or on a file system that all machines share."""

    def __init__(self, folder: Path, runs: Path) -> None:
        self.folder, self.address = folder, str(folder)
        self.runs: Path | None = runs

    def read(self, name: str) -> bytes | None:
        """Give what a file holds."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(
                f"Cannot read {self.folder / name} ({(error.strerror or str(error)).lower()})."
            ) from error

    def write(self, name: str, content: bytes) -> None:
        """Write it by the rules of `storage`."""
        write_bytes(self.folder / name, content)

    def names(self, folder: str) -> list[str]:
        """Name its files."""
        here = self.folder / folder
        return sorted(path.name for path in here.iterdir()) if here.is_dir() else []

    def remove(self, name: str) -> None:
        """Take it away."""
        with disk_errors(self.folder / name):
            (self.folder / name).unlink(missing_ok=True)

    @property
    def busy(self) -> bool | None:
        """Whether a process holds the lock."""
        from filelock import FileLock, Timeout

        if not (self.folder / _LOCK).exists():
            return False
        lock = FileLock(self.folder / _LOCK)
        try:
            with lock.acquire(timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder for this process."""
        with locked(make_folder(self.folder) / _LOCK, busy=self._refuse):
            for folder in (self.folder, *(path for path in self.folder.iterdir() if path.is_dir())):
                remove_leftovers(folder)
            yield

    def _refuse(self) -> None:
        raise BadInput(f"Another process is working on {self.folder}: wait for it, or ask it with --status.")


class AddressStore:
    """An address such as s3://bucket/folder, read and written through fsspec."""

    runs: Path | None = None

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        with self._said("opened"):
            from fsspec.core import url_to_fs

            self.files, self.root = url_to_fs(self.address, **self._fresh())

    def read(self, name: str) -> bytes | None:
        """Give what a file holds."""
        with self._said("read"):
            try:
                found: bytes = self.files.cat_file(self._path(name))
            except FileNotFoundError:
                return None
            return found

    def write(self, name: str, content: bytes) -> None:
        """Write it under another name, then give it its own."""
        path = self._path(name)
        folder, _, last = path.rpartition("/")
        partial = f"{folder}/{_PARTIAL}{secrets.token_hex(8)}-{last}"
        with self._said("written"):
            self.files.makedirs(folder, exist_ok=True)
            self.files.pipe_file(partial, content)
            self.files.mv(partial, path)

    def names(self, folder: str) -> list[str]:
        """Name its files."""
        with self._said("read"):
            self.files.invalidate_cache()
            try:
                found = self.files.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                return []
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in found)

    def remove(self, name: str) -> None:
        """Take it away."""
        with self._said("written"), contextlib.suppress(FileNotFoundError):
            self.files.rm_file(self._path(name))

    @property
    def busy(self) -> bool | None:
        """There are no locks."""
        return None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Tidy up; two who work here at once do some pieces twice, with the same outcome."""
        for folder in ("", "pieces"):
            for name in self.names(folder):
                if name.startswith(_PARTIAL):
                    self.remove(f"{folder}/{name}" if folder else name)
        yield

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else str(self.root)

    @staticmethod
    def _fresh() -> dict[str, Any]:
        return {"use_listings_cache": False}

    @contextlib.contextmanager
    def _said(self, done: str) -> Iterator[None]:
        """Turn whatever a library of storage raises into one sentence."""
        try:
            yield
        except BadInput:
            raise
        except ImportError as error:
            raise BadInput(f"{self.address} cannot be {done} ({error}): install what it names.") from None
        except Exception as error:  # every kind of storage has errors of its own
            told = " ".join(f"{error or type(error).__name__}".split())[:200].rstrip(".")
            raise BadInput(
                f"{self.address} cannot be {done} ({told}): check the address, and that this machine may use it."
            ) from error
