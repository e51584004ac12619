"""What commands say if none of the runs they need is finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from heedful.errors import BadInput


def refuse_unfinished(missing: Sequence[tuple[str, str]], *, runs: int, only_finished: bool) -> NoReturn:
    """Name the first missing run and the reason; with `only_finished`, also say how to do them."""
    what, why = missing[0]
    remedy = ": leave out --only-finished to do them" if only_finished else ""
    raise BadInput(f"None of the {runs} runs is trained and audited ({what}: {why}){remedy}.")
