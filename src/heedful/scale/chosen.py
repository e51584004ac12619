"""Which place to work a user chose: chosen once for a command, and asked for wherever work falls into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from heedful.scale.engine import Engine, engine_named

_chosen: ContextVar[Engine | None] = ContextVar("chosen", default=None)


@contextmanager
def working_on(name: str | None) -> Iterator[None]:
    """Work in that place for as long as this lasts; None leaves every kind of work where it usually is."""
    before = _chosen.set(None if name is None else engine_named(name))
    try:
        yield
    finally:
        _chosen.reset(before)


def chosen_engine() -> Engine | None:
    """Give the engine that was chosen; None if none was."""
    return _chosen.get()


def spreads() -> bool:
    """Whether the user chose a place where pieces are done at the same time."""
    engine = chosen_engine()
    return engine is not None and engine.spreads
