"""One of many independent pieces of work, described by data, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heedful.errors import BadInput, HeedfulError

Do = Callable[[Mapping[str, Any]], Any]
"""What does a piece: a function of a module, found by its name wherever it runs. It leaves its results in files, by the
rules of `storage`, so that doing it again finds them; what it returns is small and plain (JSON)."""


@dataclass(frozen=True)
class Piece:
    """A function and its config; the same config gives the same numbers, wherever and in whatever order."""

    name: str
    """What people call it."""
    do: Do
    config: Mapping[str, Any] = field(default_factory=dict)
    """Plain data (JSON)."""
    apart: bool = False
    """Whether it leaves nothing in the caller's folder, so that it may be done on a machine that does not see it."""


@dataclass(frozen=True)
class Outcome:
    """What a piece returned, or why it could not be done."""

    value: Any = None
    problem: str = ""
    """One sentence; empty if it was done."""
    code: int = 0
    """The exit code that the problem has on a command line."""
    fault: str = ""
    """The traceback, where the problem is an error of ours."""
    seconds: float = 0.0
    """Of the processor that did it."""
    place: str = ""
    """Machine and process."""
    machine: str = ""
    """What decides the last bits of numbers besides config and seed: versions, and the processor's instructions."""

    def taken(self) -> Any:
        """Give the value, or raise what went wrong where the piece was done."""
        if not self.problem:
            return self.value
        if self.fault:
            raise RuntimeError(f"{self.problem}\n\n{self.fault}")
        kind = BadInput if self.code == BadInput.exit_code else HeedfulError
        raise kind(self.problem)


def failed(error: HeedfulError | str, **about: Any) -> Outcome:
    """Say what went wrong with a piece.

    >>> failed(BadInput("There is no text.")).code, failed("It died.").code, failed("It died.").problem
    (2, 4, 'It died.')
    """
    code = error.exit_code if isinstance(error, HeedfulError) else HeedfulError.exit_code
    return Outcome(problem=str(error), code=code, **about)
