"""Encoder rnn."""

from __future__ import annotations

from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register("rnn", "simple recurrent network, one direction")
class RNN(Recurrent):
    """A simple recurrent network."""
