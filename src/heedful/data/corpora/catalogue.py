"""What is known of every dataset by name: its labels, what the papers did to it, and how to get it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from heedful.data.corpus import Task
from heedful.errors import BadInput, did_you_mean

Paper = Literal["jain-wallace", "serrano-smith", "attefa", "seat", "flat", "eraser"]
Metric = Literal["f1", "accuracy", "macro_f1", "roc_auc"]


class Card(BaseModel):
    """One entry of the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    task: Task
    labels: tuple[str, ...] = ()
    """In the order of the class numbers; empty where the data alone tells them."""
    papers: tuple[Paper, ...] = ()
    """Which papers use it, or the data that it stands in for."""
    preprocessing: str
    """What the papers did to it."""
    origin: str
    how_to_get: str
    metric: Metric
    """What the papers state on its test split."""
    folder: str | None = None
    """The folder that holds it, where another dataset's files serve."""
    keep_labels: tuple[int, ...] | None = None
    """Classes of the files that are kept; they are numbered anew, in this order."""
    label_column: str | None = None
    """The column whose values are the labels, where it is not `label`."""
    hub: str | None = None
    hub_config: str | None = None
    hub_columns: dict[str, str] | None = None
    """Which hub columns are text, query and label; "a + b" is the two joined by a space."""
    synthetic: bool = False
    credentialed: bool = False
    """The data may be had only by people whom its owner has approved."""


@cache
def cards() -> dict[str, Card]:
    """Give every card by name, in the order of the catalogue."""
    text = resources.files(__package__).joinpath("catalogue.yaml").read_text(encoding="utf-8")
    return {name: Card(name=name, **entry) for name, entry in yaml.safe_load(text).items()}


def card(name: str) -> Card:
    """Give the card of one dataset, or say which name was probably meant."""
    if name not in cards():
        raise BadInput(f"There is no dataset named {name!r}: {did_you_mean(name, cards())}")
    return cards()[name]
