"""Whether a model has room in this machine's memory, asked before it is built."""

from __future__ import annotations

import math
import os

from heedful.errors import BadInput
from heedful.models.model import Architecture
from heedful.models.weight_shapes import weight_shapes
from heedful.output.drawing import address_space

_COPIES = 5
"""What training keeps of every weight: itself, its gradient, two moments, and the best so far."""


def check_room(architecture: Architecture) -> None:
    """Refuse a model that cannot be trained here: an allocation that fails, or a system that ends the process, says no why."""
    there = memory()
    try:
        numbers = sum(map(math.prod, weight_shapes(architecture).values()))
    except (RuntimeError, TypeError, OverflowError):  # a product of sizes that no integer holds
        raise BadInput("No machine holds a model of these sizes: choose smaller ones.") from None
    needed = 4 * _COPIES * numbers
    if there is not None and needed > there:
        raise BadInput(
            f"A model of these sizes has {numbers:,} weights, and training it takes {needed / 2**30:,.0f} GiB; this machine has "
            f"{there / 2**30:,.0f}: choose smaller sizes."
        )


def memory() -> int | None:
    """How many bytes of memory there are, or may be asked for; None where the system does not say."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    allowed = address_space()
    return there if allowed is None else min(there, allowed)
