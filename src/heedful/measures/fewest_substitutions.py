"""The strongest word-substitution attack, exactly, where a decision is the sign of a sum over words.

Softmax attention with one head over items that are read by themselves, before a linear decoder, gives the logits
Σ aᵢ zᵢ / Σ aᵢ with aᵢ = exp(scoreᵢ) and zᵢ what the decoder says to item i alone, bias included. The divisor changes no sign:
class c loses to c′ exactly when Σ aᵢ (zᵢ[c] − zᵢ[c′]) < 0, and that is a sum over words. So every word's best substitute is found
by itself, the best k are a sort, and the smallest k follows, for each rival c′ and so for any number of classes. Mean pooling is
the same with all scores 0. Several heads are not: each has a divisor of its own.

Sums are kept as logarithms of their positive and their negative part, so that no score is too large, and none too small beside a
substitute that is never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.measures.erasure import TIE, classes


class Substitution(NamedTuple):
    """The fewest substitutions that change a decision."""

    smallest: Float[Tensor, " batch"]
    """How many; infinite where no combination changes the decision."""
    chosen: Int[Tensor, "batch words"]
    """The option taken in each word's place, 0 where the word stays; all 0 where nothing changes the decision."""
    decided: Int[Tensor, " batch"]
    """The class decided on before; −1 for a text without a word."""
    to: Int[Tensor, " batch"]
    """The class decided on after; −1 where nothing changes the decision."""
    margins: Float[Tensor, "batch words+1"]
    """(Σ⁺ − Σ⁻) / (Σ⁺ + Σ⁻), of the terms for the decision and those against it, after the strongest attack with at most
    k = 0, 1, … substitutions, for the rival that is nearest then: below 0 where the decision is lost."""


class Parts(NamedTuple):
    """A sum as the logarithms of its positive and its negative part; −∞ for nothing."""

    above: Float[Tensor, "*any"]
    below: Float[Tensor, "*any"]


def fewest_substitutions(
    scores: Float[Tensor, "batch words options pieces"],
    votes: Float[Tensor, "batch words options pieces outputs"],
    there: Bool[Tensor, "batch words options pieces"],
    *,
    allowed: Bool[Tensor, "batch classes"] | None = None,
    slack: float = 0.0,
) -> Substitution:
    """Find the fewest words to replace so that the decision changes, and by what.

    Option 0 of a word is the word itself, the others are its substitutes; each may be several pieces (tokens), whose terms are
    added up. `votes` are the logits of each piece alone, bias included: one output for binary classifiers (class 1 above 0), or
    one per class (of equal ones the lowest). `there` says which pieces exist; an option without any is none, and a word without
    option 0 is padding. `allowed` are the classes that an answer may come from.

    A decision whose margin is at most `slack` counts as lost, with no substitution at all if need be: what a model in single
    precision may decide either way. Gains that agree in all digits are taken in the order of the words, and equal substitutes in
    the order of the options.

    >>> scores, votes = torch.zeros(1, 3, 2, 1), torch.tensor([[[1.0, -1.0], [2.0, -2.0], [0.5, 0.5]]]).view(1, 3, 2, 1, 1)
    >>> found = fewest_substitutions(scores, votes, torch.ones(1, 3, 2, 1, dtype=torch.bool))
    >>> found.smallest, found.chosen, found.decided, found.to
    (tensor([1.], dtype=torch.float64), tensor([[0, 1, 0]]), tensor([1]), tensor([0]))
    """
    scores, votes = scores.detach().double(), votes.detach().double()
    if not bool((scores.isfinite() & votes.isfinite().all(-1))[there].all()):
        raise ValueError("scores and votes must be finite")
    if bool((there.any(-1).any(-1) & ~there[:, :, 0].any(-1)).any()):
        raise ValueError("a word with substitutes must be there itself")
    per_class = classes(votes)
    if allowed is None:
        allowed = torch.ones(len(votes), per_class.shape[-1], dtype=torch.bool)
    own = torch.zeros(scores.shape[:2], dtype=torch.long)
    decided = _decision(scores, per_class, there, own, allowed)

    words = scores.shape[1]
    fewest = torch.full((len(scores),), words + 1)
    chosen, margins = own.clone(), torch.ones(len(scores), words + 1, dtype=torch.float64)
    for other in range(per_class.shape[-1]):
        against = allowed[:, other] & (decided != other) & (decided >= 0)
        if not bool(against.any()):
            continue
        gap = per_class.gather(-1, _index(decided, per_class)) - per_class[..., other : other + 1]
        count, taken, margin = _against(scores, gap[..., 0], there, wins_ties=other < decided, slack=slack)
        better = against & (count < fewest)
        fewest = torch.where(better, count, fewest)
        chosen = torch.where(better[:, None], taken, chosen)
        margins = torch.where(against[:, None], torch.minimum(margins, margin), margins)

    found = fewest <= words
    to = _decision(scores, per_class, there, chosen, allowed).masked_fill(~found, -1)
    smallest = fewest.double().masked_fill(~found, torch.inf)
    return Substitution(smallest, chosen, decided, to, margins)


def robust_accuracy(
    smallest: Float[Tensor, " texts"], right: Bool[Tensor, " texts"], within: Sequence[float]
) -> list[float]:
    """Share of texts that are decided rightly whatever words are replaced, for each number of them; a wrong one is never robust.

    >>> robust_accuracy(torch.tensor([1.0, 3.0, torch.inf, 2.0]), torch.tensor([True, True, True, False]), [0, 1, 3, torch.inf])
    [0.75, 0.5, 0.25, 0.25]
    """
    if bool(smallest.isnan().any()):
        raise ValueError("texts whose smallest number is not known have no robust accuracy")
    return [
        float((right & (smallest > k if k < torch.inf else smallest == k)).double().mean()) for k in within
    ]


