"""What goes wrong, in one sentence: what, where, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 2000
"""Characters of a message that anybody reads."""


class HeedfulError(Exception):
    """An error whose message is meant for the user as it stands: what was asked could not be done.

    Its exit code is not one of a verdict: 1 is *do not show*, and 3 *not enough evidence*.
    """

    exit_code = 4

    def __init__(self, message: str = "") -> None:
        # A sentence quotes what a user wrote, which may be a whole file, or half a character that nothing prints.
        message = message.encode("utf-8", "replace").decode()
        cut = len(message) > _LONGEST
        super().__init__(f"{message[: _LONGEST - 500]} … {message[-400:]}" if cut else message)


class BadInput(HeedfulError):
    """The user's input cannot be used. Nothing was written."""

    exit_code = 2


class Unanswerable(BadInput):
    """A question that cannot be asked of a model of which others can, and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"This cannot be asked of this model: {reason}.")


class Diverged(HeedfulError):
    """Training reached a loss that is not a number: a seed's bad luck, or too large a learning rate."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Name the nearest known word, or list them all.

    >>> did_you_mean("bilstn", ["bilstm", "cnn"])
    'did you mean bilstm?'
    >>> did_you_mean("xyz", ["bilstm", "cnn"])
    'choose one of bilstm, cnn.'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    return f"choose one of {', '.join(names)}." if names else "there are none."
