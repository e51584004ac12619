"""Encoder bilstm."""

from __future__ import annotations

from torch import nn

from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register("bilstm", "LSTM in both directions: the papers' contextual encoder")
class BiLSTM(Recurrent):
    """An LSTM in both directions."""

    cell, bidirectional = nn.LSTM, True
