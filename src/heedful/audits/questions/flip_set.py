"""How much must be erased, in each ranking's order, to change the decision? Serrano & Smith 5: Figures 5, 6, 10, 11.

For linear decoders the true minimum is known too, and each ranking's regret against it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import boxes
from heedful.audits.exhibits import Chart, Order, PickedItems
from heedful.audits.subject.reading import Reading
from heedful.config import AuditOptions, Times
from heedful.measures.erasure import ErasureCurve, FirstFlip, erasure_curve, first_flip
from heedful.measures.flips import smallest_flip_set
from heedful.measures.streams import Stream, uniform_by_instance
from heedful.output.numbers import percent

RANKINGS = {"attention": "attention", "gradient": "weight_gradient", "product": "weight_product"}
_KEPT = 1 << 22  # items of all prefixes held at a time, for decoders that are not linear


def _measures() -> dict[str, Measure]:
    found = {}
    for name in (*RANKINGS, "random", "minimum"):
        better: Literal["lower"] | None = "lower" if name == "attention" else None
        erased = f"erased before the decision flips, {name}"
        found[f"{name}_fraction"] = Measure(f"fraction of items {erased}", better=better)
        found[f"{name}_mass"] = Measure(f"share of attention {erased}")
        if name != "minimum":
            beyond = f"fraction of items that {name} erases beyond the minimum"
            found[f"{name}_regret"] = Measure(beyond, better=better)
    found["random_never"] = Measure("share of random rankings that never flip the decision")
    fewer = "share of texts where {} needs fewer items than {}"
    return found | {
        "gradient_beats_attention": Measure(
            fewer.format("the gradient", "attention"),
            better="lower",
            plain="For {} of the texts the gradient finds a shorter way to change the answer than attention does.",
        ),
        "attention_beats_gradient": Measure(fewer.format("attention", "the gradient"), better="higher"),
        "attention_beats_random": Measure(
            fewer.format("attention", "random rankings on average"), better="higher"
        ),
        "attention_is_minimal": Measure(
            "share of texts where attention needs no more items than the minimum", better="higher"
        ),
    }


class FlipSetOptions(AuditOptions):
    """Options of this audit only."""

    random_rankings: Times = Field(5, description="Random rankings that flip_set compares with.")


@register
class FlipSet(Audit):
    """Erase items in the order of each ranking until the decision changes."""

    name = "flip_set"
    question = "How much must be erased, in each ranking's order, to change the decision, and what is the true minimum?"
    options = ("random_rankings",)
    config: FlipSetOptions
    does = "replaces weights"
    paper = "serrano-smith"
    access = "stages"
    measures = _measures()
    caveats = (
        "Erasing leaves the training distribution: the model never saw texts with most of their weights set to zero.",
        "Texts whose decision attention, the gradient or their product never flips are left out and counted; they are often "
        "those of the class that the decoder chooses when everything is erased. Only random rankings that flip are averaged.",
    )

    equation = "smallest S with argmax ŷ(α without S) ≠ argmax ŷ(α);  fraction = |S| / items"
    method = (
        "Items are erased from the top of each ranking until the decision changes, and the fraction erased is recorded; a good "
        "ranking needs few. With a linear decoder class c loses to c′ exactly when the kept items' weighted margins sum to "
        "less than zero, so the smallest set erases the largest margins first, and the true minimum is known."
    )
    marks = PickedItems(
        "members",
        "smallest set whose erasure changes the decision",
        nothing="No erasure of items changes the decision.",
        known="minimum_fraction",
    )
    order = Order("attention_fraction", "how much must be erased by attention", worst="highest")

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Box plots by ranking (Serrano & Smith, Figures 5 and 6), with the exact minimum."""
        every, common = [*RANKINGS, "random"], _flipped(rows)
        spelled = {
            "attention": self.source if self.source != "own" else "own scores",
            "product": "weight × gradient",
        }
        exact = ["minimum"] if bool(rows["minimum_fraction"].is_not_nan().any()) else []
        groups = {spelled.get(name, name): common[f"{name}_fraction"] for name in [*every, *exact]}
        return [
            boxes(
                groups,
                title="Fraction erased before the decision changes",
                axis="fraction of items erased",
                accent="minimum",
                caption="Box: half of the texts; line: nine of ten; mark: the median. The minimum is exact.",
            )
        ]

    def rows(self, reading: Reading) -> Columns:
        """Erase by every ranking, several random ones among them, and find the smallest set."""
        rankings = {
            name: reading.scores(self.source if explainer == "attention" else explainer)
            for name, explainer in RANKINGS.items()
        }
        flips = {name: first_flip(_curve(reading, scores)) for name, scores in rankings.items()}
        random = [self._random(reading, draw) for draw in range(self.config.random_rankings)]
        columns: dict[str, Tensor | list[object]] = {}
        for name, flip in flips.items():
            columns |= {f"{name}_fraction": flip.fraction, f"{name}_mass": flip.mass}
        for field in ("fraction", "mass"):
            # A random ranking that never flips is left out; its text stays as long as another one flips.
            columns[f"random_{field}"] = torch.stack([getattr(flip, field) for flip in random]).nanmean(0)
        columns["random_never"] = torch.stack([~flip.flips for flip in random]).double().mean(0)
        minimum, mass, members = _minimum(reading)
        columns |= {"minimum_fraction": minimum, "minimum_mass": mass}
        if reading.linear:
            # Numbered among the real items, like the saved weights: special tokens come before and between them.
            columns["members"] = [
                torch.nonzero(row[real])[:, 0].tolist()
                for row, real in zip(members, reading.mask, strict=True)
            ]
        return columns

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Compare the rankings on the texts that attention, the gradient and their product all flip."""
        every = [*RANKINGS, "random"]
        exact = bool(rows["minimum_fraction"].is_not_nan().any())
        common = _flipped(rows)
        numbers: list[Number] = []
        for name in [*every, *(["minimum"] if exact else [])]:
            numbers += [
                self.number(f"{name}_{field}", common[f"{name}_{field}"]) for field in ("fraction", "mass")
            ]
            if exact and name != "minimum":
                regret = common[f"{name}_fraction"] - common["minimum_fraction"]
                numbers.append(self.number(f"{name}_regret", regret))
        for better, worse in (("gradient", "attention"), ("attention", "gradient"), ("attention", "random")):
            ahead = (common[f"{worse}_fraction"] - common[f"{better}_fraction"]).to_numpy()
            wins = np.where(np.isnan(ahead), np.nan, ahead > 1e-9)
            numbers.append(self.number(f"{better}_beats_{worse}", wins))
        if exact:
            least = common["attention_fraction"] <= common["minimum_fraction"] + 1e-9
            numbers.append(self.number("attention_is_minimal", least.cast(pl.Float64)))
        if "random_never" in rows.columns:  # missing in rows that were saved by earlier versions
            numbers.append(self.number("random_never", common["random_never"]))
        found = {number.name: number for number in numbers}
        never = len(rows) - len(common)
        sentence = (
            f"In the order of attention {percent(found['attention_fraction'])} of the items must be erased to flip a decision, "
            f"in the gradient's {percent(found['gradient_fraction'])}, at random {percent(found['random_fraction'])}"
        )
        if exact:
            sentence += f"; the smallest set that flips it holds {percent(found['minimum_fraction'])}"
        return self.summary(
            rows,
            sentence + ".",
            numbers,
            f"{never} of {len(rows)} texts are left out, because attention, the gradient or their product never flips their decision."
            if never
            else "",
            self._never_at_random(common),
            ""
            if exact
            else "The exact minimum is known only for linear decoders with one head, so there is no regret here.",
        )

    def _never_at_random(self, common: pl.DataFrame) -> str:
        """Say how many random rankings are left out of the average, and for how many texts all of them are."""
        draws = self.config.random_rankings
        if "random_never" not in common.columns or not common["random_never"].sum():
            return ""
        never = round(common["random_never"].sum() * draws)
        without = int((common["random_never"] == 1).sum())
        return (
            f"{never} of {draws * len(common)} random rankings ({draws} of each text) never flip the decision. They are left out of the "
            f"random average, which makes random rankings look a little better than they are, and their texts stay; {without} texts have no other."
        )

    def _random(self, reading: Reading, draw: int) -> FirstFlip:
        keys = uniform_by_instance(
            reading.rows, reading.mask.shape[1], seed=self.config.seed, draw=Stream.FLIP_SET + draw
        )
        return first_flip(_curve(reading, keys))


def _flipped(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts whose decision attention, the gradient and their product all flip; no random ranking decides which."""
    return rows.filter(pl.all_horizontal(pl.col(f"{name}_fraction").is_not_nan() for name in RANKINGS))


