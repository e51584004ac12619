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


class Changed(NamedTuple):
    """A word that was replaced, and where the old one and the new one stand in their texts."""

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

    def word(self, position: int) -> str:
        """Give what stands in the place of a word of the source."""
        return self.new.get(position, self.source.words[position])

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = self.rebuilt()[0]
        return self._text

    def rebuilt(self) -> tuple[str, dict[int, Span]]:
        """Put the text together, and say where the replaced words now stand."""
        text, spans = self.source.text, self.source.spans
        parts: list[str] = []
        places: dict[int, Span] = {}
        at = length = 0
        for position in sorted(self.new):
            start, end = spans[position]
            word = self.new[position]
            if not word:  # a space goes with the word
                if position > 0 and start > at and text[start - 1] == " ":
                    start -= 1
                elif text[end : end + 1] == " ":
                    end += 1
            parts += (text[at:start], word)
            length += start - at
            places[position] = (length, length + len(word))
            length += len(word)
            at = end
        return "".join((*parts, text[at:])), places

    def changes(self) -> list[Changed]:
        """List the replaced words in their order."""
        places = self.rebuilt()[1]
        return [
            Changed(
                position, self.source.words[position], word, self.source.spans[position], places[position]
            )
            for position, word in sorted(self.new.items())
            if word != self.source.words[position]
        ]
