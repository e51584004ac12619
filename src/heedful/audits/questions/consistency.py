"""Do a text and its attacked version get the same prediction for the same reasons? (FLAT 5.2)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Heatmap, Order, PickedItems
from heedful.audits.questions.movement import by_word, mean_sharpness, snapshot
from heedful.audits.subject.attacked_rows import ATTACK_OPTIONS, attacked_rows, check_attacks
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading, read_batch
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.words import Words, words_in
from heedful.data.corpus import Split
from heedful.data.instances import Batch
from heedful.data.words.substitution import Change, stretches, word_spans
from heedful.measures.consistency import KS, consistency, top_k_intersection
from heedful.measures.divergence import LN_2, jsd
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

TOP = 5
"""The k of the paper's tables."""


@register
class ConsistencyAudit(Audit):
    """Compares the scores of texts with those of what an attack made of them, word by word."""

    name = "consistency"
    revision = 2
    question = "Do a text and its attacked version get the same prediction for the same reasons?"
    paper = "flat"
    options = ATTACK_OPTIONS
    only_named = "It attacks every text, which takes long."
    does = "changes words"
    compared = ("tau", f"top_{TOP}", "same_prediction", "same_reason")
    measures: ClassVar = {
        "tau": Measure(
            "Kendall's τ of the words of a text and of the attacked text",
            low=-1.0,
            better="higher",
            plain="An attack leaves the order of the words alike by {} (1: the same order; 0: unrelated).",
        ),
        **{
            f"top_{k}": Measure(f"share of the top {k} words that stay under attack", better="higher")
            for k in KS
        },
        "same_prediction": Measure(
            "share of texts with the same prediction under attack",
            better="higher",
            plain="{} of the texts keep their prediction under attack.",
        ),
        "same_reason": Measure(
            "share of texts whose top word for the predicted class is the same under attack", better="higher"
        ),
        "same_both": Measure(
            "share of texts with the same prediction and the same top word under attack", better="higher"
        ),
        "tau_successful": Measure("Kendall's τ where the attack succeeded", low=-1.0, better="higher"),
        f"top_{TOP}_successful": Measure(
            f"share of the top {TOP} words that stay where the attack succeeded", better="higher"
        ),
        "jsd": Measure("JSD of the heatmap to that of the attacked text, in nats", high=LN_2, better="lower"),
        "sharpness": Measure("JSD of the unchanged heatmap to uniform, in nats", high=LN_2),
        "sharpness_after": Measure("JSD of the attacked text's heatmap to uniform, in nats", high=LN_2),
    }
    caveats = (
        "Texts that the attack left alone (the prediction was wrong before, or nothing was found) are the same and count as "
        "consistent, as in the paper; the numbers of successful attacks stand apart.",
        "A model that resists an attack is attacked with more changes: texts of different models are not the same texts.",
    )
    equation = "τ_b(φ(x), φ(x′)) over aligned words;  TI_k = |top_k(φ(x)) ∩ top_k(φ(x′))| / k"
    method = (
        "Every text is attacked, and the words of both texts are aligned by their places: a word and its substitute are the "
        "same word, and where one of them is several words their scores are added up. An explainer that can speak for any class (integrated gradients, LIME, gradients) is asked for each, and "
        "τ and the intersection of top words are averaged over classes; other scores speak for the decision. The top word that is the same or not is that of the class "
        "predicted for the text. Pieces of a word are added up. The JSD is of heatmaps as distributions over aligned words."
    )
    order = Order("tau", "how alike the reasons are", worst="lowest")
    heatmap = Heatmap("attacked_weights", "Under attack", "attacked_probability")
    marks = PickedItems(
        "replaced",
        "words that the attack replaced",
        nothing="The attack left this text alone.",
        known="attacked_probability",
    )

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Attacked texts are scored again."""
        return super().refuses(scope) or scope.fixed() or scope.paired()

    def check(self) -> None:
        """Its attack, which is the first, must be at hand."""
        check_attacks(self.config, self.config.attacks[:1])

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Attack the texts, or find what was attacked before."""
        frame = attacked_rows(subject, self.config, self.config.attacks[0], watcher)
        self.classifier = subject.classifier
        self.found = {row["row"]: row for row in frame.iter_rows(named=True)}

    def rows(self, reading: Reading) -> Columns:
        """Read the attacked texts, and compare them word by word."""
        found = [self.found[row] for row in reading.rows.tolist()]
        after = read_batch(
            reading.model, self._attacked(reading, found), seed=reading.seed, exact=reading.exact
        )
        words, others = (words_in(each.model, each.batch) for each in (reading, after))
        joined, theirs, where = self._joined(reading, after, found)
        own, other = self._scores(reading, joined), self._scores(after, theirs)
        alike = consistency(own, other, where, x_mask=joined.mask, y_mask=theirs.mask)
        decided = reading.probabilities.argmax(-1)
        same = (decided == after.probabilities.argmax(-1)).double()
        reason = top_k_intersection(
            _of_class(own, decided),
            _of_class(other, decided),
            where,
            k=1,
            x_mask=joined.mask,
            y_mask=theirs.mask,
        )
        won = torch.tensor([row["status"] == "successful" for row in found])
        heatmaps = [
            by_word(snapshot(each, self.source), part.of, part.mask.shape[1])
            for each, part in ((reading, words), (after, others), (reading, joined), (after, theirs))
        ]
        weights, moved = (each.weights.mean(1) for each in heatmaps[2:])
        columns: dict[str, Tensor | list[object]] = {"tau": alike.tau}
        columns |= {f"top_{k}": alike.top_k[:, place] for place, k in enumerate(KS)}
        return columns | {
            "same_prediction": same,
            "same_reason": reason,
            "same_both": same * reason,
            "tau_successful": alike.tau.masked_fill(~won, torch.nan),
            f"top_{TOP}_successful": alike.top_k[:, TOP - 1].masked_fill(~won, torch.nan),
            "jsd": _moved(weights, moved, where),
            "sharpness": mean_sharpness(heatmaps[0]),
            "sharpness_after": mean_sharpness(heatmaps[1]),
            "attacked_probability": after.probabilities.gather(
                1, reading.probabilities.argmax(-1, keepdim=True)
            )[:, 0],
            "attacked_weights": ragged(_laid_out(moved, where, joined), reading.mask),
            "replaced": self._replaced(reading, found, words),
            "status": [row["status"] for row in found],
            "attacked": [row["attacked"] for row in found],
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts."""
        names = [name for name in self.measures if name in rows.columns]
        found = {name: self.number(name, rows[name]) for name in names}
        numbers: list[Number] = list(found.values())
        for name in ("tau", f"top_{TOP}"):
            numbers += self.by_class(name, rows, name)[1:]
        counts = {
            status: int((rows["status"] == status).sum()) for status in ("successful", "failed", "skipped")
        }
        sentence = (
            f"Attacked by {self.config.attacks[0]}, {percent(found['same_prediction'])} of the texts keep their prediction and "
            f"{percent(found['same_reason'])} their top word; the order of the words is alike by {value(found['tau'])} "
            f"(where the attack succeeded {value(found['tau_successful'])}), and of the top {TOP} words "
            f"{percent(found[f'top_{TOP}'])} stay."
        )
        note = ", ".join(f"{count} {status}" for status, count in counts.items())
        known = " Substitutes are words that the model knows." if self.config.known_words else ""
        return self.summary(rows, sentence, numbers, f"Attacks: {note}.{known}")

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """How alike the reasons are."""
        return [
            histogram(
                rows, "tau", title="Reasons under attack", axis="Kendall's τ", low=-1.0, high=1.0,
                caption="1: the words keep their order; 0: the orders are unrelated.",
            )
        ]  # fmt: skip

    def _attacked(self, reading: Reading, found: list[dict[str, Any]]) -> Batch:
        texts = [str(row["attacked"]) for row in found]
        split = Split(texts, reading.batch.labels.numpy())
        return self.classifier.instances(split).batch(np.arange(len(texts)))

    def _joined(
        self, reading: Reading, after: Reading, found: list[dict[str, Any]]
    ) -> tuple[Words, Words, Int[Tensor, "batch stretches"]]:
        """Join what stands in the place of each other in both texts, and find each stretch, or sentence, in the attacked one."""
        words, others = (words_in(each.model, each.batch) for each in (reading, after))
        if reading.model.unit == "sentence":
            places = torch.arange(words.mask.shape[1])[None].expand_as(words.mask)
            return words, others, torch.where(words.mask & (places < others.counts[:, None]), places, -1)
        changes = [
            [Change((c["start"], c["end"]), (c["new_start"], c["new_end"])) for c in row["changed"]]
            for row in found
        ]
        spans = (word_spans(each.batch.tokens) for each in (reading, after))
        pairs = [stretches(*row) for row in zip(*spans, changes, strict=True)]
        joined = words.joined([pair.before for pair in pairs])
        where = torch.full(joined.mask.shape, -1)
        for row, pair in zip(where, pairs, strict=True):
            row[: len(pair.counterpart)] = torch.tensor(pair.counterpart, dtype=torch.long)
        return joined, others.joined([pair.after for pair in pairs]), where

    def _replaced(self, reading: Reading, found: list[dict[str, Any]], words: Words) -> list[object]:
        """Number the items of the words that were replaced."""
        chosen = torch.zeros(words.mask.shape, dtype=torch.bool)
        spans = word_spans(reading.batch.tokens) if reading.model.unit == "word" else []
        for row, places in enumerate(spans):
            gone = [(c["start"], c["end"]) for c in found[row]["changed"]]
            for place, (start, end) in enumerate(places):
                chosen[row, place] = any(first < end and start < last for first, last in gone)
        items = words.items(torch.arange(len(chosen)), chosen)
        return [each[real].nonzero()[:, 0].tolist() for each, real in zip(items, reading.mask, strict=True)]

    def _scores(self, reading: Reading, words: Words) -> Float[Tensor, "batch classes words"]:
        return torch.stack([words.scores(each) for each in reading.class_scores(self.source).unbind(1)], 1)


def _of_class(
    scores: Float[Tensor, "batch classes words"], classes: Int[Tensor, " batch"]
) -> Float[Tensor, "batch one words"]:
    """Scores for one class of each text; scores that speak for the decision are what they are."""
    if scores.shape[1] == 1:
        return scores
    return scores[torch.arange(len(scores)), classes][:, None]


def _moved(
    before: Float[Tensor, "batch words"],
    after: Float[Tensor, "batch others"],
    counterpart: Int[Tensor, "batch words"],
) -> Float[Tensor, " batch"]:
    """JSD of two heatmaps over aligned words; what has no counterpart stands for itself."""
    there = counterpart >= 0
    aligned = after.gather(1, counterpart.clamp(min=0)).masked_fill(~there, 0.0)
    rest = (after.sum(1, keepdim=True) - aligned.sum(1, keepdim=True)).clamp(min=0)
    return jsd(torch.cat([before, torch.zeros_like(rest)], 1), torch.cat([aligned, rest], 1))


def _laid_out(
    weights: Float[Tensor, "batch others"], counterpart: Int[Tensor, "batch words"], words: Words
) -> Float[Tensor, "batch items"]:
    """Give each item of the original what the word in its place weighs; the pieces of a word share it."""
    there = weights.gather(1, counterpart.clamp(min=0)).masked_fill(counterpart < 0, 0.0)
    of, real = words.of.clamp(min=0), words.of >= 0
    pieces = torch.zeros_like(there).scatter_add(1, of, real.to(there.dtype)).clamp(min=1)
    return (there / pieces).gather(1, of).masked_fill(~real, 0.0)
