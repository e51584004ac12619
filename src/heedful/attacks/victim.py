"""What is attacked: anything that gives probabilities for texts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.attacks.draft import Draft
from heedful.errors import BadInput

_SUM = 1e-3
"""How far probabilities may be from one in all."""

Reads = Callable[[list[str]], ArrayLike]
"""A plain function: a list of texts → probabilities [texts, classes]."""


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


class FunctionVictim:
    """A function of the user's own."""

    def __init__(self, function: Reads, *, batch_size: int = 256) -> None:
        self._function, self._batch_size = function, batch_size
        self.labels: tuple[str, ...] | None = None

    def keys(self, drafts: Sequence[Draft]) -> list[str]:
        """It reads texts."""
        return [draft.text for draft in drafts]

    def read(self, keys: Sequence[str]) -> NDArray[np.float64]:
        """Ask the function."""
        parts = []
        for first in range(0, len(keys), self._batch_size):
            texts = list(keys[first : first + self._batch_size])
            parts.append(checked(self._function(texts), texts))
        return np.concatenate(parts)

    def knows(self, words: Sequence[str]) -> list[bool] | None:
        """Nobody knows what a function knows."""
        return None

    def fingerprint(self) -> str:
        """By its name alone."""
        function = self._function
        return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"


def checked(answer: ArrayLike, texts: Sequence[Any]) -> NDArray[np.float64]:
    """Take what a victim gave to texts, or say in one sentence why it cannot be probabilities."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().numpy()
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            "The model gave something that is no array of numbers: give probabilities, a row for each text."
        ) from None
    if found.ndim != 2 or found.shape[0] != len(texts) or found.shape[1] < 2:
        raise BadInput(
            f"The model gave an array {list(found.shape)} for {len(texts)} texts: give probabilities, a row for each text "
            f"and a column for each of two classes or more."
        )
    bad = ~np.isfinite(found).all(1)
    if bad.any():
        text = texts[int(bad.argmax())]
        of = f" to {text[:60]!r}" if isinstance(text, str) else ""
        raise BadInput(f"The model gives probabilities that are no numbers (NaN){of}: mend the model first.")
    wrong = (found < -_SUM).any(1) | (np.abs(found.sum(1) - 1) > _SUM)
    if wrong.any():
        row = ", ".join(f"{value:.3g}" for value in found[int(wrong.argmax())][:4])
        raise BadInput(
            f"The model gave {row} in place of probabilities, which sum to one: apply a softmax to its logits."
        )
    return found
