"""What an audit offers for display, so that a report can show audits it does not know."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Chart(NamedTuple):
    """A figure: what it shows, the same in words for readers who cannot see it, and its Vega-Lite specification."""

    title: str
    alt: str
    caption: str
    spec: dict[str, Any]
    measure: str = ""
    """The measure along its horizontal axis, where its thresholds can be drawn; empty where there is none."""


class Heatmap(NamedTuple):
    """Other weights that an audit keeps for each text, to be shown next to the model's own."""

    column: str
    title: str
    probability: str | None = None
    """Column with the probability that these weights give the predicted class."""


NEARLY_ALL = 0.75
"""Of a text's items: so many of them point at none, which is told, and not drawn."""


class PickedItems(NamedTuple):
    """Items that an audit picks out of each text, by their places."""

    column: str
    title: str
    nothing: str
    """What to say about a text where `known` is NaN."""
    known: str


class Order(NamedTuple):
    """How texts are sorted: those that speak most against attention come first."""

    column: str
    title: str
    worst: Literal["highest", "lowest"]
