"""Where a dataset's rows are: a path of the user's, a data folder, the cache, or the hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from heedful.data.corpora.catalogue import Card, cards
from heedful.data.corpora.labels import check_names
from heedful.data.corpora.rows import SUFFIXES, RawRow, check_suffix, read_rows
from heedful.data.corpus import Task
from heedful.data.fetch.cache import data_folders
from heedful.errors import BadInput, did_you_mean
from heedful.intake.json_text import read_json

SPLIT_NAMES = {
    "train": ("train", "training"),
    "dev": ("dev", "valid", "validation", "val"),
    "test": ("test",),
}


@dataclass(frozen=True)
class Source:
    """A dataset that was found, and what is known of it before a row is read."""

    name: str
    files: dict[str, Path] = field(default_factory=dict)
    card: Card | None = None
    labels: tuple[str, ...] = ()
    """Of the whole dataset, where a card keeps some of its classes; empty where the data alone tells them."""
    task: Task | None = None

    def rows(self, split: str) -> Iterator[tuple[int, RawRow]]:
        """Stream the rows of one split."""
        if self.files:
            return read_rows(self.files[split])
        from heedful.data.corpora.hub import hub_rows

        assert self.card is not None
        return hub_rows(self.card, split)

    @property
    def splits(self) -> tuple[str, ...]:
        """Which splits there are."""
        if self.files:
            return tuple(self.files)
        from heedful.data.corpora.hub import hub_splits

        assert self.card is not None
        return hub_splits(self.card)


def find_source(dataset: str) -> Source:
    """Find a dataset by path or name, or say how to get it."""
    try:
        return _find(dataset, Path(dataset).expanduser())
    except (OSError, RuntimeError) as error:  # no permission, a name too long, no such home
        raise BadInput(f"Cannot look for {dataset}: {getattr(error, 'strerror', None) or error}.") from None


def _find(dataset: str, path: Path) -> Source:
    looks_like_path = bool(path.suffix) or "/" in dataset or len(path.parts) > 1
    if path.is_file():
        check_suffix(path)
        return Source(path.name.split(".")[0], {"train": path})
    if looks_like_path and path.is_dir():
        return _folder(path, path.resolve().name, None)
    if looks_like_path:
        raise BadInput(
            f"There is no file or folder {dataset}: check the path, or name a dataset (heedful data list)."
        )

    card = cards().get(dataset)
    found = find_folder(card.folder or dataset if card else dataset)
    if found is not None:
        return _folder(found, dataset, card)
    if path.is_dir() and (card is None or _split_files(path)):
        return _folder(path, path.resolve().name, None)
    if card is None:
        raise BadInput(f"There is no dataset named {dataset!r}: {did_you_mean(dataset, cards())}")
    if card.hub is not None and hub_installed():
        return Source(dataset, card=card, labels=_whole(card).labels, task=card.task)
    raise BadInput(f"{card.title} ({dataset}) is not at hand. {card.how_to_get}")


def find_folder(name: str) -> Path | None:
    """Find the data folder of that name which holds a training or test split, if there is one."""
    for root in data_folders():
        if (root / name).is_dir() and _split_files(root / name):
            return root / name
    return None


def at_hand(card: Card) -> bool:
    """Whether a dataset can be used here without fetching anything."""
    if card.synthetic:
        return True
    folder = find_folder(card.folder or card.name)
    if folder is None or card.label_column is None:
        return folder is not None
    # The files of another dataset serve, if they have the column that this one is about.
    first = next((row for file in _split_files(folder).values() for _, row in read_rows(file)), {})
    return card.label_column in first


def hub_installed() -> bool:
    """Whether the extra `hub` is installed."""
    import importlib.util

    return importlib.util.find_spec("datasets") is not None


def _folder(folder: Path, name: str, card: Card | None) -> Source:
    files = _split_files(folder)
    if not files:
        raise BadInput(
            f"There is no train, dev or test file in {folder}: put for example train.csv and test.csv there."
        )
    labels, task = _read_meta(folder / "meta.json")
    if card is not None:
        # A dataset that is read from another column has labels of its own.
        labels = card.labels if card.label_column else labels or _whole(card).labels
        task = task or card.task
    return Source(name, files, card, labels, task)


def _whole(card: Card) -> Card:
    """Give the card of the dataset whose classes `keep_labels` counts."""
    return cards()[card.folder] if card.keep_labels is not None and card.folder else card


def _split_files(folder: Path) -> dict[str, Path]:
    files = {}
    for split, names in SPLIT_NAMES.items():
        found = [
            folder / (name + suffix)
            for name in names
            for suffix in SUFFIXES
            if (folder / (name + suffix)).is_file()
        ]
        if len(found) > 1:
            raise BadInput(
                f"Two files in {folder} could be its {split} split ({found[0].name}, {found[1].name}): remove one."
            )
        if found:
            files[split] = found[0]
    return files


def _read_meta(path: Path) -> tuple[tuple[str, ...], Task | None]:
    """Read label names and task, where the folder gives them."""
    if not path.is_file():
        return (), None
    try:
        meta: Any = read_json(path)
    except (ValueError, OSError) as error:
        raise BadInput(f"Cannot read {path} ({error}): fix it or delete it.") from None
    if not isinstance(meta, dict):
        raise BadInput(f"{path} must hold a JSON object with the keys labels and task: fix it or delete it.")
    labels, task = meta.get("labels"), meta.get("task")
    if labels is not None and not isinstance(labels, list):
        raise BadInput(f"The labels in {path} must be a list of names: fix it or delete it.")
    if task is not None and task not in get_args(Task):
        raise BadInput(f"The task in {path} must be one of {', '.join(get_args(Task))}, not {task!r}.")
    return check_names([str(label) for label in labels], where=str(path)) if labels else (), task
