"""Texts that are handed over in Python: a list, a frame of pandas or polars, a Dataset of Hugging Face, columns or rows.

Whatever they are, they become numbered rows, as those of a file are. None of these libraries is imported: what an object
can do says what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.data.corpora.columns import QUERY_BESIDE, USUAL_TEXTS, texts_of
from heedful.data.corpora.rows import RawRow, has_known_suffix, read_rows
from heedful.errors import BadInput
from heedful.intake.arguments import as_list, as_texts

TEXT, QUERY, LABEL = "text", "query", "label"


@dataclass(frozen=True)
class GivenRows:
    """Rows, and what their data are called in a report."""

    name: str
    rows: Sequence[RawRow]
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the classes of a column, in their order, where a Dataset knows them."""

    def numbered(self) -> Iterable[tuple[int, RawRow]]:
        """Number them from 1, as those of a file."""
        return enumerate(self.rows, start=1)


def as_data(data: Any, labels: Sequence[Any] | None = None) -> str | GivenRows | None:
    """Give the name or path of data as text, and everything else as rows; `labels` are those of a list of texts.

    >>> as_data(["fine", "dull"], [1, 0]).rows
    [{'text': 'fine', 'label': 1}, {'text': 'dull', 'label': 0}]
    >>> as_data([("a dog runs", "an animal moves")]).rows
    [{'text': 'a dog runs', 'query': 'an animal moves'}]
    """
    if data is None or isinstance(data, str | Path | GivenRows):
        if labels is not None:
            raise BadInput(
                "A list of texts is needed beside labels: give the texts as a list, or the labels as a column of the data."
            )
        return str(data) if isinstance(data, Path) else data
    rows = _rows(data)
    if labels is not None:
        rows = _with_labels(rows, labels)
    return GivenRows(_name(data), rows, _classes(data))


def texts_given(
    data: Any,
    queries: Sequence[str] | None = None,
    *,
    text_column: str | None = None,
    query_column: str | None = None,
) -> tuple[list[str], list[str] | None]:
    """Give texts to classify and what they are read for, from a list, pairs, a frame, a Dataset or the path of a file.

    >>> texts_given({"text": ["fine", "dull"], "stars": [5, 1]})
    (['fine', 'dull'], None)
    >>> texts_given([("a dog runs", "an animal moves")])
    (['a dog runs'], ['an animal moves'])
    """
    path = Path(data).expanduser() if isinstance(data, str | Path) else None
    if path is not None and (isinstance(data, Path) or (has_known_suffix(path) and path.is_file())):
        rows: Iterable[tuple[int, RawRow]] = list(read_rows(path))
        where = str(path)
    elif _is_plain(data):
        return as_texts(data), None if queries is None else as_list(queries, "queries")
    else:
        given = as_data(data)
        assert isinstance(given, GivenRows)
        rows, where = given.numbered(), given.name
    rows = list(rows)
    there = list(rows[0][1]) if rows else []
    text = text_column or next((name for name in USUAL_TEXTS if name in there), None)
    if text is None:
        raise BadInput(
            f"Cannot tell which column of {where} holds the text: its columns are {', '.join(map(str, there))}; choose with text_column."
        )
    beside = QUERY_BESIDE.get(text)
    query = query_column or (beside if beside in there and queries is None else None)
    raw = texts_of(rows, text, query, where=where)
    if queries is not None and raw.queries:
        raise BadInput(f"Queries are given, and {where} has a column of them ({query}): choose one.")
    return raw.texts, list(queries) if queries is not None else raw.queries or None


def _is_plain(data: Any) -> bool:
    """Whether data are texts one after the other, or nothing that could be: a list, an array, one column of a frame."""
    if data is None or isinstance(data, str | bytes) or not isinstance(data, Iterable):
        return True
    if isinstance(data, Mapping) or hasattr(data, "columns") or hasattr(data, "column_names"):
        return False
    if not isinstance(data, list | tuple):
        return True
    return not (data and (isinstance(data[0], Mapping) or _is_pair(data[0])))


def _rows(data: Any) -> list[RawRow]:
    """Find out what data are by what they can do."""
    if hasattr(data, "iter_rows"):  # polars
        return list(data.iter_rows(named=True))
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas
        return [
            {str(key): None if _is_missing(value) else value for key, value in row.items()}
            for row in data.to_dict("records")
        ]
    if isinstance(data, Mapping):
        return _columns(data)
    if hasattr(data, "column_names") and hasattr(data, "features"):  # datasets
        return [_named(row, data.features or {}) for row in data]  # a stream may not know them
    if isinstance(data, set | frozenset):
        raise BadInput("A set has no order, so that nobody could tell whose answer is whose: give a list.")
    if isinstance(data, Iterable):
        found = list(data)
        if found and all(isinstance(row, Mapping) for row in found):
            return [dict(row) for row in found]
        if found and all(_is_pair(row) for row in found):
            return [{TEXT: first, QUERY: second} for first, second in found]
        for number, text in enumerate(found, start=1):
            if not isinstance(text, str):
                raise BadInput(
                    f"Text {number} is a {type(text).__name__}: give a list of strings, or a frame that has a column of them."
                )
        return [{TEXT: text} for text in found]
    raise BadInput(
        f"Data are a name, a file, a list of texts, a frame or a Dataset, and this is a {type(data).__name__}."
    )


def _is_missing(value: Any) -> bool:
    """Whether this is what pandas puts where there is nothing, of which some forms are no numbers."""
    return type(value).__name__ in ("NAType", "NaTType")


def _classes(data: Any) -> dict[str, tuple[str, ...]]:
    """Names of the classes of a Dataset's columns."""
    features = getattr(data, "features", None)
    if not isinstance(features, Mapping):
        return {}
    return {
        column: tuple(names)
        for column, feature in features.items()
        if (names := getattr(feature, "names", None))
    }


def _is_pair(row: Any) -> bool:
    return isinstance(row, tuple | list) and len(row) == 2 and all(isinstance(text, str) for text in row)


def _columns(data: Mapping[Any, Any]) -> list[RawRow]:
    """Lay out columns by name; several splits are not columns."""
    for name, column in data.items():
        if hasattr(column, "column_names") or isinstance(column, Mapping):
            raise BadInput(
                f"These are several splits ({', '.join(map(str, data))}): give one of them, such as data[{name!r}]."
            )
    columns = {str(name): as_list(column, f"values of {name}") for name, column in data.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise BadInput(f"The columns are not equally long ({told}): give one value of each for every text.")
    names = list(lengths)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


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
    if any(isinstance(label, int | float) and not isinstance(label, bool) for label in given):
        # Among numbers yes and no are numbers too.
        given = [int(label) if isinstance(label, bool) else label for label in given]
    return [row | {LABEL: label} for row, label in zip(rows, given, strict=True)]


def _name(data: Any) -> str:
    return "a list of texts" if isinstance(data, list | tuple) else f"a {type(data).__name__}"
