"""Doing one piece so that its numbers do not depend on where that is: one thread, and the caller's folder and settings."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from heedful.errors import BadInput, HeedfulError
from heedful.runs import wait_for_others
from heedful.scale.chosen import working_on
from heedful.scale.piece import Outcome, Piece, failed

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
_DECIDING = ("heedful", "torch", "numpy", "scipy")


@dataclass(frozen=True)
class Surroundings:
    """What a piece finds where it is done, as it was where it was given out."""

    folder: str
    settings: Mapping[str, str]
    """Settings of heedful's own, which are all in the environment."""

    @classmethod
    def ours(cls) -> Surroundings:
        """Take those of this process."""
        own = {name: value for name, value in os.environ.items() if name.startswith("HEEDFUL_")}
        return cls(os.getcwd(), own)  # noqa: PTH109 pathlib gives the same, as a path


def do_elsewhere(piece: Piece, surroundings: Surroundings) -> Outcome:
    """Do a piece in a process that does nothing else: it may wait for others that need the same run first."""
    os.environ.update(surroundings.settings)
    for name in _THREADS:
        os.environ[name] = "1"
    if Path(surroundings.folder).is_dir():
        os.chdir(surroundings.folder)
    elif not piece.apart:
        return failed(
            BadInput(
                f"{platform.node()} does not see {surroundings.folder}, where results belong: call heedful in a folder that all "
                "machines share, or sweep with an address as --output."
            )
        )
    wait_for_others()
    with working_on("here"):
        return do_here(piece)


def do_here(piece: Piece) -> Outcome:
    """Do a piece in this process; what goes wrong is part of the outcome."""
    begun = time.process_time()

    def about() -> dict[str, Any]:
        return {
            "seconds": round(time.process_time() - begun, 3),
            "place": f"{platform.node()} {os.getpid()}",
            "machine": machine(),
        }

    try:
        with one_thread():
            return Outcome(piece.do(piece.config), **about())
    except HeedfulError as error:
        return failed(error, **about())
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return failed("The disk is full: free some space and run the same command again.", **about())
        return _fault(error, about())
    except MemoryError:
        return failed("There is not enough memory for it: give smaller sizes, or fewer texts.", **about())
    except Exception as error:
        return _fault(error, about())


def _fault(error: Exception, about: dict[str, Any]) -> Outcome:
    told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Outcome(
        problem=f"This is an error in heedful ({told})", code=70, fault=traceback.format_exc(), **about
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and the libraries under numpy use one thread: sums over several have other last bits."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


@cache
def machine() -> str:
    """Name what numbers depend on besides config and seed: equal words, equal bits."""
    import torch

    found = [f"Python {sys.version_info.major}.{sys.version_info.minor}"]
    for package in _DECIDING:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join([*found, f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}"])
