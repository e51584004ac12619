"""What a study is: a question, a control, and the values that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from heedful.registry import Registry


@dataclass(frozen=True)
class Setting:
    """One value of a control, and how a base is trained with it."""

    label: str
    """How the value is called; the encoder where there is nothing to call."""
    dataset: str
    options: Mapping[str, Any] = field(default_factory=dict)
    number: float | None = None
    """Its place on a scale, for a control that is a quantity."""


@dataclass(frozen=True)
class TwinSetting:
    """How twins of a base are trained."""

    label: str
    strength: float
    """λ, the weight of the divergence of attention."""
    divergence: Literal["jsd", "kl"] = "kl"
    quick: bool = True
    """Whether --quick trains them too."""

    @property
    def name(self) -> str:
        """How a person calls it."""
        return f"λ {self.label}" if self.divergence == "kl" else self.label


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
    encoder: str = "average"
    """Of every base, where nothing else is asked for."""
    twins: tuple[TwinSetting, ...] = ()
    """A grid over the twins of each base, where a curve is asked for."""


STUDIES: Registry[Study] = Registry("study", __package__)


def register(study: Study) -> Study:
    """Make a study known by its name, with its question as description."""
    return STUDIES.register(study.name, study.question)(study)
