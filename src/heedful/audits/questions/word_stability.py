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
    by_word,
    compare_snapshots,
    leave_out,
    snapshot,
)
from heedful.audits.questions.stability_audit import StabilityAudit, measures
from heedful.audits.questions.synonym_source import synonyms_for
from heedful.audits.subject.reading import Reading, read_batch
from heedful.audits.subject.words import words_in
from heedful.config import AuditOptions, Numbers
from heedful.data.tokens import Tokens
from heedful.data.words.inflection import FUNCTION_WORDS
from heedful.data.words.substitution import Change as Replaced
from heedful.data.words.substitution import (
    Span,
    changes_between,
    counterparts,
    recased,
    replace_words,
    shared_numbers,
    word_spans,
)
from heedful.measures.streams import shuffles_by_instance
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.scope import Scope
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

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Words are replaced in the text itself."""
        return super().refuses(scope) or scope.paired()

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
        words = words_in(reading.model, reading.batch)
        own = words.of
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
                again = self._read_again(reading, [text for text, _ in texts])
                replaced = [
                    changes_between(row, moved, list(put))
                    for row, (_, moved), put in zip(spans, texts, new, strict=True)
                ]
                numbers, lost = _numbers(again, spans, replaced)
                astray |= lost
                size = 1 + max(int(own.max()), int(numbers.max()))
                after = by_word(snapshot(again, self.source), numbers, size)
                change = compare_snapshots(by_word(before, own, size), after, k=self.config.top_k)
                same = torch.tensor([not put for put in new])
                changes.setdefault(count, []).append(leave_out(change, same | lost))
                predicted.setdefault(count, []).append(again.probabilities)
        columns = self.context_columns(by_word(before, own, words.mask.shape[1]), reading)
        columns |= {
            "compared": words.counts.tolist(),
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
        # The beginning of a word at which a text was cut off is no word.
        whole = len(spans) - (bool(spans) and text[spans[-1][1] : spans[-1][1] + 1].isalnum())
        return [
            place
            for place, (start, end) in enumerate(spans[:whole])
            if text[start:end].lower() in self.synonyms.found
        ]

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

    def _read_again(self, reading: Reading, texts: list[str]) -> Reading:
        tokens = self.vocabulary.encode(texts).pad(np.arange(len(texts)), texts)
        return read_batch(
            reading.model, replace(reading.batch, tokens=tokens), seed=reading.seed, exact=reading.exact
        )


def _numbers(
    after: Reading, spans: list[list[Span]], replaced: list[list[Replaced]]
) -> tuple[Int[Tensor, "batch items"], Bool[Tensor, " batch"]]:
    """Number the items of changed texts by the words, or sentences, of the texts; some texts are `astray`.

    A text that was cut after a number of pieces may end elsewhere now: words are compared as far as both go.
    """
    others = word_spans(after.batch.tokens)
    found = [
        shared_numbers(row[: len(own)], theirs, changed)
        for own, row, theirs, changed in zip(
            spans, counterparts(spans, others, replaced).tolist(), others, replaced, strict=True
        )
    ]
    astray = torch.tensor([numbers is None for numbers in found])
    words = words_in(after.model, after.batch)
    if after.model.unit == "sentence":
        return words.of, astray
    of = words.of.clone()
    for row, numbers in zip(of, found, strict=True):
        if numbers is not None:
            row[row >= 0] = torch.tensor(numbers, dtype=torch.long)[row[row >= 0]]
    return of, astray


def _written(tokens: Tokens) -> set[str]:
    return {
        text[start:end]
        for text, row in zip(tokens.texts, word_spans(tokens), strict=True)
        for start, end in row
    }


def _replacements(text: str, spans: list[Span], new: dict[int, str]) -> list[str]:
    return [f"{text[spans[p][0] : spans[p][1]]}→{word}" for p, word in sorted(new.items())]
