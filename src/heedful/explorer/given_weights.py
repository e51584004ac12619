"""Weights that somebody gives to words, as every head has them: the states stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import BadInput
from heedful.explorer.text_reading import TextReading
from heedful.measures.divergence import jsd, tvd
from heedful.models.stages import probabilities

HeadWeights = Float[Tensor, "heads items"]

_TURNS, _NEAR, _TINY = 200, 1e-9, 1e-300


@dataclass(frozen=True)
class Moved:
    """What the model says under other weights."""

    weights: list[float]
    """Of every word, on average over the heads; they sum to one, or to nothing where all is erased."""
    probabilities: list[float]
    far: float
    """How far the weights are from the model's own: Jensen–Shannon divergence, at most ln 2."""
    change: float
    """How far the prediction moved: total variation distance."""


def by_heads(read: TextReading, given: list[float], *, alike: bool) -> HeadWeights:
    """Give every head the weights of words.

    With `alike` all heads have the same. Otherwise each keeps its own pattern as far as it can: words and heads are scaled
    until the mean of the heads is what was given, so that weights that nobody touched are the model's own. The pieces of a
    word share its weight as they do in the model.
    """
    if len(given) != len(read.spans):
        raise BadInput(
            f"{len(given)} weights were given for {len(read.spans)} words: read the text again, and give one for each."
        )
    own = read.reading.weights[0].double()
    wanted = torch.tensor(given, dtype=torch.float64)
    if not float(wanted.sum()):
        return torch.zeros_like(own)
    wanted = wanted / wanted.max()  # the smallest numbers there are would vanish when they are divided
    wanted = wanted / wanted.sum()
    own_words = read.by_word(own)
    each = wanted.expand_as(own_words) if alike or len(own) == 1 else _fitted(own_words, wanted)
    return _on_items(read, each, own, own_words)


def _fitted(
    own: Float[Tensor, "heads words"], wanted: Float[Tensor, " words"]
) -> Float[Tensor, "heads words"]:
    """Scale words and heads in turns (Sinkhorn) until every head sums to one and their mean is as wanted."""
    unseen = (own.sum(0) == 0) & (wanted > 0)
    each = torch.where(unseen, wanted, own * (wanted > 0))
    for _ in range(_TURNS):
        each = each * (wanted / each.mean(0).clamp(min=_TINY))
        total = each.sum(-1, keepdim=True)
        each = torch.where(total > _TINY, each / total.clamp(min=_TINY), wanted)
        if float((each.mean(0) - wanted).abs().max()) < _NEAR:
            break
    return each


def _on_items(read: TextReading, each: Tensor, own: Tensor, own_words: Tensor) -> HeadWeights:
    """Share each word's weight among its pieces, in proportion to their own, or equally where they have none."""
    real = read.word_of >= 0
    of = read.word_of.clamp(min=0)
    pieces = read.by_word(real.double()[None])[0]
    total = own_words[:, of]
    share = torch.where(total > 0, own / total.clamp(min=_TINY), 1 / pieces[of])
    return each[:, of] * share * real


def decide(read: TextReading, weights: HeadWeights) -> Moved:
    """Decode the states of a text under other weights."""
    with torch.no_grad():
        logits = read.reading.decode(weights[None, None])[:, 0]
        after = probabilities(logits)
        mean = read.by_word(weights.mean(0))
        far = float(jsd(weights, read.reading.weights[0].double()).mean()) if float(mean.sum()) else 0.0
    return Moved(
        mean.tolist(), after[0].tolist(), max(far, 0.0), float(tvd(after, read.reading.probabilities)[0])
    )
