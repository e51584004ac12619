"""Do the scores of words predict what deleting them does? Infidelity (Yeh et al. 2019)."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.words import Words, words_in
from heedful.explainers.reread import probabilities_without
from heedful.measures.infidelity import (
    ROUNDING,
    deletion_correlation,
    infidelity,
    random_subsets,
    subset_sums,
)
from heedful.measures.streams import Stream, shuffles_by_instance, uniform_by_instance
from heedful.output.numbers import percent, value

SUBSETS = 20
"""Deletions per text."""

MOVES = 0.1
"""If no deletion that was drawn moves the prediction by this much, there is nothing to explain."""

LEFT = 0.05
"""If counting the deleted words leaves less than this unexplained, there is nothing to gain."""


@register
class Infidelity(Audit):
    """Deletes random words, reads again, and asks whether their scores predicted what the answer would lose."""

    name = "infidelity"
    question = "Do the scores of words predict what deleting them does?"
    does = "changes words"
    paper = "yeh-2019"
    measures: ClassVar = {
        "infidelity": Measure(
            "share of what deletions do that the scores of the deleted words leave unexplained",
            better="lower",
            plain="Of what deleting words does to the answer, the heatmap leaves {} unexplained.",
        ),
        "infidelity_uniform": Measure(
            "the same if all words have the same score: what counting deleted words leaves unexplained"
        ),
        "infidelity_random": Measure("the same of random scores"),
        "infidelity_shuffled": Measure("the same of the scores shuffled among the words"),
        "fidelity_gain": Measure(
            "share of what counting deleted words leaves unexplained that the scores explain",
            low=-1.0,
            better="higher",
            plain="Of what deleting words does beyond how many they are, the heatmap explains {} (below 0: it misleads).",
        ),
        "deletion_correlation": Measure(
            "Pearson's r of the deleted words' scores and the drop of the predicted probability",
            low=-1.0,
            better="higher",
            plain="What deleted words weigh in the heatmap and what the answer loses without them correlate by {} (1: always together; 0: unrelated).",
        ),
        "beats_shuffled": Measure(
            "share of texts whose scores explain deletions better than the same scores shuffled",
            better="higher",
            plain="For {} of the texts the heatmap explains better what deleting words does than the same weights on random words.",
        ),
    }
    caveats = (
        "Texts with words deleted are unlike those the model was trained on, so that a drop may come from their "
        "strangeness.",
        "Scores are added up: where words act together, as in a negation, no scores explain every deletion. Weights are "
        "never negative, so that attention cannot explain deletions after which the model is surer.",
        "A sharp heatmap that points at the right word alone may explain less than one that is flat, where many words "
        "matter a little: compare infidelity with that of uniform and of shuffled scores.",
    )

    equation = (
        "infidelity = min over β ≥ 0 of mean over S of (β Σ_{i ∈ S} φ_i − Δ_S)² / mean over S of Δ_S²,  "
        "Δ_S = ŷ(x) − ŷ(x without S)"
    )
    method = (
        f"It changes words: {SUBSETS} random sets of words are deleted from each text and the rest is read again; how many words is "
        "drawn uniformly from 1 to half of them, and then which. ŷ is the probability of the class decided on for the whole text. "
        "The scores of a set are added up, and scaled by the best factor for each text, because weights are not in units of "
        "probability: 0 is a perfect explanation, and 1 is what predicting 'nothing changes' reaches. The gain is 1 − infidelity / "
        "infidelity of uniform scores, between −1 and 1. The pieces of a word count together and are deleted together."
    )
    order = Order(
        "fidelity_gain", "what the scores explain beyond the number of deleted words", worst="lowest"
    )

    def rows(self, reading: Reading) -> Columns:
        """Delete random words of every text, and explain what is lost by each kind of scores."""
        words = words_in(reading.model, reading.batch)
        subsets = random_subsets(
            reading.rows, words.counts, subsets=SUBSETS, seed=self.config.seed, draw=Stream.DELETIONS
        )
        drops = _drops(reading, words, subsets)
        nothing = (drops.abs().amax(1) < MOVES) | (words.counts < 2)  # with one word any score is right
        scores = words.scores(reading.scores(self.source))
        kinds = {
            "infidelity": scores,
            "infidelity_uniform": words.mask.double(),
            "infidelity_random": self._random(reading, words),
            "infidelity_shuffled": self._shuffled(reading, words, scores),
        }
        sums = {name: subset_sums(kind, subsets, words.mask) for name, kind in kinds.items()}
        found = {name: infidelity(s, drops).masked_fill(nothing, torch.nan) for name, s in sums.items()}
        own, uniform = found["infidelity"], found["infidelity_uniform"]
        better = found["infidelity_shuffled"] - own
        beats = torch.where(better.abs() < ROUNDING, 0.5, (better > 0).double())  # half if neither is better
        return found | {
            "fidelity_gain": (1 - own / uniform).clamp(-1, 1).masked_fill(uniform < LEFT, torch.nan),
            "deletion_correlation": deletion_correlation(sums["infidelity"], drops).masked_fill(
                nothing, torch.nan
            ),
            "beats_shuffled": beats.masked_fill(nothing, torch.nan),
            "largest_drop": drops.abs().amax(1),
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over the texts that some deletion moves, and by class."""
        numbers: list[Number] = []
        for name in self.measures:
            by_class = name in ("infidelity", "fidelity_gain")
            numbers += self.by_class(name, rows, name) if by_class else [self.number(name, rows[name])]
        found = {number.name: number for number in reversed(numbers) if number.group == "all"}
        still, rest = found["infidelity"].missing, found["fidelity_gain"]
        counted, constant = rest.missing - still, found["deletion_correlation"].missing - still
        finding = (
            f"Of what deleting words does to a prediction, the scores leave {percent(found['infidelity'])} unexplained, the same score "
            f"for all words {percent(found['infidelity_uniform'])}, and the same scores on random words "
            f"{percent(found['infidelity_shuffled'])}; scores and drops correlate by {value(found['deletion_correlation'])}."
        )
        if still == len(rows):
            finding = f"No deletion that was drawn moves a prediction by {MOVES:g}: there is nothing for scores to explain."
        return self.summary(
            rows,
            finding,
            numbers,
            f"No deletion that was drawn moves the prediction of {still} of {len(rows)} texts by {MOVES:g}, or they have one word: there is nothing to explain, and they are left out."
            if still
            else "",
            f"For {counted} texts the number of deleted words explains all but {100 * LEFT:.0f} % of what happens: they have no gain."
            if counted
            else "",
            f"For {constant} texts the scores of all deletions add up to the same, or all drops are the same: they have no correlation."
            if constant
            else "",
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histograms of what is left unexplained, and of what is gained."""
        return [
            histogram(
                rows,
                "infidelity",
                title="What the scores leave unexplained",
                axis="infidelity",
                low=0,
                high=1,
                caption="0: the scores of deleted words say what is lost without them.",
            ),
            histogram(
                rows,
                "fidelity_gain",
                title="What is gained over counting deleted words",
                axis="gain",
                low=-1,
                high=1,
                caption="1: everything. 0: the scores explain no more than the number of words. Below 0: less.",
            ),
        ]

    def _random(self, reading: Reading, words: Words) -> Float[Tensor, "batch words"]:
        return uniform_by_instance(
            reading.rows, words.mask.shape[1], seed=self.config.seed, draw=Stream.DELETIONS_RANDOM
        )

    def _shuffled(
        self, reading: Reading, words: Words, scores: Float[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words"]:
        draws = range(Stream.DELETIONS_SHUFFLED, Stream.DELETIONS_SHUFFLED + 1)
        order = shuffles_by_instance(reading.rows, words.counts, seed=self.config.seed, draws=draws)[0]
        return scores.gather(1, order)


def _drops(
    reading: Reading, words: Words, subsets: Bool[Tensor, "batch subsets words"]
) -> Float[Tensor, "batch subsets"]:
    """How much the probability of the class decided on falls without each subset; all are read together."""
    batch, count, _ = subsets.shape
    rows = torch.arange(batch).repeat_interleave(count)
    kept = words.mask[rows] & ~subsets.flatten(0, 1)
    after = probabilities_without(reading.model, reading.batch, rows, words.items(rows, kept)).double()
    decided = reading.probabilities.argmax(-1)
    before = reading.probabilities.double().gather(1, decided[:, None])
    return before - after.gather(1, decided[rows, None]).view(batch, count)
