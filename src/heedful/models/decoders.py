"""Decoders: one vector per head, and the query → logits."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.config import ModelOptions


class LinearDecoder(nn.Module):
    """Logits linear in the weights, which is what makes exact audits possible.

    With a query q, the logits are W[c; c∘q; q] + b: a context c and a query can be related to each other,
    and the logits stay linear in c, and so in the weights. A query of another size than c is projected first.
    """

    linear = True

    def __init__(self, options: ModelOptions, size: int, query_size: int | None, outputs: int) -> None:
        super().__init__()
        self.heads = options.heads
        features = options.heads * size
        self.match: nn.Module | None = None
        if query_size:
            self.match = nn.Identity() if query_size == size else nn.Linear(query_size, size, bias=False)
            features += options.heads * size + query_size
        self.output = nn.Linear(features, outputs)

    def forward(
        self, context: Float[Tensor, "batch heads size"], query: Float[Tensor, "batch query_size"] | None
    ) -> Float[Tensor, "batch outputs"]:
        """Decode one context per head."""
        features = context.flatten(-2)
        if query is not None and self.match is not None:
            related = context * self.match(query)[:, None, :]
            features = torch.cat([features, related.flatten(-2), query], dim=-1)
        logits: Tensor = self.output(features)
        return logits

    def slopes(
        self, h: Float[Tensor, "batch items size"], query: Float[Tensor, "batch query_size"] | None
    ) -> Float[Tensor, "batch heads items outputs"]:
        """How much each logit gains from weight on each item: Wh_i, and W(h_i∘q) where there is a query."""
        size, heads, weight = h.shape[-1], self.heads, self.output.weight
        each = heads * size
        gains = nn.functional.linear(h, weight[:, :each].reshape(-1, size))  # [batch, items, outputs · heads]
        if query is not None and self.match is not None:
            related = h * self.match(query)[:, None]
            gains = gains + nn.functional.linear(related, weight[:, each : 2 * each].reshape(-1, size))
        by_head: Tensor = gains.view(*gains.shape[:-1], -1, heads)
        return by_head.permute(0, 3, 1, 2)

    def for_query(
        self, query: Float[Tensor, "batch query_size"] | None
    ) -> tuple[Float[Tensor, "batch outputs features"], Float[Tensor, "batch outputs"]]:
        """Give weights and bias for contexts alone, of each query; once for all without queries."""
        weight, bias = self.output.weight[None], self.output.bias[None]
        if query is None or self.match is None:
            return weight, bias
        rows = self.output.in_features - query.shape[1]  # [c; c∘q], and q after them
        plain, related = weight[..., :rows].chunk(2, dim=-1)
        return plain + related * self.match(query).repeat(1, self.heads)[:, None], self.output(
            torch.cat([query.new_zeros(len(query), rows), query], dim=-1)
        )


class MLPDecoder(nn.Module):
    """Logits through one tanh layer over [c; q], as in Jain & Wallace's code for pairs and questions."""

    linear = False

    def __init__(self, options: ModelOptions, size: int, query_size: int | None, outputs: int) -> None:
        super().__init__()
        self.inner = nn.Linear(options.heads * size + (query_size or 0), options.decoder_hidden)
        self.output = nn.Linear(options.decoder_hidden, outputs)

    def forward(
        self, context: Float[Tensor, "batch heads size"], query: Float[Tensor, "batch query_size"] | None
    ) -> Float[Tensor, "batch outputs"]:
        """Decode one context per head."""
        features = context.flatten(-2)
        if query is not None:
            features = torch.cat([features, query], dim=-1)
        logits: Tensor = self.output(torch.tanh(self.inner(features)))
        return logits


DECODERS: dict[str, type[LinearDecoder | MLPDecoder]] = {"linear": LinearDecoder, "mlp": MLPDecoder}
