"""Texts to attack with their labels, from whatever holds them: the data of an audit, without questions beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heedful.errors import BadInput
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.models.stages import Auditable


def attacked_data(
    model: Auditable,
    data: Any,
    labels: Sequence[int | str] | None,
    *,
    split: str,
    text_column: str | None,
    label_column: str | None,
    skip_bad_rows: bool,
    watcher: Watcher,
) -> tuple[str, list[str], list[int] | None]:
    """Give the name of the data, their texts, and their labels as numbers, if they have any."""
    from heedful.audits.subject.texts import find_texts
    from heedful.checking import build
    from heedful.config import AuditOptions
    from heedful.data.corpora.given import as_data

    columns = {"text_column": text_column, "label_column": label_column}
    options = build(AuditOptions, {"split": split, "skip_bad_rows": skip_bad_rows, **columns})
    name, found, labelled, notes = find_texts(model, as_data(data, labels), options, model.trained)
    for note in notes:
        watcher.say(note)
    if found.queries is not None:
        raise BadInput(f"Attacks read single texts, and {name} has a query beside each: choose other data.")
    if hasattr(model, "probe"):  # a function: the first texts are what it is known by
        model.probe(found.texts)
    return name, found.texts, found.labels.tolist() if labelled else None
