"""What is attacked: anything that gives probabilities for texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heedful.attacks.draft import Draft
from heedful.models.answers import Answers, Reads
from heedful.models.stages import Auditable, Opaque

_PROBES = 8
"""Texts that a function is asked twice."""

_KNOWN_BY = 32
"""Texts that a function is known by where what was kept of it is found again."""


@runtime_checkable
class Victim(Protocol):
    """Reads drafts in two steps, so that what it would read alike is read once."""

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of its classes, if it has any."""

    def keys(self, drafts: Sequence[Draft]) -> Sequence[Hashable]:
        """Give what it reads of each draft: drafts with equal keys get equal probabilities."""

    def read(self, keys: Sequence[Any]) -> NDArray[np.float64]:
        """Give probabilities for keys [keys, classes], each by itself: its companions do not matter."""

    def knows(self, words: Sequence[str]) -> list[bool] | None:
        """Whether it can tell each word from an unknown one; None where there are no unknown words."""

    def fingerprint(self) -> str:
        """Changes when its answers do, as far as that can be known."""


@runtime_checkable
class ReadsInPlace(Protocol):
    """A victim that reads a word otherwise by what stands beside it: a full stop after "etc." makes two dots."""

    def knows_at(self, draft: Draft, position: int, words: Sequence[str]) -> list[bool] | None:
        """Whether it can tell what each word, in its place in a draft, brings there from unknown words; None as above."""


def knows_at(victim: Victim) -> Callable[[Draft, int, Sequence[str]], list[bool] | None]:
    """Give a function that says whether a victim knows what words bring to a place; what stood there before does not count."""
    if isinstance(victim, ReadsInPlace):
        return victim.knows_at
    return lambda draft, position, words: victim.knows([brought(draft, position, word) for word in words])


def brought(draft: Draft, position: int, word: str) -> str:
    """Give what a word brings to its place: without the original word, after which it may be put.

    >>> from heedful.attacks.draft import Source
    >>> [brought(Draft(Source.cut("a fine film")), 1, word) for word in ("good", "fine old")]
    ['good', 'old']
    """
    return word.removeprefix(f"{draft.source.words[position]} ")


class KnownAnswers:
    """Some of what a function was asked, by which it is known again: the same ones in whatever order they come."""

    def __init__(self) -> None:
        self.said: dict[str, list[float]] = {}
        self._rank: dict[str, bytes] = {}

    def add(self, texts: Sequence[str], answers: NDArray[np.float64]) -> None:
        """Look at more texts; those with the least digests are kept."""
        for text, answer in zip(texts, answers, strict=True):
            if text in self.said:
                continue
            rank = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            if len(self.said) >= _KNOWN_BY:
                last = max(self._rank, key=self._rank.__getitem__)
                if rank >= self._rank[last]:
                    continue
                del self.said[last], self._rank[last]
            self.said[text], self._rank[text] = answer.tolist(), rank


class FunctionVictim:
    """A function of the user's own."""

    def __init__(self, function: Reads, *, batch_size: int = 256) -> None:
        self._answers = Answers(function, batch_size=batch_size)
        self._ask = self._answers.ask
        self.labels: tuple[str, ...] | None = None
        self.known_by = KnownAnswers()

    def keys(self, drafts: Sequence[Draft]) -> list[str]:
        """It reads texts."""
        return [draft.text for draft in drafts]

    def read(self, keys: Sequence[str]) -> NDArray[np.float64]:
        """Ask the function for the texts that it was not asked for before."""
        found = self._ask(keys)
        self.known_by.add(keys, found)
        return found

    def knows(self, words: Sequence[str]) -> list[bool] | None:
        """Nobody knows what a function knows."""
        return None

    def check(self, texts: Sequence[str]) -> None:
        """Ask for a few texts twice: the answers must be the same."""
        places = np.unique(np.linspace(0, len(texts) - 1, _PROBES).astype(int))
        self._answers.check(list(dict.fromkeys(texts[place] for place in places)))

    def fingerprint(self) -> str:
        """By its name alone: what is kept of a function is taken only where it still gives the same answers."""
        return self._answers.name


class OpaqueVictim(FunctionVictim):
    """A function that has names for its classes, and is known by some of its answers."""

    def __init__(self, classifier: Auditable) -> None:
        assert isinstance(classifier.model, Opaque)
        self._classifier, self._ask = classifier, classifier.model.ask
        self.labels = classifier.labels
        self.known_by = KnownAnswers()

    def fingerprint(self) -> str:
        """That of the classifier."""
        return self._classifier.fingerprint()
