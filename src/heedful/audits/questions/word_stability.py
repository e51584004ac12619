"""Does the heatmap survive synonyms? SEAT: Tables 3 and 10, Figure 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Columns, Summary, register
from heedful.audits.chart_kinds import boxes
from heedful.audits.exhibits import Chart
from heedful.audits.questions.movement import (
    Change,
    Snapshot,
    by_word,
    compare_snapshots,
    leave_out,
    snapshot,
)
from heedful.audits.questions.stability_audit import StabilityAudit, measures
from heedful.audits.questions.synonym_source import synonyms_for
from heedful.audits.subject.reading import Reading, read_batch
from heedful.config import AuditOptions, Numbers
from heedful.data.tokens import Tokens
from heedful.data.words.inflection import FUNCTION_WORDS
from heedful.data.words.substitution import Span, recased, replace_words, word_spans, words_of
from heedful.measures.streams import shuffles_by_instance
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject


class WordStabilityOptions(AuditOptions):
    """Options of this audit only."""

    replaced: Numbers = Field(
        (1, 2, 3), description="Words replaced in a text, separated by commas (word_stability)."
    )
    synonyms: str | None = Field(
        None,
        description="Where synonyms come from: vectors by name or file, or a file with a word and its synonyms on each line, "
        "or JSON; also .gz (word_stability).",
    )


@register
class WordStability(StabilityAudit):
    """Replaces some words of a text by their nearest synonyms, and reads it again."""

    name = "word_stability"
    question = "Does the heatmap survive a synonym?"
    options = ("replaced", "synonyms", "draws", "top_k")
    config: WordStabilityOptions
    does = "changes words"
    only_named = "It needs synonyms: vectors, or a file of your own."
    measures: ClassVar = measures("when a word is replaced by a synonym")
    caveats = (
        "The nearest word by its vector is not always a synonym: good and bad are near each other, and then the "
        "prediction is right to move. A file of synonyms (--synonyms) is more reliable.",
        "A flat heatmap does not move whatever happens: read JSD together with sharpness, or read the relative JSD.",
    )
    method = (
        "Words of a text are drawn at random and replaced by their nearest synonym among the words that the model knows: "
        "never by themselves, never by another form of themselves (by a rule on endings, which misses irregular forms). "
        "Words of three letters or more are drawn; function words (the, with) only if there are no "
        "others. The words replaced first stay replaced when more are. Heatmaps are compared word by word, with the pieces "
        "of a word added up, or sentence by sentence. The relative JSD divides by the distance of both from uniform."
    )

    @property
    def headline(self) -> int:
        """How many words are replaced for the numbers that are reported first: the fewest."""
        return min(self.config.replaced)

    @property
    def main_condition(self) -> str:
        """The fewest replaced words."""
        return str(self.headline)

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Look up the synonyms of all words of the texts, once."""
        super().prepare(subject, watcher)
        self.vocabulary = subject.classifier.vocabulary
        instances = subject.texts.instances
        with watcher.status("Looking up synonyms"):
            words: set[str] = set()
            for chunk in subject.texts.rows:
                for part in np.array_split(chunk, max(1, len(chunk) // subject.options.batch_size)):
                    tokens = instances.tokens.pad(part, [instances.split.texts[i] for i in part])
                    words |= _written(tokens)
            self.synonyms = synonyms_for(subject.classifier, words, self.config.synonyms)

    def rows(self, reading: Reading) -> Columns:
        """Replace, read again, and compare word by word."""
        tokens = reading.batch.tokens
        spans = word_spans(tokens)
        places = [self._replaceable(text, row) for text, row in zip(tokens.texts, spans, strict=True)]
        before = snapshot(reading, self.source)
        changes: dict[int, list[Change]] = {}
        predicted: dict[int, list[Tensor]] = {}
        astray = torch.zeros(len(spans), dtype=torch.bool)
        shown: list[list[str]] = []
        for draw in range(self.config.draws):
            orders = self._orders(reading.rows, tokens.texts, spans, places, draw)
            for count in self.config.replaced:
                new = [
                    {place: self._synonym(text[row[place][0] : row[place][1]]) for place in order[:count]}
                    for text, row, order in zip(tokens.texts, spans, orders, strict=True)
                ]
                if draw == 0 and count == max(self.config.replaced):
                    shown = [
                        _replacements(*changed) for changed in zip(tokens.texts, spans, new, strict=True)
                    ]
                texts = [replace_words(*parts) for parts in zip(tokens.texts, spans, new, strict=True)]
                after, lost = self._read(reading, [t for t, _ in texts], [moved for _, moved in texts])
                astray |= lost
                change = compare_snapshots(*self._aligned(reading, before, after), k=self.config.top_k)
                same = torch.tensor([not words for words in new])
                changes.setdefault(count, []).append(leave_out(change, same | lost))
                predicted.setdefault(count, []).append(after[0].probabilities)
        own, _ = self._aligned(reading, before, (before, tokens))
        columns = self.context_columns(own, reading)
        columns |= {
            "compared": own.mask.sum(1).tolist(),
            "replaceable": [len(row) for row in places],
            "replaced": shown,
            "astray": astray.tolist(),
        }
        for count, found in changes.items():
            columns |= self.columns(str(count), found, predicted[count])
        return columns | {name: columns[f"{name}_{self.main_condition}"] for name in Change._fields}

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average for each number of replaced words; the fewest are reported first."""
        conditions = {str(count): f"{count} replaced" for count in self.config.replaced}
        numbers = self.numbers(rows, conditions)
        words = "one word" if self.headline == 1 else f"{self.headline} words"
        notes = self.notes(rows, "compared" if "compared" in rows.columns else "items")
        if "replaceable" in rows.columns:
            notes += self._counted(rows)
        return self.summary(
            rows, f"A synonym for {words} of a text {self.steadiness(numbers)}", numbers, *notes
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Relative JSD by the number of replaced words, and stability against sharpness."""
        groups = {
            f"{count} replaced": rows[f"relative_jsd_{count}"]
            for count in self.config.replaced
            if f"relative_jsd_{count}" in rows.columns
        }
        figures = [self.against_sharpness(rows)]
        if groups:
            figures.insert(
                0,
                boxes(
                    groups,
                    title="How far synonyms move the heatmap",
                    axis="relative JSD",
                    accent=f"{self.headline} replaced",
                    caption="Box: half of the texts; line: nine in ten.",
                ),
            )
        return figures

    def _counted(self, rows: pl.DataFrame) -> list[str]:
        none = int((rows["replaceable"] == 0).sum())
        most = max(self.config.replaced)
        few = int((rows["replaceable"] < most).sum()) - none
        lost = int(rows["astray"].sum())
        reasons = (
            (none, "texts have no word with a synonym; they are left out."),
            (few, f"texts have fewer than {most} words with a synonym; what they have is replaced."),
            (lost, "texts are cut into other words when one is replaced, and are left out where that is so."),
        )
        return [self.synonyms.origin, *(f"{count} {what}" for count, what in reasons if count)]

    def _replaceable(self, text: str, spans: list[Span]) -> list[int]:
        return [p for p, (start, end) in enumerate(spans) if text[start:end].lower() in self.synonyms.found]

    def _synonym(self, word: str) -> str:
        """Return the synonym of a word in the case of the word, unless the model does not know it in that case."""
        synonym = self.synonyms.found[word.lower()]
        written = recased(synonym, word)
        return written if self.synonyms.known is None or written in self.synonyms.known else synonym

    def _orders(
        self,
        rows: Int[Tensor, " batch"],
        texts: list[str],
        spans: list[list[Span]],
        places: list[list[int]],
        draw: int,
    ) -> list[list[int]]:
        """Return the positions of each text in the order in which they are replaced: at random, function words last."""
        lengths = torch.tensor([len(row) for row in places])
        if not int(lengths.max()):
            return [[] for _ in places]
        shuffled = shuffles_by_instance(rows, lengths, seed=self.config.seed, draws=range(draw, draw + 1))[0]
        found = []
        for text, row, own, order in zip(texts, spans, places, shuffled.tolist(), strict=True):
            drawn = [own[i] for i in order[: len(own)]]
            found.append(sorted(drawn, key=lambda p: text[row[p][0] : row[p][1]].lower() in FUNCTION_WORDS))
        return found

    def _read(
        self, reading: Reading, texts: list[str], spans: list[list[Span]]
    ) -> tuple[tuple[Snapshot, Tokens], Bool[Tensor, " batch"]]:
        """Read changed texts; a text whose words are no longer where they should be is `astray`."""
        tokens = self.vocabulary.encode(texts).pad(np.arange(len(texts)), texts)
        again = read_batch(reading.model, replace(reading.batch, tokens=tokens), seed=reading.seed)
        # A text that was cut after a number of pieces may end elsewhere now: words are compared as far as both go.
        astray = [
            found[: len(wanted)] != wanted[: len(found)]
            for found, wanted in zip(word_spans(tokens), spans, strict=True)
        ]
        return (snapshot(again, self.source), tokens), torch.tensor(astray)

    def _aligned(
        self, reading: Reading, before: Snapshot, after: tuple[Snapshot, Tokens]
    ) -> tuple[Snapshot, Snapshot]:
        """Lay both heatmaps out over the same words, or the same sentences."""
        heatmap, tokens = after
        if reading.model.unit == "sentence":
            numbers = [torch.where(s.mask, torch.arange(s.mask.shape[1]), -1) for s in (before, heatmap)]
        else:
            numbers = [words_of(t) for t in (reading.batch.tokens, tokens)]
        size = max(int(found.max()) for found in numbers) + 1
        return by_word(before, numbers[0], size), by_word(heatmap, numbers[1], size)


def _written(tokens: Tokens) -> set[str]:
    return {
        text[start:end]
        for text, row in zip(tokens.texts, word_spans(tokens), strict=True)
        for start, end in row
    }


def _replacements(text: str, spans: list[Span], new: dict[int, str]) -> list[str]:
    return [f"{text[spans[p][0] : spans[p][1]]}→{word}" for p, word in sorted(new.items())]
