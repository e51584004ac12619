"""Pieces that stand still in the midst of writing: the second one of every process, until a test lets them go on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.stopped_writes import install

from heedful.scale import worker
from heedful.scale.piece import Outcome, Piece
from heedful.scale.worker import Surroundings

FOLDER, STEP = "HEEDFUL_STILL", 16
"""A piece takes eleven steps."""


def do_elsewhere(piece: Piece, surroundings: Surroundings) -> Outcome:
    """Do a piece as the engine would."""
    _stopping(surroundings.settings[FOLDER])
    return worker.do_elsewhere(piece, surroundings)


@cache
def _stopping(folder: str) -> None:
    install(STEP, Path(folder))
