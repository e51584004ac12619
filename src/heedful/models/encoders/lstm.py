"""Encoder lstm."""

from __future__ import annotations

from torch import nn

from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register("lstm", "LSTM, one direction")
class LSTM(Recurrent):
    """An LSTM that reads from left to right."""

    cell = nn.LSTM
