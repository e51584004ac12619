"""Adversarial training on word embeddings along directions to other words (Sato et al., 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from heedful.config import ObjectiveOptions, Times
from heedful.data.fetch.offline import quick_to_give_up
from heedful.data.instances import Instances
from heedful.models.encoders.transformer import TransformerEncoder
from heedful.models.model import AttentionModel
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.perturbed import CleanPass, PerturbedWords

_NUMBERS = 2**22  # held at a time, 16 megabytes: similarities of words, or directions of tokens
_FLAT = 1e-12  # gradients have length one: less than this along the directions is rounding


class WordIATOptions(ObjectiveOptions):
    """Options of this objective only."""

    neighbours: Times = Field(15, description="Nearest words towards which a word is moved (word_iat).")


@OBJECTIVES.register(
    "word_iat", "adversarial training of the embeddings, along directions to each word's nearest words (Sato)"
)
class WordIAT(PerturbedWords):
    """r_t = Σ_j α_tj d_tj with d_tj the unit vector from word t to its j-th nearest word, α = ε · g / ‖g‖₂.

    g_tj = ∂loss/∂α_tj at 0, that is, the gradient along d_tj; the norm is over a whole text. Nearest words are those of
    the training texts by cosine, found at the start of each epoch, or once where embeddings are not trained.
    """

    options = (*PerturbedWords.options, "neighbours")
    config: WordIATOptions
    # as strong as word_at's 1 (sst2: loss .44 → .63, accuracy .82 → .75)
    defaults: ClassVar = {"radius": 2.0}

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Collect the words of the training texts; only they are moved, and only towards real words."""
        tokens = splits["train"].tokens
        ids = tokens.ids if tokens.word_of is None else tokens.ids[tokens.word_of >= 0]
        words = np.unique(ids)
        self.words = torch.from_numpy(words).long()
        self.targets = torch.from_numpy(np.setdiff1d(words, special_words(self.model))).long()
        self.nearest: Int[Tensor, "words neighbours"] | None = None

    def begin_epoch(self, epoch: int) -> None:
        """Find the nearest words, again where their embeddings have moved."""
        table = embedding_table(self.model)
        if self.nearest is None or table.requires_grad:
            self.nearest = nearest_words(table.detach(), self.words, self.targets, self.config.neighbours)

    def perturbation(self, clean: CleanPass) -> Float[Tensor, "batch tokens dim"]:
        """Go uphill along the directions to other words as far as allowed."""
        assert self.nearest is not None
        mask = clean.batch.tokens.mask
        text = mask.nonzero()[:, 0]  # of each token
        slope, embedded = clean.slope()[mask], clean.at.detach()[mask]  # [all tokens, dim]
        near = self.nearest[clean.batch.tokens.ids[mask]]
        moves, squares = towards(slope, embedded, near, embedding_table(self.model).detach())
        # α has length one over a text: Σ_tj g_tj² is summed over its tokens.
        total = squares.new_zeros(len(mask)).index_add(0, text, squares)
        length = self.lengths(clean)[:, 0, 0] / total.sqrt().clamp(min=_FLAT)
        return torch.zeros_like(clean.at).masked_scatter(clean.mask, moves * length[text, None])


def towards(
    slope: Float[Tensor, "tokens dim"],
    embedded: Float[Tensor, "tokens dim"],
    near: Int[Tensor, "tokens neighbours"],
    table: Float[Tensor, "words dim"],
) -> tuple[Float[Tensor, "tokens dim"], Float[Tensor, " tokens"]]:
    """Return Σ_j g_tj d_tj and Σ_j g_tj² of every token, computed for some tokens at a time."""
    moves, squares = torch.zeros_like(slope), slope.new_zeros(len(slope))
    size = max(1, _NUMBERS // max(1, near.shape[1] * slope.shape[1]))
    for first in range(0, len(slope), size):
        part = slice(first, first + size)
        # A neighbour with the same vector gives no direction: zero stays zero.
        d = nn.functional.normalize(table[near[part]] - embedded[part, None], dim=-1)
        along = torch.einsum("tkd,td->tk", d, slope[part])
        moves[part] = torch.einsum("tk,tkd->td", along, d)
        squares[part] = along.square().sum(-1)
    return moves, squares


def nearest_words(
    table: Float[Tensor, "vocabulary dim"],
    words: Int[Tensor, " words"],
    targets: Int[Tensor, " targets"],
    neighbours: int,
) -> Int[Tensor, "vocabulary neighbours"]:
    """Find the targets nearest to every word by cosine, never the word itself; targets are in ascending order.

    Other rows of the table name themselves, which gives no direction. A small vocabulary gives as many as it has.
    """
    count = max(0, min(neighbours, len(targets) - 1))
    nearest = torch.arange(len(table))[:, None].repeat(1, count)
    if count == 0:
        return nearest
    unit = nn.functional.normalize(table, dim=-1)
    others = unit[targets].T.contiguous()
    for part in torch.split(words, max(1, _NUMBERS // len(targets))):
        similarity = unit[part] @ others
        place = torch.searchsorted(targets, part).clamp(max=len(targets) - 1)
        itself = (targets[place] == part).nonzero()[:, 0]
        similarity[itself, place[itself]] = -torch.inf
        nearest[part] = targets[similarity.topk(count).indices]
    return nearest


def embedding_table(model: AttentionModel) -> Float[Tensor, "words dim"]:
    """Return the current vectors of all words, or word pieces."""
    table = model.encoder.embedding if isinstance(model.encoder, TransformerEncoder) else model.embedding
    assert table is not None
    weight = table.weight
    assert isinstance(weight, Tensor)
    return weight


def special_words(model: AttentionModel) -> list[int]:
    """Return tokens that are not words: padding and unknown ones, and the special tokens of a pretrained tokeniser."""
    if not isinstance(model.encoder, TransformerEncoder):
        return [0, 1]
    from transformers import AutoTokenizer

    with quick_to_give_up():
        return list(AutoTokenizer.from_pretrained(model.encoder.transformer.name_or_path).all_special_ids)
