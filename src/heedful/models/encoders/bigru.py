"""Encoder bigru."""

from __future__ import annotations

from torch import nn

from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register("bigru", "GRU in both directions, as in hierarchical attention networks")
class BiGRU(Recurrent):
    """A GRU in both directions."""

    cell, bidirectional = nn.GRU, True
