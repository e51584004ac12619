"""Word masks: how much of a word's embedding is let through, decided by the word alone (Chen & Ji, 2020; FLAT)."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from heedful.config import ModelOptions

_TINY = 1e-12


class WordMask(nn.Module):
    """A mask W of 0 or 1 for every word, with P(W = 1) from a network on the word's embedding.

    FLAT calls the network single-layer: one tanh layer, as wide as an embedding (300 in the authors' code), below one
    logit. Two logits and a softmax, as in their code, are the same family.

    In training W is drawn by the Gumbel-softmax trick with τ = 1, straight through: 0 or 1 forwards, the gradient of
    its soft form backwards. The difference of two Gumbel variables is a logistic one, so that one draw does for both
    logits. At inference W is its expectation: nothing is drawn, and the same text gives the same numbers.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner = nn.Linear(size, size)
        self.output = nn.Linear(size, 1)

    def logits(self, embedded: Float[Tensor, "*tokens dim"]) -> Float[Tensor, "*tokens"]:
        """Log-odds of a word being let through; without dropout, so that equal words have equal ones."""
        logits: Tensor = self.output(torch.tanh(self.inner(embedded)))[..., 0]
        return logits

    def expected(
        self, embedded: Float[Tensor, "*tokens dim"], ids: Int[Tensor, "*tokens"]
    ) -> Float[Tensor, "*tokens"]:
        """φ: the probability of a word being let through."""
        return self.logits(embedded).sigmoid()

    def forward(
        self, embedded: Float[Tensor, "*tokens dim"], ids: Int[Tensor, "*tokens"]
    ) -> Float[Tensor, "*tokens"]:
        """Draw masks in training; give their expectation otherwise."""
        logits = self.logits(embedded)
        return straight_through(logits) if self.training else logits.sigmoid()


class GroupMask(nn.Module):
    """One learnt number for each group of similar words, 1 at first: the trivial case that FLAT is compared with (Table 10)."""

    groups: Int[Tensor, " vocabulary"]

    def __init__(self, words: int, groups: int) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.ones(groups + 1))
        # The group of every word; those that no vector is known of are group 0.
        self.register_buffer("groups", torch.zeros(words, dtype=torch.long))

    def expected(
        self, embedded: Float[Tensor, "*tokens dim"], ids: Int[Tensor, "*tokens"]
    ) -> Float[Tensor, "*tokens"]:
        """The number of each word's group."""
        return self.values[self.groups[ids]]

    def forward(
        self, embedded: Float[Tensor, "*tokens dim"], ids: Int[Tensor, "*tokens"]
    ) -> Float[Tensor, "*tokens"]:
        """The same in training: nothing is drawn."""
        return self.expected(embedded, ids)


def build_mask(options: ModelOptions, table: nn.Module) -> WordMask | GroupMask | None:
    """Make the masks that a model is to have on its table of words."""
    if options.word_mask == "none":
        return None
    assert isinstance(table, nn.Embedding)
    if options.word_mask == "group":
        return GroupMask(table.num_embeddings, options.mask_groups)
    return WordMask(table.embedding_dim)


def straight_through(logits: Float[Tensor, "*tokens"]) -> Float[Tensor, "*tokens"]:
    """Draw 0 or 1 with these log-odds; the gradient is that of σ(logit + logistic noise)."""
    uniform = torch.rand_like(logits).clamp(min=_TINY)
    soft = torch.sigmoid(logits + uniform.log() - (-uniform).log1p())
    return (soft > 0.5).to(soft.dtype) + (soft - soft.detach())  # in this order: exactly 0 or 1


def entropy(logits: Float[Tensor, "*tokens"]) -> Float[Tensor, "*tokens"]:
    """H(W) in nats of a mask with these log-odds: −p ln p − (1 − p) ln(1 − p), without a logarithm of 0.

    >>> entropy(torch.tensor([0.0, 800.0]))
    tensor([0.6931, 0.0000])
    """
    size = logits.abs()
    return nn.functional.softplus(-size) + size * torch.sigmoid(-size)
