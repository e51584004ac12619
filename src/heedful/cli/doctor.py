"""heedful doctor"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import typer

from heedful.cli.console import console
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid


class Check(NamedTuple):
    """One thing that is needed, or good to know."""

    name: str
    fine: bool
    found: str
    remedy: str = ""
    needed: bool = True


def doctor() -> None:
    """Check that this machine has what heedful needs, and say what to do if it has not.

    The exit code is 1 if something needed is missing.

    Example

      heedful doctor
    """
    rows: list[Row] = []
    failed = 0
    for check in _checks():
        failed += check.needed and not check.fine
        failing = Cell("✗", tone="bad") if check.needed else Cell("–", tone="unclear")
        mark = Cell("✓", tone="good") if check.fine else failing
        rows.append(
            [mark, Cell(check.name, tone="strong"), check.found + ("" if check.fine else f" {check.remedy}")]
        )
    console().print(grid(Table(["", "", ""], rows)))
    if failed:
        raise typer.Exit(1)


def _checks() -> Iterator[Check]:
    from heedful.data.corpora.sources import hub_installed
    from heedful.data.fetch.cache import cache_folder, data_folders

    python = platform.python_version()
    yield Check("Python", sys.version_info >= (3, 11), python, "heedful needs 3.11 or newer.")
    for package in ("torch", "transformers", "tokenizers", "polars", "scikit-learn", "entmax"):
        try:
            yield Check(package, True, version(package))
        except PackageNotFoundError:
            yield Check(package, False, "missing.", "Install with pip install heedful.")
    yield Check("cores", True, f"{os.cpu_count()}; one thread per process unless --threads says otherwise")
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    yield Check("disk", free > 1, f"{free:.1f} GiB free here.", "Runs and vectors need about one.")
    for name, folder in (("runs folder", Path("runs")), ("cache", cache_folder())):
        yield Check(
            name,
            _writable(folder),
            str(folder.resolve()),
            "cannot be written: choose another with --runs or HEEDFUL_CACHE.",
        )
    data = os.environ.get("HEEDFUL_DATA")
    there = data is not None and data_folders()[0].is_dir()
    yield Check(
        "HEEDFUL_DATA",
        there,
        str(data) if there else f"{data} is not a folder." if data else "not set.",
        "Point it at a folder of datasets if you have one.",
        needed=False,
    )
    yield Check(
        "hub",
        hub_installed(),
        "installed" if hub_installed() else "not installed.",
        "pip install 'heedful[hub]' for datasets from the hub.",
        needed=False,
    )


def _writable(folder: Path) -> bool:
    """Whether the folder, or the nearest parent that exists, takes new files; tried with a temporary file."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
