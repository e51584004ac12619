"""What a study is: a question, a control, and the values that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heedful.registry import Registry


@dataclass(frozen=True)
class Setting:
    """One value of a control, and how a base is trained with it."""

    label: str
    dataset: str
    options: Mapping[str, Any] = field(default_factory=dict)
    number: float | None = None
    """Its place on a scale, for a control that is a quantity."""


@dataclass(frozen=True)
class Study:
    """A question with a grid over one control."""

    name: str
    question: str
    control: str
    """What the values are of, in a word or two."""
    corpora: tuple[str, ...]
    """What it is done on where nothing else is asked for."""
    settings: Callable[[str], Sequence[Setting]]
    """Give the grid on one corpus, or refuse a corpus that has no such control."""
    guess: str = ""
    """What the paper expects, where it says so."""


STUDIES: Registry[Study] = Registry("study", "heedful.studies.grids")


def register(study: Study) -> Study:
    """Make a study known by its name, with its question as description."""
    return STUDIES.register(study.name, study.question)(study)
