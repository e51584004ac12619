"""Waiting for what another process does: as long as the slowest and busiest machine may take, and no longer than it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 900
"""Seconds after which what should happen counts as never happening. No test that passes waits that long."""

Found = TypeVar("Found")


def soon(happens: Callable[[], Found]) -> Found:
    """Ask again and again until the answer is true in the sense of `bool`, and give it; the last answer if it never is."""
    end = time.monotonic() + PATIENCE
    while not (happened := happens()) and time.monotonic() < end:
        time.sleep(0.02)
    return happened
