"""Encoder gru."""

from __future__ import annotations

from torch import nn

from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register("gru", "GRU, one direction")
class GRU(Recurrent):
    """A GRU that reads from left to right."""

    cell = nn.GRU
