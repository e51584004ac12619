"""Which texts are shown as heatmaps, and all that the page needs to draw and sort them."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import chain, groupby, islice, zip_longest
from typing import Any, NamedTuple

import polars as pl

from heedful.audits.audit import AUDITS
from heedful.audits.exhibits import NEARLY_ALL, Heatmap, Order, PickedItems
from heedful.audits.running.result import PREDICTIONS
from heedful.reports.material import Material, spoken

TEXTS = 200
ITEMS = 60_000
"""Items of all texts together: a page of long texts has fewer of them, so that it can still be sent by mail."""
_PALE = 0.1
SCALE = 100_000  # weights travel as whole numbers, which are short


class Examples(NamedTuple):
    """Data for the page's script, and a sentence on how the texts were chosen."""

    data: dict[str, Any]
    note: str


def choose(material: Material, *, texts: int = TEXTS, items: int = ITEMS) -> Examples:
    """Take the worst and the best by every audit's order, and a random rest; read only those."""
    table = material.numbers(PREDICTIONS)
    orders: dict[str, Order] = {}
    for name in _sorted_by_verdict(material):
        order = AUDITS.get(name).order
        if order is not None and order.column in material.columns(name):
            column = material.numbers(name, ["row", order.column]).rename({order.column: f"{name}.order"})
            table = table.join(column, on="row", how="left")
            orders[name] = order
    other = _drawn_beside(material)
    rows = _rows(table, orders, texts=texts, items=items, first=other.scores if other else ())
    shown = table.filter(pl.col("row").is_in(rows))
    data = _data(material, shown, orders, other)
    note = (
        f"All {len(table):,} texts are here."
        if len(rows) == len(table)
        else f"{len(rows):,} of {len(table):,} texts are here: the worst and the best by every measure below, and others "
        "at random. Filters look through these."
    )
    if other is not None:
        many = sum(row in other.scores for row in rows)
        note += f" {many:,} of them are among those on which {other.name} was compared with attention, and have both."
    return Examples(data, note)


class Other(NamedTuple):
    """The explainer that did better than attention, and its scores for the texts it was compared on."""

    name: str
    scores: dict[int, list[float]]


def _drawn_beside(material: Material) -> Other | None:
    found = material.alternatives
    if found is None or not found.better:
        return None
    return Other(spoken(found.best.source), material.scored(found.best.source))


def _sorted_by_verdict(material: Material) -> list[str]:
    """Give audits with what decided first, whose order is then the first that a reader meets."""
    deciding = [judgement.rule.audit for judgement in material.verdict.judgements]
    known = [
        name for name in (*deciding, *material.summaries) if name in material.summaries and name in AUDITS
    ]
    return list(dict.fromkeys(known))


