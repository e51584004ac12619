"""BERT's layers on sentences laid end to end: nothing is padded, and what depends on one token alone is computed once.

Sentences that an attack compares differ in a word. The first layer's queries, keys and values depend on a token and its
place, so that most of them are the same; weights are laid out once as the processor wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

Linear = Callable[[Tensor], Tensor]
_ROWS = 512
"""Tokens that are usually read together."""


class Bert:
    """Gives the mean of the last states of sentences; the same numbers as transformers' model, apart from rounding."""

    def __init__(self, bert: Any) -> None:
        self._embeddings, heads = bert.embeddings, int(bert.config.num_attention_heads)
        self._layers = [_Layer(layer, heads) for layer in bert.encoder.layer]

    @staticmethod
    def serves(model: Any) -> bool:
        """Whether this is BERT as it was published: absolute places, GELU, and no decoder."""
        config = model.config
        return (
            type(model).__name__ == "BertModel"
            and getattr(config, "position_embedding_type", "absolute") == "absolute"
            and config.hidden_act == "gelu"
            and not config.is_decoder
        )

    def __call__(self, sentences: Sequence[Sequence[int]]) -> Float[Tensor, "sentences size"]:
        """Encode token ids, which are sorted by how many there are."""
        sizes = [(many, len(list(some))) for many, some in groupby(map(len, sentences))]  # tokens, sentences
        ids = torch.tensor([token for sentence in sentences for token in sentence])
        places = torch.cat([torch.arange(tokens).repeat(many) for tokens, many in sizes])
        x, first = self._begin(ids, places)
        for number, layer in enumerate(self._layers):
            x = layer(x, layer.project(x) if number else first, sizes)
        cuts = [tokens * many for tokens, many in sizes]
        parts = zip(torch.split(x, cuts), sizes, strict=True)
        return torch.cat([part.view(many, tokens, -1).mean(1) for part, (tokens, many) in parts])

    def _begin(
        self, ids: Int[Tensor, " all"], places: Int[Tensor, " all"]
    ) -> tuple[Float[Tensor, "all size"], Float[Tensor, "all projected"]]:
        """Embed each token at each place once, and give it to the first layer's queries, keys and values."""
        e = self._embeddings
        longest = e.position_embeddings.num_embeddings
        distinct, of = torch.unique(ids * longest + places, return_inverse=True)
        words = e.word_embeddings.weight[distinct // longest] + e.token_type_embeddings.weight[0]
        x = e.LayerNorm(words + e.position_embeddings.weight[distinct % longest])
        return x[of], self._layers[0].project(x)[of]


class _Layer:
    def __init__(self, layer: Any, heads: int) -> None:
        own, self._heads = layer.attention.self, heads
        asks = (own.query, own.key, own.value)
        self.project = _packed(
            torch.cat([part.weight for part in asks]), torch.cat([part.bias for part in asks])
        )
        self._mix = _packed_layer(layer.attention.output.dense)
        self._mixed: nn.LayerNorm = layer.attention.output.LayerNorm
        self._widen = _packed_layer(layer.intermediate.dense)
        self._narrow = _packed_layer(layer.output.dense)
        self._ended: nn.LayerNorm = layer.output.LayerNorm

    def __call__(
        self,
        x: Float[Tensor, "all size"],
        projected: Float[Tensor, "all projected"],
        sizes: Sequence[tuple[int, int]],
    ) -> Float[Tensor, "all size"]:
        looked = []
        cuts = [tokens * many for tokens, many in sizes]
        for part, (tokens, many) in zip(torch.split(projected, cuts), sizes, strict=True):
            # [3, sentences, heads, tokens, size of a head]
            q, k, v = part.view(many, tokens, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(q, k, v)
            looked.append(seen.transpose(1, 2).reshape(many * tokens, -1))
        x = self._mixed(self._mix(torch.cat(looked)).add_(x))
        ended: Tensor = self._ended(self._narrow(functional.gelu(self._widen(x))).add_(x))
        return ended


def _packed_layer(layer: nn.Linear) -> Linear:
    return _packed(layer.weight, layer.bias)


def _packed(weight: Tensor, bias: Tensor) -> Linear:
    """Give a linear map whose weights are laid out beforehand, where this build of torch can do that: a tenth faster."""
    weight, bias = weight.detach().contiguous(), bias.detach().contiguous()

    def plain(x: Tensor) -> Tensor:
        return functional.linear(x, weight, bias)

    def packed(x: Tensor) -> Tensor:
        found: Tensor = torch.ops.mkldnn._linear_pointwise(x, ready, bias, "none", [], "")
        return found

    try:
        ready = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        packed(weight.new_zeros(1, weight.shape[1]))
    except (AttributeError, RuntimeError, TypeError):
        return plain
    return packed
