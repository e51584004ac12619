"""Texts that are handed over in Python: a list, a frame of pandas or polars, a Dataset of Hugging Face, columns or rows.

Whatever they are, they become numbered rows, as those of a file are. None of these libraries is imported: what an object
can do says what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.data.corpora.rows import RawRow
from heedful.errors import BadInput
from heedful.intake.arguments import as_list

TEXT, LABEL = "text", "label"


@dataclass(frozen=True)
class GivenRows:
    """Rows, and what their data are called in a report."""

    name: str
    rows: Sequence[RawRow]

    def numbered(self) -> Iterable[tuple[int, RawRow]]:
        """Number them from 1, as those of a file."""
        return enumerate(self.rows, start=1)


def as_data(data: Any, labels: Sequence[Any] | None = None) -> str | GivenRows | None:
    """Give the name or path of data as text, and everything else as rows; `labels` are those of a list of texts.

    >>> as_data(["fine", "dull"], [1, 0]).rows
    [{'text': 'fine', 'label': 1}, {'text': 'dull', 'label': 0}]
    """
    if data is None or isinstance(data, str | Path | GivenRows):
        if labels is not None:
            raise BadInput(
                "Labels are given apart from texts: give the texts as a list (texts=…), or the labels as a column of the data."
            )
        return str(data) if isinstance(data, Path) else data
    rows = _rows(data)
    if labels is not None:
        rows = _with_labels(rows, labels)
    return GivenRows(_name(data), rows)


def _rows(data: Any) -> list[RawRow]:
    """Find out what data are by what they can do."""
    if hasattr(data, "iter_rows"):  # polars
        return list(data.iter_rows(named=True))
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas
        return [{str(key): value for key, value in row.items()} for row in data.to_dict("records")]
    if isinstance(data, Mapping):
        return _columns(data)
    if hasattr(data, "column_names") and hasattr(data, "features"):  # datasets
        return [_named(row, data.features) for row in data]
    if isinstance(data, Iterable):
        found = list(data)
        if found and all(isinstance(row, Mapping) for row in found):
            return [dict(row) for row in found]
        for number, text in enumerate(found, start=1):
            if not isinstance(text, str):
                raise BadInput(
                    f"Text {number} is a {type(text).__name__}: give a list of strings, or a frame that has a column of them."
                )
        return [{TEXT: text} for text in found]
    raise BadInput(
        f"Data are a name, a file, a list of texts, a frame or a Dataset, and this is a {type(data).__name__}."
    )


def _columns(data: Mapping[Any, Any]) -> list[RawRow]:
    """Lay out columns by name; several splits are not columns."""
    for name, column in data.items():
        if hasattr(column, "column_names") or isinstance(column, Mapping):
            raise BadInput(
                f"These are several splits ({', '.join(map(str, data))}): give one of them, such as data[{name!r}]."
            )
    lengths = {str(name): len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise BadInput(f"The columns are not equally long ({told}): give one value of each for every text.")
    names = list(lengths)
    return [dict(zip(names, row, strict=True)) for row in zip(*data.values(), strict=True)]


def _named(row: Mapping[str, Any], features: Mapping[str, Any]) -> RawRow:
    """Give classes their names, where a Dataset knows them; −1 stands for no label there."""
    found = dict(row)
    for column, value in row.items():
        names = getattr(features.get(column), "names", None)
        if names and isinstance(value, int) and not isinstance(value, bool):
            found[column] = names[value] if 0 <= value < len(names) else None
    return found


def _with_labels(rows: list[RawRow], labels: Sequence[Any]) -> list[RawRow]:
    given = as_list(getattr(labels, "tolist", lambda: labels)(), "labels")
    if len(given) != len(rows):
        raise BadInput(f"{len(given)} labels were given for {len(rows)} texts: give one each.")
    return [row | {LABEL: label} for row, label in zip(rows, given, strict=True)]


def _name(data: Any) -> str:
    return "a list of texts" if isinstance(data, list | tuple) else f"a {type(data).__name__}"
