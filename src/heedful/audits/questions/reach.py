"""How far can any weights at the audited place move the prediction? What attention cannot reach, no heatmap can explain."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.audits.audit import Audit, Bound, Columns, Measure, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import SAME, Reading
from heedful.audits.subject.scope import Scope
from heedful.measures.divergence import tvd
from heedful.models.stages import probabilities
from heedful.output.numbers import percent, value

_NUMBERS = 1 << 22  # laid out at a time


@register
class Reach(Audit):
    """The largest change of the prediction that other weights make, and whether they change the decision."""

    name = "reach"
    question = "How far can any weights at the audited place move the prediction?"
    does = "replaces weights"
    paper = "heedful"
    access = "stages"
    measures: ClassVar = {
        "reach": Measure(
            "largest change of the prediction (TVD) that other weights make",
            plain="The weights decide {} of the prediction at the most that was found.",
        ),
        "decides": Measure(
            "share of texts whose decision other weights change",
            plain="For {} of the texts other weights change the decision.",
        ),
        "out_of_reach": Measure(
            f"share of texts whose prediction no weights were found to move by more than {SAME}",
            plain="For {} of the texts no weights that were tried move the prediction.",
        ),
    }
    caveats = (
        "Where the place decides little, shuffled and counterfactual weights change little too, whatever the heatmap says: "
        "permutation and counterfactual then speak neither for nor against it.",
        "States stay as they are: in a deep network what earlier layers carried from word to word is in them already.",
    )
    equation = "reach = max over weights α of TVD(ŷ(α), ŷ(α̂))"
    method = (
        "All weight is put on each item in turn, in all heads together and in each head alone; then, for every class, each head is given "
        "the item that speaks most for the class, and the one that speaks most against it. For two classes and a decoder that is linear in the weights "
        "the largest change is among these, and the number is exact; elsewhere it is a lower bound."
    )
    compared = ("reach", "decides")
    order = Order("reach", "how far weights move the prediction", worst="lowest")

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """It replaces weights, and scores other than attention are not weights."""
        return super().refuses(scope) or scope.beyond_attention()

    def rows(self, reading: Reading) -> Columns:
        """Try corners, text by text side by side."""
        tried = torch.cat([_together(reading), _head_by_head(reading)], dim=1)  # [batch, variants, classes]
        own = reading.probabilities
        reach = tvd(tried, own[:, None]).amax(1)
        decides = (tried.argmax(-1) != own.argmax(-1, keepdim=True)).any(1)
        return {
            "reach": reach,
            "decides": decides.double(),
            "out_of_reach": (reach <= SAME).double(),
            "exact": [_exact(reading)] * len(reach),
        }

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """How far, text by text."""
        return [
            histogram(
                rows, "reach", title="How far weights can move the prediction", axis="TVD", low=0, high=1,
                caption="0: whatever the weights, the prediction stays. 1: they decide it.",
            )
        ]  # fmt: skip

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts."""
        exact = bool(rows["exact"].all())
        bound: Bound = None if exact else "lower"
        reach, decides, beyond = (self.number(name, rows[name], bound=bound) for name in self.measures)
        beyond = beyond.model_copy(update={"bound": None})  # fewer with a better search: an upper bound
        at_least = "" if exact else "at least "
        return self.summary(
            rows,
            f"Other weights move the prediction by {at_least}{value(reach)} at the most, averaged over texts, and change the decision for "
            f"{at_least}{percent(decides)} of them; for {percent(beyond)} no weights that were tried move it by more than {SAME}.",
            [reach, decides, beyond],
            "" if exact else "Searched among heatmaps of one item in each head: lower bounds.",
        )


def _exact(reading: Reading) -> bool:
    """With one logit that is linear in the weights each head is at its best with one item, whatever the others do."""
    return reading.effects is not None and reading.logits.shape[-1] == 1


def _together(reading: Reading) -> Float[Tensor, "batch items classes"]:
    """All heads on the same item; padding says what the model does."""
    alone = probabilities(reading.item_logits)
    return torch.where(reading.mask[..., None], alone, reading.probabilities[:, None])


def _head_by_head(reading: Reading) -> Float[Tensor, "batch variants classes"]:
    """For every class two corners: in each head the item that by itself speaks most for the class, or most against it."""
    own, mask = reading.weights.double(), reading.mask
    alone = _one_head_alone(reading)
    odds = torch.logit(alone, eps=1e-12)
    corners = []
    for sign in (1, -1):
        best = (
            (sign * odds).masked_fill(~mask[:, None, :, None], -torch.inf).argmax(2)
        )  # [batch, heads, classes]
        corners.append(torch.nn.functional.one_hot(best, own.shape[2]).double().transpose(1, 2))
    together = torch.cat(corners, dim=1) * mask[:, None, None]  # [batch, 2 · classes, heads, items]
    some = mask.any(1, keepdim=True).expand(-1, together.shape[1])
    return torch.cat([_decoded(reading, together, some), alone.flatten(1, 2)], dim=1)


def _one_head_alone(reading: Reading) -> Float[Tensor, "batch heads items classes"]:
    """Put all weight of one head on one item, while the others stay: in time that grows with the items, where that is possible."""
    own, mask = reading.weights.double(), reading.mask
    batch, heads, items = own.shape
    if heads == 1:
        return _together(reading)[:, None]
    if reading.effects is not None:
        of_item, rest = (part.double() for part in reading.effects)
        share = (own[..., None] * of_item).sum(2)  # [batch, heads, outputs]
        others = rest[:, None] + share.sum(1, keepdim=True) - share
        moved = probabilities(others[:, :, None] + of_item)
        return torch.where(mask[:, None, :, None], moved, reading.probabilities[:, None, None])
    found = []
    step = max(1, _NUMBERS // max(batch * heads * items, 1))
    for head in range(heads):
        parts = []
        for first in range(0, items, step):
            places = torch.arange(first, min(first + step, items))
            weights = own[:, None].expand(-1, len(places), -1, -1).clone()
            weights[:, :, head] = torch.nn.functional.one_hot(places, items).double()
            parts.append(_decoded(reading, weights, mask[:, places]))
        found.append(torch.cat(parts, dim=1))
    return torch.stack(found, dim=1)


def _decoded(
    reading: Reading,
    weights: Float[Tensor, "batch variants heads items"],
    there: Bool[Tensor, "batch variants"],
) -> Float[Tensor, "batch variants classes"]:
    with torch.no_grad():
        found = probabilities(reading.decode(weights))
    return torch.where(there[..., None], found, reading.probabilities[:, None])
