"""Which models stand in the panel: ordinary ones of every kind, and ones that were made unfaithful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heedful.registry import member_of

if TYPE_CHECKING:
    from heedful.models.altered import Alteration

TRAINING: Mapping[str, Any] = {"epochs": 10, "patience": 2, "threads": 1}
_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "cnn": {
        "widths": (1, 3)
    },  # wide windows make leave-one-out of many models slow, and tell nothing more here
    "hf:minilm-l6": {"limit": 1500, "epochs": 3, "vectors": None},
}
"""Options of single encoders."""

TWINS: Mapping[str, Any] = {"epochs": 30, "patience": 5}


@dataclass(frozen=True)
class Member:
    """A model of the panel: how it is trained, and what is done to its attention afterwards."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    of: str | None = None
    """The member that it is a twin of, or whose attention is altered."""
    altered: Alteration | None = None
    lender: str | None = None
    """The member whose attention is borrowed."""
    explained: bool = False
    """Whether other explainers are judged on it too."""

    @property
    def kind(self) -> str:
        """How it came by its attention."""
        return self.altered or str(self.options.get("objective", "vanilla"))


def _named(start: str, options: Mapping[str, Any], seed: int) -> str:
    return "-".join([start, *(str(value) for value in options.values()), f"seed{seed}"])


def _vanilla(encoder: str, *, seed: int = 0, explained: bool = False, **options: Any) -> Member:
    name = _named(member_of("hf", encoder) or encoder, options, seed)
    made = {"encoder": encoder, "seed": seed, **_SHAPES.get(encoder, {}), **options}
    return Member(name, made, explained=explained)


def _trained(encoder: str, objective: str, *, seed: int = 0, **options: Any) -> Member:
    name = _named(f"{member_of('hf', encoder) or encoder}-{objective}", options, seed)
    made = {"encoder": encoder, "objective": objective, "seed": seed, **_SHAPES.get(encoder, {}), **options}
    return Member(name, made)


def _twin(of: str) -> Member:
    return Member(f"{of}-twin", {"objective": "imitation", "seed": 10, **TWINS}, of=of)


def _altered(of: str, how: Alteration, lender: str | None = None) -> Member:
    return Member(f"{of}-{how}", of=of, altered=how, lender=lender)


FIRST: tuple[Member, ...] = (
    _vanilla("bilstm", explained=True),
    _vanilla("average", explained=True),
    _vanilla("cnn"),
    _vanilla("lstm"),
    _vanilla("none"),
    _vanilla("bilstm", seed=1),
    _trained("bilstm", "deceptive"),
    _trained("cnn", "deceptive"),
    _trained("average", "deceptive"),
    _trained("bilstm", "frozen"),
    _twin("bilstm-seed0"),
    _altered("bilstm-seed0", "displaced"),
    _altered("bilstm-seed0", "borrowed", "bilstm-seed1"),
    _altered("bilstm-seed0", "redrawn"),
    _altered("bilstm-seed0", "uniform"),
    _altered("cnn-seed0", "displaced"),
)
"""The core, measured on every corpus before anything else."""

SECOND: tuple[Member, ...] = (
    _vanilla("pointer"),
    _vanilla("bigru"),
    _vanilla("bilstm", normaliser="sparsemax"),
    _vanilla("bilstm", normaliser="entmax15"),
    _trained("pointer", "deceptive"),
    _trained("bigru", "deceptive"),
    _altered("bigru-seed0", "displaced"),
    _altered("pointer-seed0", "displaced"),
    _trained("bilstm", "steady"),
    _trained("bilstm", "seat"),
    _twin("cnn-seed0"),
    _trained("cnn", "frozen"),
    _vanilla("average", seed=1),
    _trained("none", "deceptive"),
    _trained("lstm", "deceptive"),
    _vanilla("gru"),
    _vanilla("rnn"),
    _vanilla("bilstm", heads=2),
    _vanilla("bilstm", decoder="mlp"),
)
"""The rest of the encoders, normalisers, objectives, heads and decoders."""

THIRD: tuple[Member, ...] = (
    _trained("bilstm", "deceptive", strength=0.1),
    _trained("lstm", "deceptive", strength=0.1),
    # Without context the way round the evidence is narrow: small weights, long states, and a large step to get there.
    _trained("none", "deceptive", strength=0.1, learning_rate=5e-3),
    _trained("average", "deceptive", strength=0.1, learning_rate=5e-3),
    _trained("pointer", "deceptive", strength=0.1, learning_rate=5e-3),
    _trained("bilstm", "deceptive", seed=1),
    _twin("bilstm-seed1"),
    _trained("cnn", "deceptive", seed=1),
    _trained("bigru", "deceptive", seed=1),
    _twin("bigru-seed0"),
    _twin("lstm-seed0"),
    _vanilla("cnn", seed=1),
    _vanilla("none", seed=1),
    _vanilla("bigru", seed=1),
    _vanilla("pointer", seed=1),
    _altered("bilstm-seed1", "borrowed", "bilstm-seed0"),
    _altered("lstm-seed0", "displaced"),
    _vanilla("hf:minilm-l6"),
    _trained("hf:minilm-l6", "deceptive"),
    _altered("minilm-l6-seed0", "displaced"),
)
"""Models that look away by less force, other seeds, for narrower intervals, and a pretrained transformer."""

MEMBERS: Mapping[str, Member] = {member.name: member for member in (*FIRST, *SECOND, *THIRD)}
SOURCES = ("gradient", "leave_one_out", "random")
"""Explainers that are judged where a member is `explained`."""
