"""Do the top words agree with what people marked as the reason? ERASER: AUPRC, token-F1 and IOU-F1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order, PickedItems
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.words import Words, words_in
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.errors import BadInput
from heedful.explainers.explainer import item_of
from heedful.measures.plausibility import auprc, span_agreement, token_agreement
from heedful.measures.streams import Stream, uniform_by_instance
from heedful.models.stages import Stages
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

_SCORES = ("auprc", "token_f1", "iou_f1", "top_is_marked")

_NO_RATIONALES = (
    "nobody recorded rationales for these texts: use eraser_movies, a synthetic corpus, or texts with a column rationale: "
    "a list of one 0 or 1 for every white-space token"
)


@register
class Plausibility(Audit):
    """Compares the ranking of words with human rationales, or with evidence that was planted."""

    name = "plausibility"
    question = "Do the top words agree with what people marked as the reason?"
    paper = "eraser"
    only_named = "It needs texts in which people marked the words that matter."
    measures: ClassVar = {
        "auprc": Measure("area under the precision–recall curve against the words marked", better="higher"),
        "token_f1": Measure("F1 of the top words against the words marked", better="higher"),
        "iou_f1": Measure("F1 of runs of top words that match marked ones (IOU ≥ 0.5)", better="higher"),
        "top_is_marked": Measure(
            "share of texts whose first word in the ranking is marked",
            better="higher",
            plain="For {} of the texts the word that stands out most is one that a person marked.",
        ),
        **{f"{name}_random": Measure(f"the same of a random ranking: {name}") for name in _SCORES},
    }
    caveats = (
        "Plausible is not faithful: people mark what would convince them, and a model may well decide for other "
        "reasons. Agreement says that a display is convincing, not that it is true.",
        "People seldom mark everything that would suffice: a word that is not marked may still be a good reason.",
    )

    equation = (
        "F1 = 2 · hits / (found + marked);  a run matches where |found ∩ marked| / |found ∪ marked| ≥ 0.5"
    )
    method = (
        "A word counts as marked where it overlaps an annotated span; a sentence of a hierarchical network where any of its words "
        "does. AUPRC uses all scores. For F1 the top words of each text are taken, as many as people mark on average in the "
        "audited texts: that share of its words, rounded, at least one. IOU-F1 counts maximal runs of top words that "
        "share at least half of their union with a marked run. Every number is computed for each text and averaged over texts, "
        "and compared with a random ranking."
    )
    order = Order("auprc", "agreement with what was marked", worst="lowest")
    marks = PickedItems(
        "marked", "words that a person marked", nothing="Nobody marked a word of this text.", known="auprc"
    )
    share: float

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """There is nothing to compare with if nothing was marked."""
        return super().refuses(scope) or (None if scope.rationales else _NO_RATIONALES)

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Find how much of a text people mark on average, which decides how many top words are compared."""
        instances, rows = subject.texts.instances, np.concatenate(subject.texts.rows)
        shares = []
        with watcher.status("Reading the rationales"):
            for places in inference_batches(instances.lengths[rows], self.config.batch_size):
                batch = instances.batch(rows[places])
                words = words_in(subject.model, batch)
                marked = marked_words(subject.model, batch, words, instances).sum(1)
                shares += (marked / words.counts)[marked > 0].tolist()
        if not shares:
            raise BadInput(
                f"No rationale of {subject.texts.name} covers a word that the model reads: check that they were made for these texts."
            )
        self.instances, self.share = instances, float(np.mean(shares))

    def rows(self, reading: Reading) -> Columns:
        """Compare the scores, and a random ranking, with what is marked."""
        words = words_in(reading.model, reading.batch)
        marked = marked_words(reading.model, reading.batch, words, self.instances)
        evidence = self.instances.split.evidence
        assert evidence is not None
        scores = words.scores(reading.scores(self.source))
        random = uniform_by_instance(
            reading.rows, words.mask.shape[1], seed=self.config.seed, draw=Stream.PLAUSIBILITY
        )
        columns: dict[str, Tensor | list[object]] = dict(self._agreement(scores, words, marked))
        columns |= {f"{name}_random": v for name, v in self._agreement(random, words, marked).items()}
        columns["given"] = [bool(evidence[row]) for row in reading.rows.tolist()]
        items = words.items(torch.arange(len(marked)), marked)
        columns["marked"] = [
            chosen[real].nonzero()[:, 0].tolist() for chosen, real in zip(items, reading.mask, strict=True)
        ]
        return columns

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over the texts with a rationale."""
        numbers: list[Number] = [self.number(name, rows[name]) for name in self.measures]
        found = {number.name: number for number in numbers}
        none = int((~rows["given"]).sum())
        apart = int((rows["given"] & rows["auprc"].is_nan()).sum())
        return self.summary(
            rows,
            f"The word that stands out most is a marked one for {percent(found['top_is_marked'])} of the texts, at random for "
            f"{percent(found['top_is_marked_random'])}; AUPRC is {value(found['auprc'])}, at random {value(found['auprc_random'])}.",
            numbers,
            f"People mark {100 * self.share:.1f} % of a text's words on average; as many top words are compared.",
            f"{none} of {len(rows)} texts have no rationale; they are left out." if none else "",
            f"The rationales of {apart} of {len(rows)} texts cover no word that the model reads; they are left out."
            if apart
            else "",
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histogram of AUPRC."""
        return [
            histogram(
                rows,
                "auprc",
                title="Agreement with what people marked",
                axis="AUPRC",
                low=0,
                high=1,
                caption="1: every marked word ranks before every other.",
            )
        ]

    def _agreement(
        self, scores: Float[Tensor, "batch words"], words: Words, marked: Bool[Tensor, "batch words"]
    ) -> dict[str, Float[Tensor, " batch"]]:
        ranks = words.ranks(scores)
        size = (self.share * words.counts + 0.5).long().clamp(min=1)
        top = words.mask & (ranks < size[:, None])
        first = (marked & (ranks == 0)).any(1).double().masked_fill(~marked.any(1), torch.nan)
        f1s = token_agreement(top, marked).f1, span_agreement(top, marked).f1
        return dict(zip(_SCORES, (auprc(scores, marked, words.mask), *f1s, first), strict=True))


def marked_words(
    model: Stages, batch: Batch, words: Words, instances: Instances
) -> Bool[Tensor, "batch words"]:
    """Which words of a batch were marked."""
    of = item_of(model, batch)
    tokens = instances.evidence(batch.rows.numpy()) & (of >= 0)
    items = torch.zeros(words.of.shape, dtype=torch.long).scatter_add_(1, of.clamp(min=0), tokens.long())
    return words.marked(items > 0)