def _minimum(reading: Reading) -> tuple[Tensor, Tensor, Tensor]:
    """Size of the smallest flipping set as a fraction of the items, its share of attention, and its members."""
    unknown = torch.full((len(reading.mask),), torch.nan, dtype=torch.float64)
    if not reading.linear:
        return unknown, unknown, reading.mask
    weights = reading.weights[:, 0].double()
    found = smallest_flip_set(weights, *_erasure_logits(reading))
    fraction = found.size.double() / reading.mask.sum(1)
    mass = (weights * found.members).sum(1)
    return (
        fraction.masked_fill(~found.flips, torch.nan),
        mass.masked_fill(~found.flips, torch.nan),
        found.members,
    )


def _erasure_logits(reading: Reading) -> tuple[Tensor, Tensor, Tensor]:
    """Return item logits, mask and empty logits. A class that is not a candidate comes last, but not by far.

    Measures recognise ties by the spread of the logits, and with the model's −10⁹ everything would be a tie.
    """
    logits, empty, candidates = reading.item_logits, reading.empty_logits, reading.states.candidates
    if candidates is not None and logits.shape[-1] > 1:
        both = torch.cat([logits, empty[:, None]], dim=1)
        out = ~candidates[:, None]
        last = both.masked_fill(out, torch.inf).amin((1, 2), keepdim=True) - 1
        both = torch.where(out, last, both)
        logits, empty = both[:, :-1], both[:, -1]
    return logits, reading.mask, empty


