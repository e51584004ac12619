"""A text cut at its spaces: which piece a word stands in, and what the piece says once words are replaced."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from heedful.attacks.draft import Source
from heedful.data.words.substitution import Span


class Pieces:
    """The pieces of a source.

    >>> pieces = Pieces(Source.cut("it's well/made , no ?"))
    >>> pieces.of_word, pieces.text(1, {2: "done"})
    ([0, 1, 1, 3], 'well/done')
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.texts = source.text.split(" ")
        self._starts = [0]
        for text in self.texts[:-1]:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self.of_word = [bisect_right(self._starts, start) - 1 for start, _ in source.spans]
        self._words: dict[int, list[int]] = {}
        for word, place in enumerate(self.of_word):
            self._words.setdefault(place, []).append(word)

    def text(self, place: int, new: Mapping[int, str]) -> str:
        """Give what a piece says with these words replaced."""
        piece, start = self.texts[place], self._starts[place]
        for word in reversed(self._words[place]):
            if word in new:
                begins, ends = self.source.spans[word]
                piece = piece[: begins - start] + new[word] + piece[ends - start :]
        return piece

    def placed(self, word: int, new: Mapping[int, str]) -> tuple[str, Span]:
        """Give what the piece of a word says with these words replaced, and where in it stands what is in the word's place.

        >>> Pieces(Source.cut("it's well/made , no ?")).placed(2, {1: "un", 2: "done"})
        ('un/done', (3, 7))
        """
        place = self.of_word[word]
        spans = self.source.spans
        earlier = [other for other in self._words[place] if other < word and other in new]
        start = spans[word][0] - self._starts[place]
        start += sum(len(new[other]) - (spans[other][1] - spans[other][0]) for other in earlier)
        size = len(new[word]) if word in new else spans[word][1] - spans[word][0]
        return self.text(place, new), (start, start + size)
