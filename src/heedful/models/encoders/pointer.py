"""Encoder pointer, and which part of an encoder reads word after word."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.models.encoders.average import Average
from heedful.models.encoders.bilstm import BiLSTM
from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.recurrent import Recurrent


@ENCODERS.register(
    "pointer", "a BiLSTM points, the words themselves speak: no word carries another's evidence"
)
class Pointer(Average):
    """Attention scores the states of a BiLSTM; what is mixed and decoded is each word's own projection.

    A state that has read the whole text can say what another word said, and then its weight tells nothing of its own
    word. Here context decides how much a word counts, and never what it says.
    """

    contextual = True
    query_encoder = "bilstm"

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.context = BiLSTM(options, input_size)

    @property
    def key_size(self) -> int:
        """The size of a BiLSTM's state."""
        return self.context.size

    def keys(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens key_size"] | None:
        """Read the text in both directions."""
        h: Tensor = self.context(embedded, present)
        return h


def recurrent_part(encoder: nn.Module) -> Recurrent | None:
    """What of an encoder reads word after word, and is scored by attention: all of it, its context, or nothing."""
    if isinstance(encoder, Pointer):
        return encoder.context
    return encoder if isinstance(encoder, Recurrent) else None
