"""Are the top words needed, and enough? ERASER's comprehensiveness and sufficiency; sensitivity of Yin et al. and SEAT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Int
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order
from heedful.audits.questions.losses import deletion_losses
from heedful.audits.questions.sensitivity import LARGEST, SIZES, sample, sensitivity
from heedful.audits.subject.reading import Reading, read_batch
from heedful.audits.subject.scores import padded
from heedful.audits.subject.words import Words, words_in
from heedful.config import AuditOptions
from heedful.data.batches import inference_batches
from heedful.errors import BadInput
from heedful.explainers.explainer import can_explain
from heedful.measures.rationale import PERCENTS, share_of_best
from heedful.measures.streams import Stream, uniform_by_instance
from heedful.models.stages import Opaque
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

TEXTS, QUICK_TEXTS = 60, 10
"""Largest number of texts whose sensitivity is searched for: each takes as long as thousands of readings."""

TOKENS, PIECES = 10_000, 500
"""Largest number of tokens in these texts together, and the same for transformers, which are slower."""

ROUNDING = 1e-6
"""Changes of a probability that are closer than this are the same in single precision."""

REFERENCES = ("attention", "leave_one_out", "gradient")
"""Rankings whose best on a text is what a heatmap could have reached there; a model without attention has the other two."""

PREDICTED = ("leave_one_out", "item_alone")
"""The same where predictions alone are known: without sign too, because the line that forbids was set on rankings that have none."""

LEAST = 0.1
"""Of probability: where the best ranking loses less than this beyond chance, no word is worth pointing at."""


class RationaleOptions(AuditOptions):
    """Options of this audit only."""

    sensitivity: bool = Field(
        False,
        description="Search for the smallest shift of the top words that changes the decision (rationale); slow.",
    )


@register
class Rationale(Audit):
    """Deletes the top words, or all others, and reads again."""

    name = "rationale"
    question = "Are the top words needed, and enough?"
    options = ("top_k", "sensitivity")
    config: RationaleOptions
    does = "changes words"
    paper = "eraser"
    revision = 3
    measures: ClassVar = {
        "comprehensiveness": Measure(
            "drop of the predicted probability without the top words (AOPC)",
            low=-1.0,
            better="higher",
            plain="Without the words that the heatmap points at, the predicted probability falls by {} on average.",
        ),
        "sufficiency": Measure(
            "drop of the predicted probability with the top words alone (AOPC)", low=-1.0, better="lower"
        ),
        "comprehensiveness_random": Measure("the same drop without random words", low=-1.0),
        "sufficiency_random": Measure("the same drop with random words alone", low=-1.0),
        "comprehensiveness_top": Measure(
            "drop of the predicted probability without a fixed number of top words", low=-1.0, better="higher"
        ),
        "sufficiency_top": Measure(
            "drop of the predicted probability with a fixed number of top words alone",
            low=-1.0,
            better="lower",
        ),
        "comprehensiveness_gain": Measure(
            "how much more is lost without the top words than without random ones", low=-1.0, better="higher"
        ),
        "beats_random": Measure(
            "share of texts that lose more without the top words than without random ones",
            better="higher",
            plain="For {} of the texts the answer suffers more without the words that the heatmap points at than without random ones.",
        ),
        "beats_random_needed": Measure(
            "share of texts, of those that need attention, that lose more without the top words than without random ones",
            better="higher",
            plain="Of the texts whose answer depends on attention, {} suffer more without the words that the heatmap points at than without random ones.",
        ),
        "comprehensiveness_share": Measure(
            "what is lost without the top words, from chance (0) to the best ranking known (1)",
            low=-1.0,
            better="higher",
            plain="Deleting the words that the heatmap points at does {} of what the best choice of words does, counted from chance.",
        ),
        "sufficiency_share": Measure(
            "what the top words alone keep, from chance (0) to the best ranking known (1)",
            low=-1.0,
            better="higher",
            plain="Left alone, the words that the heatmap points at keep {} of what the best choice of words keeps, counted from chance.",
        ),
        "first_share": Measure(
            "what is lost without the first word, from chance (0) to the best single word known (1)",
            low=-1.0,
            better="higher",
            plain="Deleting the word that stands out most does {} of what deleting the best single word does, counted from chance.",
        ),
        "sensitivity": Measure(
            "smallest shift of the top words' embeddings that changes the decision",
            high=LARGEST,
            better="lower",
        ),
        "never_flips": Measure(
            f"share of texts where no shift up to {LARGEST:g} of some number of top words changes the decision",
            better="lower",
        ),
        "pointless": Measure(
            f"share of texts where no ranking loses {LEAST:g} more than chance: nothing is worth pointing at"
        ),
    }
    caveats = (
        "Texts with words deleted are unlike those the model was trained on, so that a drop may come from their "
        "strangeness; random words deleted in the same number are the yardstick.",
        "A model that answers the same with hardly any words has low comprehensiveness and low sufficiency "
        "whatever is pointed at.",
        "Sensitivity, where it is asked for, is an upper bound, found by a search, and in units of the embeddings: it compares "
        "rankings of one model, or models with the same embeddings, and nothing else.",
        "The best ranking known is the best of attention, leave-one-out and gradient on each text (of a model of which predictions "
        "alone are known, of leave-one-out and of what each word says alone), not of all there could be: a share of 1 says that none "
        "of these is better.",
    )

    equation = (
        "comprehensiveness = mean over q of ŷ(x) − ŷ(x without top q %),  "
        "sufficiency = mean over q of ŷ(x) − ŷ(top q % alone),  "
        "share = (lost − lost at random) / (most lost by any ranking − lost at random)"
    )
    method = (
        f"The top {', '.join(map(str, PERCENTS))} % of the words (rounded up, so that one is always taken) are deleted, or all "
        "others are, and the model reads the rest again; ŷ is the probability of the class decided on for the whole text, and "
        "differences keep their sign. The pieces of a word count together and are deleted together. The same is done with one random "
        "order of the words, and in the orders of attention, leave-one-out and gradient (or of leave-one-out and of what each word says "
        "alone, where predictions alone are known): the best of them on a text is what a heatmap "
        f"could have reached, and a share of it is asked for where it lies {LEAST:g} above chance. With --sensitivity the embeddings of "
        f"the top k words ({', '.join(map(str, SIZES))}) are moved by projected gradient steps, with a binary search for the smallest "
        f"radius that changes the decision; where none does up to {LARGEST:g}, it counts as that much."
    )
    compared = ("comprehensiveness", "sufficiency", "sensitivity", "beats_random")
    order = Order("comprehensiveness", "what is lost without the top words", worst="lowest")

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.sampled: dict[int, tuple[float, float]] | None = None

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Search for the sensitivity of a sample of the texts, if asked for; the sample does not depend on batches."""
        if not self.config.sensitivity:
            return
        if reason := subject.scope.lacks("embeddings"):
            raise BadInput(f"--sensitivity cannot be asked here: {reason}; leave it out.")
        instances, rows = subject.texts.instances, np.concatenate(subject.texts.rows)
        chosen = sample(
            rows,
            instances.lengths[rows],
            texts=QUICK_TEXTS if self.config.quick else TEXTS,
            tokens=PIECES if subject.model.slow else TOKENS,
            seed=self.config.seed,
        )
        self.sampled = {}
        model = subject.model.eval().exact()
        with watcher.bar("sensitivity", len(chosen)) as advance:
            for places in inference_batches(instances.lengths[chosen], len(chosen)):
                reading = read_batch(subject.model, instances.batch(chosen[places]), seed=self.config.seed)
                if subject.scores is not None:
                    reading = replace(reading, user_scores=padded(subject.scores, reading.rows, reading.mask))
                words = words_in(reading.model, reading.batch)
                found = sensitivity(reading, words, self._ranks(reading, words, self.source), model=model)
                never = (~found.found).any(1).double()
                for row, *measured in zip(
                    reading.rows.tolist(), found.area.tolist(), never.tolist(), strict=True
                ):
                    self.sampled[row] = (measured[0], measured[1])
                advance(len(places))

    def rows(self, reading: Reading) -> Columns:
        """Delete by the ranking, at random and by the rankings it is measured against, all sizes together."""
        words = words_in(reading.model, reading.batch)
        drawn_scores = uniform_by_instance(
            reading.rows, words.mask.shape[1], seed=self.config.seed, draw=Stream.RATIONALE
        )
        references = _references(reading)
        others = [name for name in references if name != self.source]
        ranked = [self._ranks(reading, words, name) for name in (self.source, *others)]
        own, random, *rest = deletion_losses(
            reading, words, [ranked[0], words.ranks(drawn_scores), *ranked[1:]], top=self.config.top_k
        )
        beats = (own.comprehensiveness > random.comprehensiveness + ROUNDING).double()

        known = [own, *rest] if self.source in references else rest

        def share(field: str, sign: int) -> Tensor:
            mine, drawn, *reached = (sign * getattr(part, field) for part in (own, random, *known))
            return share_of_best(mine, drawn, torch.stack(reached), least=LEAST)

        needed = share("comprehensiveness", 1)
        area, never = self._sensitivity(reading, words, ranked[0])
        return {
            "comprehensiveness": own.comprehensiveness,
            "sufficiency": own.sufficiency,
            "comprehensiveness_random": random.comprehensiveness,
            "sufficiency_random": random.sufficiency,
            "comprehensiveness_top": own.comprehensiveness_top,
            "sufficiency_top": own.sufficiency_top,
            "comprehensiveness_gain": own.comprehensiveness - random.comprehensiveness,
            "beats_random": beats,
            "beats_random_needed": beats.masked_fill(reading.needless, torch.nan),
            "comprehensiveness_share": needed,
            "sufficiency_share": share("sufficiency", -1),
            "first_share": share("first", 1),
            "sensitivity": area,
            "never_flips": never,
            "pointless": needed.isnan().double(),
            "words": words.counts,
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts; comprehensiveness and sufficiency also by class."""
        numbers: list[Number] = []
        searched = self.config.sensitivity
        for name in self.measures:
            if name in ("sensitivity", "never_flips") and not searched:
                continue
            by_class = name in ("comprehensiveness", "sufficiency")
            numbers += self.by_class(name, rows, name) if by_class else [self.number(name, rows[name])]
        found = {number.name: number for number in reversed(numbers) if number.group == "all"}
        k, short = self.config.top_k, int((rows["words"] < self.config.top_k).sum())
        area, never = found.get("sensitivity"), int(rows["never_flips"].fill_nan(0).sum())
        return self.summary(
            rows,
            f"Without its top words a text loses {value(found['comprehensiveness'])} of the predicted probability, without random "
            f"ones {value(found['comprehensiveness_random'])}, and more than at random for {percent(found['beats_random'])} of the "
            f"texts; with its top words alone it loses {value(found['sufficiency'])}. From chance (0) to the best ranking known (1) that is "
            f"{value(found['comprehensiveness_share'])} and {value(found['sufficiency_share'])}.",
            numbers,
            f"A fixed number of top words is {k}; {short} texts have fewer, and all their words are taken."
            if short
            else "",
            f"Sensitivity is that of {area.count} of {len(rows)} texts, drawn at random."
            if area and area.missing
            else "",
            f"For {never} texts the decision did not change within a radius of {LARGEST:g}, which is used instead, so that their true sensitivity is higher."
            if never
            else "",
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histograms of what is lost without the top words and with them alone."""
        return [
            histogram(
                rows,
                name,
                title=title,
                axis=name,
                low=-1,
                high=1,
                caption=caption,
            )
            for name, title, caption in (
                (
                    "comprehensiveness",
                    "What is lost without the top words",
                    "Near 0 the top words are not needed.",
                ),
                ("sufficiency", "What is lost with the top words alone", "Near 0 the top words are enough."),
            )
        ]

    def _ranks(self, reading: Reading, words: Words, name: str) -> Int[Tensor, "batch words"]:
        return words.ranks(words.scores(reading.scores(name)))

    def _sensitivity(self, reading: Reading, words: Words, ranks: Tensor) -> tuple[Tensor, Tensor]:
        """Look up what was found before; without that, search for every text; NaN if sensitivity is not asked for."""
        if not self.config.sensitivity:
            nothing = torch.full(ranks.shape[:1], torch.nan, dtype=torch.float64)
            return nothing, nothing
        if self.sampled is None:
            found = sensitivity(reading, words, ranks)
            return found.area, (~found.found).any(1).double()
        unknown = (float("nan"), float("nan"))
        area, never = zip(*(self.sampled.get(row, unknown) for row in reading.rows.tolist()), strict=True)
        return torch.tensor(area, dtype=torch.float64), torch.tensor(never, dtype=torch.float64)


def _references(reading: Reading) -> list[str]:
    """The rankings that can be had of a model, the best of which on a text is what a heatmap could have reached."""
    usual = PREDICTED if isinstance(reading.model, Opaque) else REFERENCES
    return [name for name in usual if can_explain(name, reading.model)]
