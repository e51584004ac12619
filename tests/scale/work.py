"""Pieces for tests, in a module of their own that processes can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from heedful.errors import BadInput


def square(config: Mapping[str, Any]) -> list[Any]:
    """Square a number, and tell what is seen of the surroundings."""
    return [config["x"] ** 2, str(Path.cwd()), os.environ.get("HEEDFUL_TEST"), torch.get_num_threads()]


def product(config: Mapping[str, Any]) -> str:
    """A sum of many numbers, whose last bits depend on how many threads add them."""
    drawn = torch.randn(400, 400, generator=torch.Generator().manual_seed(config["x"]))
    return float((drawn @ drawn).sum()).hex()


def dies(config: Mapping[str, Any]) -> int:
    """Kill the process that does it, as often as it is told to; a file for each death counts them."""
    folder = Path(config["folder"])
    deaths = len(list(folder.iterdir()))
    if deaths < config["times"]:
        (folder / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return deaths


def refuses(config: Mapping[str, Any]) -> None:
    """Be of no use."""
    raise BadInput(f"There is no {config['x']}: give one.")


def breaks(config: Mapping[str, Any]) -> None:
    """Be an error of ours."""
    raise KeyError("nothing")


def waits(config: Mapping[str, Any]) -> float:
    """Take a while, as work does that uses no core."""
    (Path(config["folder"]) / f"{config['x']}.began").touch()
    time.sleep(config["seconds"])
    (Path(config["folder"]) / f"{config['x']}.ended").touch()
    return config["x"]
