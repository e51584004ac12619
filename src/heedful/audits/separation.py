"""How well each audit separates faithful from unfaithful heatmaps, measured on models whose faithfulness is known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

FILE = Path(__file__).with_name("separation.yaml")
"""Written by docs/make_panel.py from what the panel measured."""


class MeasuredSeparation(BaseModel):
    """How well a number of an audit separates: AUROC with its 95 % interval, over `models` models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: str
    auroc: float
    low: float
    high: float
    models: int
    chosen: bool = True
    """Whether it is the best of the audit's numbers; otherwise it is the one that the policy uses."""

    def __str__(self) -> str:
        """One sentence for a reader who does not know what AUROC is."""
        well = "no better than a coin" if self.low <= 0.5 else "well" if self.low >= 0.9 else "in part"
        return (
            f"On {self.models} models whose truth is known this test tells faithful heatmaps from unfaithful ones {well}: of one of each, "
            f"the faithful one has the better number ({'the best of its numbers, ' if self.chosen else ''}{self.number.replace('_', ' ')}) in {100 * self.auroc:.0f} % of all pairs "
            f"(95 % interval {100 * self.low:.0f}–{100 * self.high:.0f} %; docs/panel.md)."
        )


@cache
def measured_separations() -> dict[str, MeasuredSeparation]:
    """Return what was measured, by the name of the audit."""
    if not FILE.is_file():
        return {}
    return {
        name: MeasuredSeparation(**found)
        for name, found in yaml.safe_load(FILE.read_text(encoding="utf-8")).items()
    }


def caveat(audit: str) -> tuple[str, ...]:
    """Say how well an audit separates; empty if it was not measured on the panel."""
    return (str(measured_separations()[audit]),) if audit in measured_separations() else ()