def _against(
    scores: Tensor,
    gap: Float[Tensor, "batch words options pieces"],
    there: Tensor,
    *,
    wins_ties: Tensor,
    slack: float,
) -> tuple[Int[Tensor, " batch"], Int[Tensor, "batch words"], Float[Tensor, "batch words+1"]]:
    """Replace the words that the decision owes most to, best first; words + 1 where this rival never wins."""
    each = parts(scores, gap, there)  # [batch, words, options]
    own = Parts(each.above[:, :, 0], each.below[:, :, 0])
    option = _least(each, there.any(-1))
    best = Parts(*(part.gather(2, option[..., None])[..., 0] for part in each))
    # own − best > 0, in two parts: own⁺ + best⁻ and own⁻ + best⁺.
    gain = difference(torch.logaddexp(own.above, best.below), torch.logaddexp(own.below, best.above))
    useful = (option > 0) & (gain > -torch.inf)
    order = gain.masked_fill(~useful, -torch.inf).argsort(dim=1, descending=True, stable=True)
    sums = []
    for new, old in zip(best, own, strict=True):
        replaced = torch.where(useful, new, old).gather(1, order).logcumsumexp(1)
        kept = old.gather(1, order).flip(1).logcumsumexp(1).flip(1)
        nothing = torch.full_like(kept[:, :1], -torch.inf)
        sums.append(torch.logaddexp(torch.cat([nothing, replaced], 1), torch.cat([kept, nothing], 1)))
    margin = _margin(*sums)
    lost = (margin < -TIE) | ((margin <= TIE) & wins_ties[:, None])
    lost[:, 0] = False  # replacing nothing changes nothing
    if slack > 0:
        lost |= margin <= slack
    words = scores.shape[1]
    count = torch.where(lost.any(1), lost.to(torch.uint8).argmax(1), words + 1)
    rank = order.argsort(dim=1)
    return count, torch.where(useful & (rank < count[:, None]), option, 0), margin


def parts(
    scores: Float[Tensor, "*any pieces"],
    gap: Float[Tensor, "*any pieces"],
    there: Bool[Tensor, "*any pieces"],
) -> Parts:
    """Σ exp(score) · gap over the pieces that are there.

    >>> parts(torch.zeros(2), torch.tensor([1.0, -2.0]), torch.tensor([True, True]))
    Parts(above=tensor(0.), below=tensor(0.6931))
    """
    sizes = scores + gap.abs().log()
    signs = (there & (gap > 0), there & (gap < 0))
    return Parts(*(sizes.masked_fill(~sign, -torch.inf).logsumexp(-1) for sign in signs))


def difference(larger: Float[Tensor, "*any"], smaller: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """log(exp(larger) − exp(smaller)); −∞ where that is not above 0.

    >>> difference(torch.tensor([3.0, 1.0]).log(), torch.tensor([1.0, 3.0]).log()).exp().round()
    tensor([2., 0.])
    """
    rest = torch.log(-torch.expm1((smaller - larger).clamp(max=0.0)))
    return (larger + rest).masked_fill((larger <= smaller) | larger.isneginf(), -torch.inf)


def _least(each: Parts, exists: Bool[Tensor, "batch words options"]) -> Int[Tensor, "batch words"]:
    """Which substitute of each word has the smallest term; 0 where there is none."""
    negative, positive = difference(each.below, each.above), difference(each.above, each.below)
    substitute = exists.clone()
    substitute[:, :, 0] = False
    below = substitute & (negative > -torch.inf)
    # The largest of the negative ones; without any, the smallest of the others.
    key = torch.where(below.any(-1, keepdim=True), negative.masked_fill(~below, -torch.inf), -positive)
    largest = key.masked_fill(~substitute, -torch.inf).amax(-1, keepdim=True)
    return (substitute & (key == largest)).to(torch.uint8).argmax(-1)  # the first of equals; 0 without any


def _decision(
    scores: Tensor, per_class: Tensor, there: Tensor, chosen: Int[Tensor, "batch words"], allowed: Tensor
) -> Int[Tensor, " batch"]:
    """Decide with these options in the words' places: one class after the other challenges the best so far."""
    place = chosen[..., None, None].expand(-1, -1, 1, scores.shape[-1])
    here, score = (whole.gather(2, place)[:, :, 0].flatten(1) for whole in (there, scores))
    says = per_class.gather(2, place[..., None].expand(*place.shape, per_class.shape[-1]))[:, :, 0].flatten(
        1, 2
    )
    best = allowed.to(torch.uint8).argmax(1)
    for other in range(1, per_class.shape[-1]):
        gap = says.gather(2, best[:, None, None].expand(-1, says.shape[1], 1))[..., 0] - says[..., other]
        beaten = allowed[:, other] & (other > best) & (_margin(*parts(score, gap, here)) < -TIE)
        best = best.masked_fill(beaten, other)
    return best.masked_fill(~here.any(1), -1)


def _margin(above: Tensor, below: Tensor) -> Tensor:
    """(Σ⁺ − Σ⁻) / (Σ⁺ + Σ⁻); 0 where neither has anything."""
    return ((above - below) / 2).tanh().nan_to_num(nan=0.0)


def _index(decided: Tensor, per_class: Tensor) -> Tensor:
    return decided.clamp(min=0)[:, None, None, None, None].expand(*per_class.shape[:-1], 1)
