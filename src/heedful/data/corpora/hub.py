"""Datasets from the Hugging Face hub, for those who have the extra `hub` and a connection."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from heedful.data.corpora.catalogue import Card
from heedful.data.corpora.rows import RawRow
from heedful.data.fetch.offline import quick_to_give_up
from heedful.errors import BadInput

_SPLITS = {"train": ("train",), "dev": ("validation", "dev"), "test": ("test",)}


@cache
def _load(hub: str, config: str | None) -> Any:
    try:
        from datasets import load_dataset
    except ImportError:
        raise BadInput("The hub needs an extra package: pip install 'heedful[hub]'.") from None
    try:
        with quick_to_give_up():
            return load_dataset(hub, config)
    except Exception as error:  # the library raises many kinds, all of them meaning: not to be had now
        reason = str(error).strip().splitlines()[0][:150] if str(error).strip() else type(error).__name__
        raise BadInput(
            f"Cannot fetch {hub} from the hub ({reason}): connect, or put its files into a folder of "
            f"$HEEDFUL_DATA (heedful data list tells its name)."
        ) from None


def hub_splits(card: Card) -> tuple[str, ...]:
    """Which splits the hub has."""
    there = _load(card.hub or "", card.hub_config)
    return tuple(split for split, names in _SPLITS.items() if any(name in there for name in names))


def hub_rows(card: Card, split: str) -> Iterator[tuple[int, RawRow]]:
    """Stream rows, with columns renamed as the card says."""
    there = _load(card.hub or "", card.hub_config)
    name = next(name for name in _SPLITS[split] if name in there)
    for number, row in enumerate(there[name], start=1):
        read = {ours: _joined(row, theirs, card) for ours, theirs in (card.hub_columns or {}).items()}
        if read.get("label") != -1:  # how the hub marks rows whose annotators did not agree
            yield number, read


def _joined(row: RawRow, columns: str, card: Card) -> Any:
    """Give one column as it is, or several ("a + b") as one text."""
    names = columns.split(" + ")
    for name in names:
        if name not in row:
            raise BadInput(
                f"There is no column {name!r} in {card.hub} on the hub (its columns are {', '.join(row)}): "
                f"put files of {card.name} into a folder of $HEEDFUL_DATA."
            )
    if len(names) == 1:
        return row[names[0]]
    return " ".join(str(row[name]) for name in names if row[name] is not None)
