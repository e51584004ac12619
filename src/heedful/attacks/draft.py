"""A text on its way: the original, and what stands in the place of some of its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from heedful.attacks.cut import word_spans
from heedful.data.words.substitution import Span

_NOTHING: Mapping[int, str] = {}


@dataclass(frozen=True, eq=False)
class Source:
    """A text as it was given, cut into words."""

    text: str
    spans: tuple[Span, ...]
    words: tuple[str, ...]

    @classmethod
    def cut(cls, text: str) -> Source:
        """Cut a text into words."""
        spans = tuple(word_spans(text))
        return cls(text, spans, tuple(text[start:end] for start, end in spans))

    def __len__(self) -> int:
        return len(self.words)


class Stretch(NamedTuple):
    """Where something was replaced: a position, its place in the source, and its place in the text."""

    position: int
    span: Span
    new_span: Span


class Changed(NamedTuple):
    """What was replaced, and where the old and the new stand in their texts; nothing is old where a word was put in."""

    position: int
    old: str
    new: str
    span: Span
    new_span: Span


class Draft:
    """A source with some words replaced: by another word, by several, or by nothing.

    It remembers the draft it was made of by one replacement, because most of what is known of that one holds for it.
    """

    __slots__ = ("_text", "base", "new", "position", "similarity", "source")

    def __init__(
        self,
        source: Source,
        new: Mapping[int, str] = _NOTHING,
        *,
        base: Draft | None = None,
        position: int = -1,
    ) -> None:
        self.source, self.new, self.base, self.position = source, new, base, position
        self.similarity: float | None = None
        """How like its base it is, where a constraint has measured that already."""
        self._text: str | None = None

    def replaced(self, position: int, word: str) -> Draft:
        """Give a draft with one word replaced by another, or by nothing."""
        return Draft(self.source, {**self.new, position: word}, base=self, position=position)

    def merged(self, position: int, word: str) -> Draft:
        """Give a draft with a word and the next one replaced by one other."""
        return self.replaced(position + 1, "").replaced(position, word)

    def with_words(self, words: Mapping[int, str]) -> Draft:
        """Give a draft of the same source with these words in their places, and every other word as it was."""
        kept = {place: word for place, word in sorted(words.items()) if word != self.source.words[place]}
        return Draft(self.source, kept)

    def place(self, position: int) -> int:
        """Number the words of the text, and say at which number the words of a position begin."""
        return position + sum(
            len(word_spans(word)) - 1 for earlier, word in self.new.items() if earlier < position
        )

    def word(self, position: int) -> str:
        """Give what stands in the place of a word of the source."""
        return self.new.get(position, self.source.words[position])

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = self.rebuilt()[0]
        return self._text

    def rebuilt(self) -> tuple[str, list[Stretch]]:
        """Put the text together, and say which stretch of the source became which of the text, in order."""
        text, spans = self.source.text, self.source.spans
        parts: list[str] = []
        stretches: list[Stretch] = []
        at = length = 0
        for position in sorted(self.new):
            start, end = spans[position]
            word = self.new[position]
            # A space goes with a word that stands between two; signs that were written to it would join the next piece.
            if not word and text[end : end + 1] in ("", " ") and text[start - 1 : start] in ("", " "):
                if position > 0 and start > at and text[start - 1] == " ":
                    start -= 1
                elif text[end : end + 1] == " ":
                    end += 1
            parts += (text[at:start], word)
            length += start - at
            stretches.append(Stretch(position, (start, end), (length, length + len(word))))
            length += len(word)
            at = end
        return "".join((*parts, text[at:])), stretches

    def changes(self) -> list[Changed]:
        """List what was changed, in order.

        A word that is gone belongs to the word before it, if that was replaced: the two were merged. A word that was put
        in after another is listed by itself, with the space before it, and nothing stands in its place in the source.
        """
        text, stretches = self.rebuilt()
        found: list[Stretch] = []
        for position, span, new_span in stretches:
            old = self.source.words[position]
            word = self.new[position]
            if not word and found and found[-1].span[1] == span[0]:
                found[-1] = Stretch(found[-1].position, (found[-1].span[0], span[1]), found[-1].new_span)
            elif word.startswith(f"{old} "):
                found.append(Stretch(position, (span[1], span[1]), (new_span[0] + len(old), new_span[1])))
            elif word != old:
                found.append(Stretch(position, span, new_span))
        return [
            Changed(position, self.source.text[slice(*span)], text[slice(*new_span)], span, new_span)
            for position, span, new_span in found
        ]
