"""Which models stand in the panel: ordinary ones of every kind, and ones that were made unfaithful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Alteration = Literal["displaced", "borrowed", "redrawn", "uniform"]

TRAINING: Mapping[str, Any] = {"epochs": 10, "patience": 2, "threads": 1}
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


def _vanilla(encoder: str, *, seed: int = 0, explained: bool = False, **options: Any) -> Member:
    shape = "-".join(str(value) for value in options.values())
    name = "-".join(part for part in (encoder, shape, f"seed{seed}") if part)
    return Member(name, {"encoder": encoder, "seed": seed, **options}, explained=explained)


def _trained(encoder: str, objective: str, *, seed: int = 0, **options: Any) -> Member:
    name = f"{encoder}-{objective}-seed{seed}"
    return Member(name, {"encoder": encoder, "objective": objective, "seed": seed, **options})


def _twin(of: str) -> Member:
    return Member(f"{of}-twin", {"objective": "imitation", "seed": 10, **TWINS}, of=of)


def _altered(of: str, how: Alteration, lender: str | None = None) -> Member:
    return Member(f"{of}-{how}", of=of, altered=how, lender=lender)


FIRST: tuple[Member, ...] = (
    _vanilla("bilstm", explained=True),
    _vanilla("average", explained=True),
    _vanilla("cnn", explained=True),
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
    _vanilla("bigru", explained=True),
    _vanilla("pointer"),
    _vanilla("bilstm", normaliser="sparsemax"),
    _vanilla("bilstm", normaliser="entmax15"),
    _trained("bigru", "deceptive"),
    _trained("lstm", "deceptive"),
    _trained("none", "deceptive"),
    _trained("pointer", "deceptive"),
    _trained("bilstm", "deceptive", seed=1),
    _trained("cnn", "frozen"),
    _twin("cnn-seed0"),
    _twin("bigru-seed0"),
    _altered("bigru-seed0", "displaced"),
    _altered("bigru-seed0", "redrawn"),
    _altered("cnn-seed0", "redrawn"),
    _trained("bilstm", "steady"),
    _trained("bilstm", "seat"),
    _vanilla("rnn"),
    _vanilla("gru"),
    _vanilla("average", seed=1),
    _vanilla("bilstm", seed=2),
    _vanilla("bilstm", heads=2),
    _vanilla("bilstm", decoder="mlp"),
    _trained("bigru", "frozen"),
)
"""The rest of the encoders, normalisers, objectives and seeds."""

MEMBERS: Mapping[str, Member] = {member.name: member for member in (*FIRST, *SECOND)}
SOURCES = ("gradient", "leave_one_out", "random")
"""Explainers that are judged where a member is `explained`."""
