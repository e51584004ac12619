"""Texts to pick: those that the model would be audited on, searched by their words."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from heedful.audits.subject.texts import find_texts
from heedful.config import AuditOptions
from heedful.data.corpus import Split
from heedful.declared import complete
from heedful.errors import HeedfulError
from heedful.explorer.shelf import Shelf


class _Found(NamedTuple):
    name: str
    split: Split
    labels: list[str] | None


class Picked(NamedTuple):
    """Some of the texts that fit a search."""

    data: str
    rows: list[int]
    matching: int
    of: int
    texts: list[str]
    queries: list[str | None]
    labels: list[str | None]


class PickableTexts:
    """The texts of every model, read once."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._found: dict[str, _Found | HeedfulError] = {}
        self._lock = Lock()

    def name(self, model: str) -> str | None:
        """Where a model's texts come from; None where none are at hand."""
        try:
            return self._of(model).name
        except HeedfulError:
            return None

    def search(self, model: str, words: str, label: str | None, *, offset: int, limit: int) -> Picked:
        """Find texts that hold some words, whatever their case."""
        found = self._of(model)
        wanted, texts = words.casefold().strip(), found.split.texts
        rows = [
            row
            for row, text in enumerate(texts)
            if (not wanted or wanted in text.casefold())
            and (label is None or (found.labels is not None and found.labels[row] == label))
        ]
        shown = rows[offset : offset + limit]
        queries = found.split.queries
        return Picked(
            found.name,
            shown,
            len(rows),
            len(texts),
            [texts[row] for row in shown],
            [None if queries is None else queries[row] for row in shown],
            [None if found.labels is None else found.labels[row] for row in shown],
        )

    def _of(self, model: str) -> _Found:
        self._shelf.find(model)
        with self._lock:
            known = self._found.get(model)
        if known is None:
            known = self._read(model)
            with self._lock:
                self._found[model] = known
        if isinstance(known, HeedfulError):
            raise known
        return known

    def _read(self, model: str) -> _Found | HeedfulError:
        with self._shelf.opened(model) as opened:
            classifier = opened.classifier
            try:
                name, split, labelled, _ = find_texts(
                    classifier, self._shelf.data, complete(AuditOptions)(), classifier.trained
                )
            except HeedfulError as error:
                return error
            labels = [classifier.labels[number] for number in split.labels.tolist()] if labelled else None
            return _Found(name, split, labels)
