"""heedful as a program that stands still in the midst of writing, so that a test can kill it there, however fast the machine is.

python -m tests.stopped_writes sweep … is `heedful sweep …`. Each process counts what it does to files: half of a content written,
a complete file about to take the place of an older one. At the number in HEEDFUL_STOP_AT it leaves a file with its own number
in HEEDFUL_STOPPED, and waits to be killed, or for a file called go in that folder. Processes that are spawned import this module again, and stop alike.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.patience import soon

from heedful import storage

_ROOT = Path(__file__).parents[1]
GO = "go"


def install(number: int, folder: Path) -> None:
    """Stop at that step of this process."""
    steps = itertools.count(1)
    filled, replace = storage._filled, Path.replace

    def here() -> bool:
        return next(steps) == number

    def stop() -> None:
        (folder / str(os.getpid())).touch()
        while not (folder / GO).exists():
            time.sleep(0.02)

    def half(handle: int, content: bytes, *then: Any) -> bool:
        if here():
            os.write(handle, content[: len(content) // 2])
            stop()
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
        return filled(handle, content, *then)

    def nearly(path: Path, target: Any) -> Path:
        if here():
            stop()
        return replace(path, target)

    storage._filled, Path.replace = half, nearly  # type: ignore[method-assign]


def begin(arguments: list[object], *, at: int | None, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Begin a command that stops at that step, or never."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    ours = str(Path(sys.modules["heedful"].__file__ or "").parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([ours, str(_ROOT)])}
    if at is not None:
        environment |= {"HEEDFUL_STOP_AT": str(at), "HEEDFUL_STOPPED": str(folder)}
    with log.open("ab") as said:
        command = [sys.executable, "-m", "tests.stopped_writes", *map(str, arguments)]
        return subprocess.Popen(command, env=environment, stdout=said, stderr=said)


def stopped(process: subprocess.Popen[bytes], folder: Path, *, besides: Collection[int] = ()) -> int:
    """Wait until the command, or a process of its own, stands still, and give its number."""

    def still() -> set[int]:
        found = stopped_in(folder) - set(besides)
        assert found or process.poll() is None, "the command ended before it came to that step"
        return found

    return min(soon(still))


def stopped_in(folder: Path) -> set[int]:
    """The numbers of the processes that came to their step."""
    return {int(path.name) for path in folder.iterdir() if path.name != GO}


def gone(process: int) -> bool:
    """Whether a process ends, which it has to do soon."""
    return soon(lambda: _state(process) in ("", "Z"))


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


if "HEEDFUL_STOP_AT" in os.environ:
    install(int(os.environ["HEEDFUL_STOP_AT"]), Path(os.environ["HEEDFUL_STOPPED"]))

if __name__ == "__main__":
    from heedful.cli.app import main

    main(sys.argv[1:])
