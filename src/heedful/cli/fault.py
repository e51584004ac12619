"""An error of ours: one sentence on the screen, and a file with everything that whoever mends it needs."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from pathlib import Path

from heedful import __version__
from heedful.intake.encodings import without_surrogates


def report_fault(error: BaseException) -> Path | None:
    """Write the traceback of an error, the command and the versions to a file of its own; None if no file can be written."""
    lines = [
        f"heedful {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"time: {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        f"command: {' '.join(map(repr, sys.argv))}",
        f"folder: {_here()}",
        "",
        *_traceback(error),
    ]
    content = without_surrogates("\n".join(lines) + "\n").encode()
    for folder in (tempfile.gettempdir(), "."):
        try:
            handle, name = tempfile.mkstemp(prefix="heedful-error-", suffix=".txt", dir=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            return Path(name)
        except OSError:
            continue
    return None


def _traceback(error: BaseException) -> list[str]:
    try:
        return traceback.format_exception(error)
    except Exception as worse:  # an error whose own words cannot be made
        return [f"{type(error).__name__}, and no traceback ({type(worse).__name__})"]


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "gone"
