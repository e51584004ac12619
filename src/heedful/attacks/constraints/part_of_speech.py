"""A substitute must be of the same part of speech."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.attacks.draft import Draft
from heedful.data.words.tagger import tagger, universal

_BEFORE, _AFTER = 4, 3


class SamePartOfSpeech:
    """Universal tags of the word and its substitute are equal, or one is a noun and the other a verb.

    Both are tagged in a window of the original text, with four words before and three after. As in TextAttack, a word
    that stands in the window twice has the tag of its first place.
    """

    def __init__(self, *, noun_for_verb: bool = True) -> None:
        self._tagger, self._noun_for_verb = tagger(), noun_for_verb
        self._tags: dict[tuple[int, tuple[str, ...]], str] = {}

    def keep(self, draft: Draft, position: int, words: Sequence[str]) -> list[str]:
        """Tag all substitutes of a word together."""
        source = draft.source.words
        before = source[max(position - _BEFORE, 0) : position]
        after = source[position + 1 : position + 1 + _AFTER]
        own, *others = self._tag_each(before, [source[position], *words], after)
        return [word for word, tag in zip(words, others, strict=True) if self._same(own, tag)]

    def _same(self, tag: str, other: str) -> bool:
        return tag == other or (self._noun_for_verb and {tag, other} == {"NOUN", "VERB"})

    def _tag_each(self, before: tuple[str, ...], words: Sequence[str], after: tuple[str, ...]) -> list[str]:
        at = len(before)
        windows = [(*before, word, *after) for word in words]
        new = {window: None for window in windows if (at, window) not in self._tags}
        found = self._tagger.tag_word(before, [window[at] for window in new], after)
        for window, tags in zip(new, found, strict=True):
            self._tags[at, window] = universal(tags[window.index(window[at])])
        return [self._tags[at, window] for window in windows]