def _curve(reading: Reading, ranking: Float[Tensor, "batch items"]) -> ErasureCurve:
    """Erase all prefixes of a ranking: by one cumulative sum if the decoder is linear, else decoded in blocks."""
    if reading.linear:
        logits, mask, empty = _erasure_logits(reading)
        return erasure_curve(reading.weights[:, 0], logits, ranking, mask, empty)
    mask = reading.mask
    order = ranking.masked_fill(~mask, -torch.inf).argsort(dim=1, descending=True, stable=True)
    rank = order.argsort(dim=1)  # [batch, items]
    items = mask.shape[1]
    size = max(1, _KEPT // mask.numel())
    parts = []
    with torch.no_grad():
        for first in range(0, items + 1, size):
            erased = torch.arange(first, min(first + size, items + 1))
            parts.append(reading.erase_all_but(mask[:, None] & (rank[:, None] >= erased[None, :, None])))
    beyond = torch.arange(items + 1)[None] > mask.sum(1, keepdim=True)
    logits = torch.cat(parts, dim=1).masked_fill(beyond[..., None], torch.nan)
    decisions = (logits[..., 0] > 0).long() if logits.shape[-1] == 1 else logits.argmax(-1)
    sorted_mass = reading.scores("attention").double().gather(1, order).cumsum(1)
    mass = torch.nn.functional.pad(sorted_mass, (1, 0)).masked_fill(beyond, torch.nan)
    return ErasureCurve(logits, decisions.masked_fill(beyond, -1), mass, order)
