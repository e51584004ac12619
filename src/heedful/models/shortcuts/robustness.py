"""What substitutes can do to the decisions of our own models: exactly where words are read by themselves, else by bounds."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool
from torch import Tensor

from heedful.data.instances import Batch
from heedful.measures.erasure import classes
from heedful.measures.fewest_substitutions import fewest_substitutions
from heedful.models.attention import Attention
from heedful.models.decoders import LinearDecoder
from heedful.models.encoders.cnn import CNN
from heedful.models.encoders.encoder import Encoder
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.certificates import certify_options, certify_windows
from heedful.models.shortcuts.choices import Choices, lay_out
from heedful.models.shortcuts.word_options import read_options
from heedful.models.shorter import Robustness, Substitutes

_NUMBERS = 1 << 22
"""Numbers of one kind laid out at a time: 32 MB."""


def robust(
    model: AttentionModel, batch: Batch, substitutes: Substitutes, *, slack: float
) -> Robustness | None:
    """Give what is certain; None where this model's decisions cannot be told for all combinations at once.

    A substitute of several tokens adds what all of them say where words are read by themselves. A convolution sees them in
    other places then, and such a text is not covered; nor is one with a substitute of no token, which is a deletion.
    """
    if _pooling(model) is None or batch.tokens.shift is not None or not _bounded(model):
        return None
    model = (model if model.dtype == torch.float64 else model.exact()).eval()
    choices = lay_out(batch.tokens, substitutes)
    with torch.no_grad():
        if _separable(model):
            return _exactly(model, batch, choices, slack=slack)
        logits = classes(model(batch).logits)
        decided = logits.argmax(-1)  # of equal ones the lowest
        certified = torch.zeros_like(decided, dtype=torch.bool)
        covered = choices.whole & _one_by_one(choices) if model.contextual else choices.whole
        for rows in _blocks(model, choices):
            texts = batch.take(torch.arange(len(batch))[rows])
            certify = certify_windows if model.contextual else certify_options
            certified[rows] = certify(
                model, texts, choices.take(rows), decided[rows], pooling=_pooling(model) or "", slack=slack
            )
    return Robustness(decided, certified & covered, covered, None, None)


def _exactly(model: AttentionModel, batch: Batch, choices: Choices, *, slack: float) -> Robustness:
    read = read_options(model, batch, choices)
    allowed = batch.candidates if model.architecture.classes > 2 else None
    votes = read.says[..., 0, :] + read.rest[:, None, None, None]
    found = fewest_substitutions(read.scores[..., 0], votes, choices.there, allowed=allowed, slack=slack)
    # A text without a word is decided by the bias, and nothing can be replaced.
    silent = classes(read.rest).argmax(-1)
    decided = torch.where(found.decided < 0, silent, found.decided)
    witnesses = [
        {word: option - 1 for word, option in enumerate(row) if option} for row in found.chosen.tolist()
    ]
    smallest = found.smallest.masked_fill(~choices.whole, torch.nan)
    return Robustness(decided, smallest.isinf(), choices.whole, smallest, witnesses)


def _pooling(model: AttentionModel) -> str | None:
    """How states become one vector: attention, mean or max; None for what has no bounds here."""
    if model.attention is not None:
        usual = type(model.attention) is Attention and model.attention.normaliser == "softmax"
        return "attention" if usual else None
    pooling = model.architecture.pooling
    if pooling == "last":  # what the encoder makes of it
        own = type(model.encoder).summarise
        return "max" if own is CNN.summarise else "mean" if own is Encoder.summarise else None
    return pooling if pooling in ("mean", "max") else None


def _bounded(model: AttentionModel) -> bool:
    """Whether states can be bounded: each depends on its own word alone, or on a window of words."""
    return model.unit == "word" and (type(model.encoder) is CNN or not model.contextual)


def _separable(model: AttentionModel) -> bool:
    """Whether the decision is the sign of a sum over words. Several heads have a divisor each, and are not."""
    one_head = model.attention is None or model.architecture.heads == 1
    linear = isinstance(model.decoder, LinearDecoder)
    return not model.contextual and linear and one_head and _pooling(model) in ("attention", "mean")


def _one_by_one(choices: Choices) -> Bool[Tensor, " batch"]:
    """Whether every word that has substitutes is one token, and every substitute too."""
    replaced = choices.there[:, :, 1:].any(-1).any(-1)  # [batch, words]
    several = choices.there[..., 1:].any(-1).any(-1)
    return ~(replaced & several).any(1)


def _blocks(model: AttentionModel, choices: Choices) -> Iterator[slice]:
    """Cut a batch where its texts with all their options would take too much room."""
    batch, words, options, pieces = choices.ids.shape
    features = model.encoder.size * (model.architecture.heads if model.attention is not None else 1)
    inside = sum(model.architecture.widths) * model.architecture.hidden if model.contextual else 0
    size = words * max(features * (2 if model.contextual else options * pieces), inside)
    step = max(1, _NUMBERS // max(size, 1))
    for first in range(0, batch, step):
        yield slice(first, min(first + step, batch))
