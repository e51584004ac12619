"""Texts that were handed over in Python, kept as files: a model made of them can be audited, continued and trained again.

A folder is named by what it holds, so that the same texts are kept once, and a run of them is found again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.data.corpora.columns import TOKENS, Columns, read_split
from heedful.data.corpora.given import GivenRows, as_data
from heedful.data.corpora.rows import RawRow
from heedful.data.corpora.sources import SPLIT_NAMES
from heedful.errors import BadInput
from heedful.storage import write_text

FOLDER = "given"
"""Beside the runs."""

_ALSO = (TOKENS, "rationale", "support", "candidates")
"""Columns that mean something by their names."""


@dataclass(frozen=True)
class KeptTexts:
    """A folder, and the files that will be in it."""

    folder: Path
    files: Mapping[str, str]

    @classmethod
    def of(
        cls,
        data: Any,
        labels: Sequence[Any] | None = None,
        *,
        dev: Any = None,
        test: Any = None,
        beside: Path,
        options: Mapping[str, Any],
    ) -> KeptTexts:
        """Read what was handed over as training will, and lay it out; nothing is written yet."""
        splits = _splits(data, labels, dev=dev, test=test)
        files: dict[str, str] = {}
        names: tuple[str, ...] = ()
        for split, rows in splits.items():
            columns = _check(rows, options)
            files[f"{split}.jsonl"] = "".join(_line(row, columns) for row in rows.rows)
            names = names or rows.classes.get(columns.label, ())
        if names:
            files["meta.json"] = json.dumps({"labels": list(names)})
        digest = hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()[:8]
        return cls((beside / FOLDER / f"texts-{digest}").resolve(), files)

    def write(self) -> Path:
        """Write the files, each whole or not at all."""
        for name, content in self.files.items():
            if not (self.folder / name).is_file():
                write_text(self.folder / name, content)
        return self.folder


def _splits(data: Any, labels: Sequence[Any] | None, *, dev: Any, test: Any) -> dict[str, GivenRows]:
    """Give every split by its name."""
    if _holds_splits(data):
        if labels is not None:
            raise BadInput("Labels are for a list of texts, and these are several splits: leave them out.")
        found = {_split_name(str(name)): rows for name, rows in data.items()}
        if len(found) < len(data):
            raise BadInput(
                f"Two of the splits {', '.join(map(str, data))} are the same by another name: give one."
            )
    else:
        found = {"train": data}
    for name, rows in (("dev", dev), ("test", test)):
        if rows is not None and found.setdefault(name, rows) is not rows:
            raise BadInput(f"{name} is given twice: among the splits, and by itself.")
    if "train" not in found:
        raise BadInput(f"There is no split train among {', '.join(map(str, data))}: name it so.")
    splits = {}
    for name, rows in found.items():
        given = _rows(name, rows, labels if name == "train" else None)
        splits[name] = given
    return splits


def _rows(name: str, rows: Any, labels: Sequence[Any] | None) -> GivenRows:
    """Take the rows of one split; dev and test of a list are texts with their labels, as a pair."""
    if name != "train" and isinstance(rows, tuple) and len(rows) == 2 and not isinstance(rows[0], str):
        rows, labels = rows
    given = None if rows is None or isinstance(rows, str | Path) else as_data(rows, labels)
    if given is None or isinstance(given, str):
        what = "None" if rows is None else "a name"
        raise BadInput(f"The texts of {name} are needed, or a frame of them, and this is {what}.")
    if not given.rows:
        raise BadInput(f"There is no text in {name}: give some, with their labels.")
    if list(given.rows[0]) == ["text"] and labels is None and isinstance(rows, list | tuple):
        raise BadInput(f"The texts of {name} have no labels: {_how_to_label(name)}.")
    return given


def _how_to_label(name: str) -> str:
    return "train(texts, labels)" if name == "train" else f"{name}=(texts, labels)"


def _holds_splits(data: Any) -> bool:
    """Whether this is a mapping from names to frames, as a DatasetDict is, and not one of columns."""
    if not isinstance(data, Mapping) or not data:
        return False
    return all(
        isinstance(part, Mapping)
        or any(hasattr(part, name) for name in ("column_names", "columns", "iter_rows"))
        for part in data.values()
    )


def _split_name(name: str) -> str:
    for split, names in SPLIT_NAMES.items():
        if name.lower() in names:
            return split
    known = ", ".join(alias for names in SPLIT_NAMES.values() for alias in names)
    raise BadInput(f"There is no split named {name!r}: a name is one of {known}; give others apart.")


def _check(given: GivenRows, options: Mapping[str, Any]) -> Columns:
    """Read rows as training will, so that what is wrong with them is said in their own words."""
    columns = {name: options.get(f"{name}_column") for name in ("text", "query", "label")}
    _, found = read_split(
        given.numbered(),
        where=given.name,
        text_column=columns["text"],
        query_column=columns["query"],
        label_column=columns["label"],
        skip_bad_rows=bool(options.get("skip_bad_rows", False)),
    )
    return found


def _line(row: RawRow, columns: Columns) -> str:
    """Write what of a row is read: other columns of a frame may hold anything."""
    read = [columns.text, columns.query, columns.label, *_ALSO]
    kept = {name: row[name] for name in dict.fromkeys(read) if name is not None and name in row}
    return json.dumps(kept, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Give numbers and arrays of other libraries as plain ones, and anything else as it is spelled."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
