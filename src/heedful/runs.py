"""Run directories: everything needed to do a run again, written so that a kill at any moment loses little."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from heedful.errors import BadInput, did_you_mean
from heedful.intake.arguments import check_name
from heedful.intake.encodings import without_surrogates
from heedful.intake.json_text import read_json
from heedful.intake.yaml_text import read_yaml
from heedful.storage import locked, make_folder, remove_leftovers, write_bytes, write_json, write_text

_waits = False
_PACKAGES = ("heedful", "torch", "transformers", "tokenizers", "numpy", "safetensors", "scikit-learn")


def identity(values: dict[str, Any]) -> str:
    """Eight hexadecimal digits that change when any value does.

    >>> identity({"a": 1}) == identity({"a": 1}), identity({"a": 1}) == identity({"a": 2})
    (True, False)
    """
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Run:
    """One directory. It is complete when `metrics.json` is there, because that is written last."""

    folder: Path

    @property
    def name(self) -> str:
        """What people call it."""
        return self.folder.name

    @property
    def complete(self) -> bool:
        """Whether the run went to its end."""
        return (self.folder / "metrics.json").is_file()

    @property
    def checkpoint(self) -> Path:
        """Where an unfinished run keeps what it has."""
        return self.folder / "checkpoint.safetensors"

    def begin(self, config: dict[str, Any], *, seed: int, threads: int) -> None:
        """Write down what will be done and on what."""
        make_folder(self.folder)
        remove_leftovers(self.folder)
        write_text(self.folder / "config.yaml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
        write_json(self.folder / "environment.json", _environment(seed=seed, threads=threads))

    def end(self, metrics: dict[str, Any]) -> None:
        """Write the metrics, which completes the run."""
        write_json(self.folder / "metrics.json", metrics)
        self.tidy()

    def tidy(self) -> None:
        """Remove what a complete run no longer needs, also after a kill between its last write and its end."""
        with suppress(OSError):
            remove_leftovers(self.folder)
            self.checkpoint.unlink(missing_ok=True)

    def log(self, record: dict[str, Any]) -> None:
        """Add a record to the log, which is always whole lines."""
        path = self.folder / "log.jsonl"
        before = path.read_bytes() if path.is_file() else b""
        if before and not before.endswith(b"\n"):  # cut off by somebody else
            before += b"\n"
        write_bytes(path, before + (json.dumps({"time": round(time.time(), 3), **record}) + "\n").encode())

    def metrics(self) -> dict[str, Any]:
        """Read the metrics of a complete run."""
        found = _read(self.folder / "metrics.json", read_json)
        for key, kind in (("epoch", int), ("dev", dict), ("test", dict)):
            if not isinstance(found.get(key), kind):
                wrong = "no" if key not in found else "no proper"
                raise BadInput(
                    f"{self.folder / 'metrics.json'} is damaged ({wrong} {key}): delete the run and do it again."
                )
        return found

    def config(self) -> dict[str, Any]:
        """Read the resolved config."""
        return _read(self.folder / "config.yaml", read_yaml)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process; the lock goes when the process does, however it ends."""
        with locked(make_folder(self.folder) / ".lock", busy=self._refuse):
            yield

    def _refuse(self) -> None:
        if _waits:
            return
        raise BadInput(f"Another process is working on {self.folder}: wait for it or stop it.")


def wait_for_others() -> None:
    """From now on, where another process works on a run, wait for its end: that one does the same, as a part of the same work."""
    global _waits  # noqa: PLW0603 of the process, as the locks are
    _waits = True


def list_runs(root: Path) -> list[Run]:
    """All runs below a folder, newest last."""
    found = []
    for path in root.glob("*/config.yaml"):
        with suppress(OSError):  # gone since it was seen, or a link to nowhere
            found.append((path.stat().st_mtime, path.parent))
    return [Run(folder) for _, folder in sorted(found)]


def find_run(name: str | Path, *, runs: Path = Path("runs")) -> Path:
    """Give the folder that is meant by a path, by a run's name, or by the beginning of one run's name."""
    check_name(name)
    for folder in (Path(name).expanduser(), runs / name):
        if folder.is_dir():
            return folder
    named = str(name)
    names = [run.name for run in list_runs(runs)]
    begin = [found for found in names if named and found.startswith(named)]
    if len(begin) == 1:
        return runs / begin[0]
    if begin:
        raise BadInput(f"{len(begin)} runs begin with {named!r}: choose one of {', '.join(sorted(begin))}.")
    hint = did_you_mean(Path(name).name, names) if names else "train one with heedful train."
    raise BadInput(f"There is no run {named!r}: {hint}")


def _read(path: Path, read: Callable[[Path], Any]) -> dict[str, Any]:
    try:
        content = read(path)
    except FileNotFoundError:
        raise BadInput(
            f"{path.parent} is not a complete run ({path.name} is missing): heedful runs lists those there are."
        ) from None
    except (ValueError, OSError) as error:
        raise BadInput(f"{path} is damaged ({error}): delete the run and do it again.") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} is damaged: delete the run and do it again.")
    return content


def _environment(*, seed: int, threads: int) -> dict[str, Any]:
    versions: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": versions,
        "seed": seed,
        "threads": threads,
        "commit": _commit(),
        "command": [without_surrogates(word) for word in (Path(sys.argv[0]).name, *sys.argv[1:])],
    }


def _commit() -> str | None:
    """Name the commit heedful runs from, where it runs from a checkout."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