def _rows(
    table: pl.DataFrame, orders: dict[str, Order], *, texts: int, items: int, first: Collection[int] = ()
) -> list[int]:
    """Choose rows in turns: a worst and a best of each order, then at random, while there is room.

    Where there is more to see of some texts, the worst and best of these are taken too, and at random these `first`.
    """
    kinds = [table, table.filter(pl.col("row").is_in(list(first)))] if first else [table]
    each = max(1, texts // (3 * len(kinds) * max(len(orders), 1)))
    queues = []
    for name, order in orders.items():
        for kind in kinds:
            known = kind.filter(pl.col(f"{name}.order").is_not_nan() & pl.col(f"{name}.order").is_not_null())
            ranked = known.sort(f"{name}.order", "row", descending=[order.worst == "highest", False])["row"]
            queues += [ranked.head(each).to_list(), ranked.reverse().head(each).to_list()]
    drawn = [
        row
        for kind in reversed(kinds)
        for row in kind["row"].sample(min(len(kind), 2 * texts), seed=0, shuffle=True).to_list()
    ]
    turns = chain.from_iterable(zip_longest(*queues)) if queues else iter(())
    lengths = dict(zip(table["row"].to_list(), table["items"].to_list(), strict=True))
    chosen: list[int] = []
    room = items
    for row in dict.fromkeys(row for row in chain(turns, drawn) if row is not None):
        if len(chosen) < texts and (lengths[row] <= room or not chosen):
            chosen.append(row)
            room -= lengths[row]
    return chosen


def _data(
    material: Material, shown: pl.DataFrame, orders: dict[str, Order], other: Other | None
) -> dict[str, Any]:
    rows = shown["row"].to_list()
    predictions = {row["row"]: row for row in material.rows(PREDICTIONS, rows).iter_rows(named=True)}
    maps: list[tuple[str, Heatmap]] = []
    marked: tuple[str, PickedItems] | None = None
    for name in material.summaries:
        audit, columns = AUDITS.get(name) if name in AUDITS else None, material.columns(name)
        if audit is not None and audit.heatmap is not None and audit.heatmap.column in columns:
            maps.append((name, audit.heatmap))
        if audit is not None and audit.marks is not None and audit.marks.column in columns:
            marked = (name, audit.marks)
    wanted = {name for name, _ in maps} | ({marked[0]} if marked else set())
    kept = {name: {r["row"]: r for r in material.rows(name, rows).iter_rows(named=True)} for name in wanted}
    largest = sorted(max(row["weights"], default=0) for row in predictions.values())
    attention = "The model's attention"
    if material.about.scope.access != "stages":  # it has none: the scores that were audited are drawn
        attention = "Your scores" if material.source == "own" else spoken(material.source).capitalize()
    elif material.source != "attention":
        attention = "The model's attention, which was not audited here"
    return {
        "maps": [
            attention,
            *([other.name.capitalize()] if other else []),
            *(heatmap.title for _, heatmap in maps),
        ],
        "beside": other.name if other else None,
        "marks": {"title": marked[1].title, "nothing": marked[1].nothing, "nearly_all": NEARLY_ALL}
        if marked
        else None,
        "orders": [{"title": o.title, "worst": o.worst} for o in orders.values()],
        "relative": bool(largest) and largest[len(largest) // 2] < _PALE,
        "texts": [
            _text(row, predictions[row["row"]], kept, maps, marked, list(orders), other)
            for row in shown.iter_rows(named=True)
        ],
    }


def _text(
    row: dict[str, Any],
    prediction: dict[str, Any],
    kept: dict[str, dict[int, dict[str, Any]]],
    maps: list[tuple[str, Heatmap]],
    marked: tuple[str, PickedItems] | None,
    orders: list[str],
    other: Other | None,
) -> dict[str, Any]:
    number = row["row"]
    words = _pieces(prediction)
    weights: list[list[int] | None] = [_whole(prediction["weights"], words)]
    probabilities: list[float | None] = [round(prediction["probability"], 4)]
    if other is not None:
        weights.append(_shares(other.scores.get(number), words))
        probabilities.append(None)
    for name, heatmap in maps:
        found = kept[name].get(number, {})
        weights.append(_whole(found.get(heatmap.column), words))
        probabilities.append(_finite(found.get(heatmap.probability)) if heatmap.probability else None)
    text = {
        "row": number,
        "query": prediction["query"],
        "parts": parts(
            prediction["text"],
            [prediction["starts"][w[0]] for w in words],
            [prediction["ends"][w[-1]] for w in words],
        ),
        "label": prediction["label"],
        "predicted": prediction["predicted"],
        "probabilities": probabilities,
        "weights": weights,
        "order": [_finite(row[f"{name}.order"]) for name in orders],
    }
    if marked is not None and number in kept[marked[0]]:
        found = kept[marked[0]][number]
        picked = set(found[marked[1].column])
        known = _finite(found[marked[1].known]) is not None
        text["marks"] = [place for place, word in enumerate(words) if picked & set(word)] if known else None
    return text


def parts(text: str, starts: list[int], ends: list[int]) -> list[str]:
    """Cut a text at its items: gap, item, gap, item, …, gap. The browser then needs no offsets, which it counts differently.

    >>> parts("so 😀 dull!", [0, 5], [2, 9])
    ['', 'so', ' 😀 ', 'dull', '!']
    """
    edges = chain.from_iterable(zip(starts, ends, strict=True))
    cuts = [0, *edges, len(text)]
    return [text[a:b] for a, b in zip(cuts, islice(cuts, 1, None), strict=False)]


def _pieces(prediction: dict[str, Any]) -> list[list[int]]:
    """Group a text's items by the word they are pieces of; a reader sees words."""
    count = len(prediction["starts"])
    words = prediction.get("words") or range(count)  # audits of older versions do not tell
    return [[i for i, _ in group] for _, group in groupby(enumerate(words), key=lambda item: item[1])]


def _whole(weights: list[float] | None, words: list[list[int]]) -> list[int] | None:
    """Add up the weights of each word's pieces."""
    if weights is None:
        return None
    return [round(sum(weights[piece] for piece in word) * SCALE) for word in words]


def _shares(scores: list[float] | None, words: list[list[int]]) -> list[int] | None:
    """Scale scores so that their sizes add up to one, as weights do; what speaks against the prediction stays below 0."""
    if scores is None:
        return None
    summed = [sum(scores[piece] for piece in word) for word in words]
    total = sum(map(abs, summed))
    return [round(score / total * SCALE) if total else 0 for score in summed]


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)
