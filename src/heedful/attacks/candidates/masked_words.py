"""Words that a masked language model expects where a word stands, after it, or in the place of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heedful.attacks.candidates.edits import Edit, Kind, mergeable
from heedful.attacks.candidates.neighbours import written_like
from heedful.attacks.draft import Draft
from heedful.attacks.language_model import MaskedLanguageModel


class MaskedWords:
    """The most probable words in the place of a word."""

    def __init__(self, model: MaskedLanguageModel, *, count: int = 50) -> None:
        self._model, self._count = model, count

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Take each word out and ask for what is missing; the word itself is no substitute."""
        texts = [draft.replaced(position, self._model.mask).text for draft, position in places]
        expected = self._model.expected(texts, self._count + 1)
        return [
            _others([one.word for one in some], draft.word(position))[: self._count]
            for (draft, position), some in zip(places, expected, strict=True)
        ]


class MaskedEdits:
    """Words to replace, insert and merge: the most probable ones of each, if they are probable enough."""

    def __init__(
        self,
        model: MaskedLanguageModel,
        *,
        count: int = 50,
        replace: float = 5e-4,
        insert: float = 0.0,
        merge: float = 5e-3,
    ) -> None:
        self._model, self._count = model, count
        self._least: dict[Kind, float] = {"replace": replace, "insert": insert, "merge": merge}

    def propose_edits(
        self, places: Sequence[tuple[Draft, int]], allows: Callable[[Draft, int], bool]
    ) -> list[list[Edit]]:
        """Ask for all kinds of edits at all places together."""
        asked: list[tuple[int, Kind]] = []
        for number, (draft, position) in enumerate(places):
            asked += [(number, "replace"), (number, "insert")]
            # Both words count as replaced.
            if mergeable(draft, position) and allows(
                draft.replaced(position, self._model.mask), position + 1
            ):
                asked.append((number, "merge"))
        texts = [Edit(kind, self._model.mask).apply(*places[number]).text for number, kind in asked]
        found: list[list[Edit]] = [[] for _ in places]
        expected = self._model.expected(texts, self._count + 1)
        for (number, kind), some in zip(asked, expected, strict=True):
            draft, position = places[number]
            probable = [one.word for one in some if one.probability >= self._least[kind]]
            words = probable if kind == "insert" else _others(probable, draft.word(position))
            found[number] += [Edit(kind, word) for word in words[: self._count]]
        return found


def _others(words: Sequence[str], word: str) -> list[str]:
    """Write words as a word is written, without that word."""
    others = dict.fromkeys(written_like(other, word) for other in words)
    return [other for other in others if other.lower() != word.lower()]
