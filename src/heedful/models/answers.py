"""A function of the user's own, asked for probabilities: in batches, once for each text, again where it fails, and checked."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.errors import BadInput

Reads = Callable[[list[str]], ArrayLike]
"""A plain function: a list of texts → probabilities [texts, classes]."""

PAUSES = (1.0, 5.0)
"""Seconds to wait before a function that failed is asked again: a remote service may be busy."""

_SUM, _ROUNDING = 1e-2, 1e-3
"""How far probabilities may be from one in all, as where each has two digits or half precision, and how far one from its bounds."""

SAME = 1e-3
"""How far two answers to the same text may lie apart: single precision in batches of other sizes comes to much less."""

_MISTAKES = (
    TypeError,
    AttributeError,
    NameError,
    ImportError,
    LookupError,
    ArithmeticError,
    AssertionError,
    NotImplementedError,
    SystemExit,
)
"""What a program that is wrong raises; asking it again would not help."""


class Answers:
    """What a function says of texts. No text is sent to it twice, but to see whether it answers the same."""

    def __init__(
        self,
        function: Reads,
        *,
        name: str | None = None,
        batch_size: int = 256,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._function, self._batch_size, self._pauses = function, batch_size, tuple(pauses)
        self.name = name or name_of(function)
        self.asked = 0
        """How many texts the function has answered."""
        self.repeated = 0
        """How many calls failed and were made again."""
        self.classes: int | None = None
        """How many probabilities it gives; None before it was asked."""
        self._known: dict[bytes, NDArray[np.float64]] = {}

    def ask(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give the probabilities of texts [texts, classes], asking only for those that are new."""
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            self._known |= zip(new, self._call(list(new.values())), strict=True)
        if not keys:
            return np.empty((0, self.classes or 0))
        return np.stack([self._known[key] for key in keys])

    def check(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Ask for a few texts together and once more one by one, in the other order: the answers must be the same."""
        found = self.ask(texts)
        again = [self._call([text])[0] for text in reversed(texts)][::-1]
        for text, before, after in zip(texts, found, again, strict=True):
            place = int(np.abs(before - after).argmax())
            if abs(before[place] - after[place]) > SAME:
                raise BadInput(
                    f"{self.name} changes its answer to the same text ({_short(text)}: {before[place]:.4g}, then "
                    f"{after[place]:.4g}), by chance or by the texts beside it: switch off dropout and sampling, and let it "
                    f"read every text by itself."
                )
        return found

    def _call(self, texts: list[str]) -> NDArray[np.float64]:
        parts = []
        for first in range(0, len(texts), self._batch_size):
            some = texts[first : first + self._batch_size]
            found = checked(self._try(some), some, who=self.name)
            if self.classes not in (None, found.shape[1]):
                raise BadInput(
                    f"{self.name} gave {self.classes} probabilities for some texts and {found.shape[1]} for others: give one for "
                    f"every class, always."
                )
            self.classes = found.shape[1]
            self.asked += len(some)
            parts.append(found)
        return np.concatenate(parts)

    def _try(self, texts: list[str]) -> ArrayLike:
        """Call the function, and call it again after a pause where it may only have been busy."""
        for pause in (*self._pauses, None):
            try:
                return self._function(list(texts))
            except (Exception, SystemExit) as error:
                if pause is None or isinstance(error, _MISTAKES):
                    raise BadInput(self._failure(error, texts)) from error
                self.repeated += 1
                time.sleep(pause)
        raise AssertionError  # the last round returns or raises

    def _failure(self, error: BaseException, texts: list[str]) -> str:
        said = " ".join(str(error).split())[:300]
        told = f"{type(error).__name__}: {said}" if said else type(error).__name__
        empty = (
            " A text is empty where all its words were deleted: it must answer that too."
            if "" in texts
            else ""
        )
        return f"{self.name} failed on {len(texts)} texts ({_short(texts[0])}) with {told.rstrip('.')}: mend it and ask again.{empty}"


def checked(answer: ArrayLike, texts: Sequence[Any], *, who: str = "The model") -> NDArray[np.float64]:
    """Take what was given to texts, or say in one sentence why it cannot be probabilities."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu().double().numpy()  # numpy knows no bfloat16
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            f"{who} gave something that is no array of numbers: give probabilities, a row for each text."
        ) from None
    if found.ndim != 2 or found.shape[0] != len(texts) or found.shape[1] < 2:
        raise BadInput(
            f"{who} gave an array {list(found.shape)} for {len(texts)} texts: give probabilities, a row for each text "
            f"and a column for each of two classes or more."
        )
    bad = ~np.isfinite(found).all(1)
    if bad.any():
        text = texts[int(bad.argmax())]
        of = f" to {_short(text)}" if isinstance(text, str) else ""
        raise BadInput(f"{who} gives probabilities that are no numbers (NaN){of}: mend the model first.")
    total = found.sum(1, keepdims=True)
    off = np.abs(total - 1)
    wrong = (found < -_ROUNDING).any(1) | (off[:, 0] > _SUM * (1 + _ROUNDING))
    if wrong.any():
        row = ", ".join(f"{value:.3g}" for value in found[int(wrong.argmax())][:4])
        raise BadInput(
            f"{who} gave {row} in place of probabilities, which sum to one: apply a softmax to its logits."
        )
    return np.where(off > _ROUNDING**2, found / total, found)  # single precision is near enough


def name_of(function: Any) -> str:
    """Call a function by the module and the name that it was defined by."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return ".".join(filter(None, (getattr(function, "__module__", ""), name)))


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
