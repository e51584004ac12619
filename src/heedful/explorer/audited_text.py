"""One text of an audit: its words, the heatmaps that were kept of it, and every measurement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from heedful.audits.audit import AUDITS
from heedful.audits.exhibits import NEARLY_ALL, PickedItems
from heedful.audits.running.result import PREDICTIONS
from heedful.explorer.audit_schema import AuditText, MapLine
from heedful.explorer.audit_table import AuditTable
from heedful.explorer.faults import NotHere
from heedful.explorer.model_facts import title_of


def audited_text(table: AuditTable, row: int) -> AuditText:
    """Read what is kept of one text."""
    found = table.frame.row(index, named=True) if (index := _place(table, row)) is not None else None
    if found is None:
        raise NotHere(
            f"There is no text {row} in this audit: rows are numbered as in the data, and a sample has some."
        )
    kept = next(table.material.rows(PREDICTIONS, [row]).iter_rows(named=True))
    words = _words(kept)
    maps = [
        MapLine(title=_own(table), weights=_joined(kept["weights"], words), probability=kept["probability"])
    ]
    marks, marks_says = None, ""
    for name in table.material.summaries:
        audit, columns = AUDITS.get(name) if name in AUDITS else None, table.material.columns(name)
        if audit is None or not (audit.heatmap or audit.marks):
            continue
        own = next(table.material.rows(name, [row]).iter_rows(named=True), {})
        if audit.heatmap is not None and isinstance(weights := own.get(audit.heatmap.column), list):
            probability = own.get(audit.heatmap.probability) if audit.heatmap.probability else None
            maps.append(
                MapLine(
                    title=audit.heatmap.title,
                    weights=_joined(weights, words),
                    probability=finite(probability),
                )
            )
        if audit.marks is not None and audit.marks.column in columns and own:
            marks, marks_says = _marked(own, audit.marks, words)
    return AuditText(
        row=row,
        text=kept["text"],
        query=kept["query"],
        label=kept["label"],
        predicted=kept["predicted"],
        probability=kept["probability"],
        parts=_parts(kept, words),
        maps=maps,
        marks=marks,
        marks_says=marks_says,
        values={
            name: finite(value) if isinstance(value, float) else value
            for name, value in found.items()
            if name not in ("text", "query")
        },
    )


def _marked(own: dict[str, Any], marks: PickedItems, words: list[list[int]]) -> tuple[list[int], str]:
    """Which words are underlined, and what is said of them; a set of nearly all words points at none."""
    if finite(own.get(marks.known)) is None:
        return [], marks.nothing
    picked, items = set(own[marks.column] or ()), sum(map(len, words))
    how_many = f"{len(picked)} of {items} items"
    if len(picked) >= NEARLY_ALL * items:
        return [], f"The {marks.title} holds nearly all of the text: {how_many}."
    places = [place for place, word in enumerate(words) if picked & set(word)]
    return places, f"Underlined: the {marks.title}, {how_many}."


def finite(value: Any) -> float | None:
    """Give a number, or nothing where there is none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _place(table: AuditTable, row: int) -> int | None:
    places = (table.frame["row"] == row).arg_true()
    return int(places[0]) if len(places) else None


def _own(table: AuditTable) -> str:
    """Call what was kept as the model's own heatmap."""
    material = table.material
    if material.about.scope.access == "stages":
        return "The model’s attention"
    return "Your scores" if material.source == "own" else title_of(material.source)


def _words(kept: dict[str, Any]) -> list[list[int]]:
    """Group items by the word they are pieces of."""
    of = kept.get("words") or range(len(kept["starts"]))
    return [[item for item, _ in group] for _, group in groupby(enumerate(of), key=lambda pair: pair[1])]


def _joined(weights: Sequence[float], words: list[list[int]]) -> list[float]:
    return [sum(weights[item] for item in word) for word in words]


def _parts(kept: dict[str, Any], words: list[list[int]]) -> list[str]:
    text, edges = kept["text"], [0]
    for word in words:
        edges += [max(kept["starts"][word[0]], edges[-1]), max(kept["ends"][word[-1]], edges[-1])]
    edges.append(len(text))
    return [text[a:b] for a, b in pairwise(edges)]
