"""An attack in a terminal: the numbers, and some texts before and after, the replaced words marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from heedful.attacks.attack_result import About, AttackResult, words_changed
from heedful.attacks.marked_text import Part, attacked_parts, original_parts
from heedful.output.numbers import fixed, percentage
from heedful.output.tables import Cell, Table
from heedful.output.terminal import Screen, grid, plain


def show(result: AttackResult, screen: Screen, *, texts: int) -> None:
    """Print an attack."""
    screen.print(grid(table(result)))
    frame = result.frame.filter(pl.col("status") == "successful").head(texts)
    for row in frame.iter_rows(named=True):
        screen.print("", *_text(row, result.about), sep="\n", soft_wrap=True)


def table(result: AttackResult) -> Table:
    """The numbers of an attack, each with what it says."""
    n, about = result.numbers, result.about
    attacked = n.successful + n.failed
    what, after = f"{n.texts:,} texts of {about.data}, {about.model}", percentage(n.after_attack_accuracy, 1)
    if about.labelled:
        before = [
            ["accuracy before", percentage(n.accuracy, 1), what],
            ["after-attack accuracy", after, f"by {_how(about)}"],
        ]
    else:
        before = [
            ["accuracy", percentage(math.nan), f"not measured: there are no labels; {what}"],
            ["answers kept", after, f"by {_how(about)}"],
        ]
    rows = [
        *before,
        [
            "successful",
            f"{n.successful:,}",
            f"of {attacked:,} attacked; {n.failed:,} failed, {n.skipped:,} were wrong before",
        ],
        ["words replaced", percentage(n.words_changed, 1), "of a text, where the attack succeeds"],
        ["queries", fixed(n.queries, 1), "per attacked text"],
        [
            "only unknown words",
            percentage(n.only_unknown),
            "of successes fail without words that the model cannot read",
        ],
    ]
    return Table(
        ["", "", ""],
        [[Cell(name, tone="strong"), value, Cell(what, tone="dim")] for name, value, what in rows],
    )


def _how(about: About) -> str:
    """Name the attack, and say which of its constraints were left out."""
    left_out = [name for name in ("similarity", "fluency") if about.options.get(name) is False]
    return about.recipe + (f", without {' and '.join(left_out)}" if left_out else "")


def line(row: Mapping[str, Any], about: About) -> str:
    """What the model said before and after, in one line."""
    before, after = row["predicted"], row["predicted_after"]
    return (
        f"{about.class_name(before)} {fixed(row['probabilities'][before], 2)} → "
        f"{about.class_name(after)} {fixed(row['probabilities_after'][after], 2)}, "
        f"{row['status']}, {words_changed(row['changed'])} of {row['words']} words, {row['queries']} queries"
    )


def _text(row: Mapping[str, Any], about: About) -> list[str]:
    replaced = ", ".join(
        f"{c['old']} → {c['new']}" if c["old"] else f"+ {c['new'].strip()}" for c in row["changed"]
    )
    return [
        f"[bold]{row['row']}[/] {plain(line(row, about))}",
        "  " + _marked(original_parts(row), "bold yellow"),
        "  " + _marked(attacked_parts(row), "bold red"),
        f"  [dim]{plain(replaced)}[/]",
    ]


def _marked(parts: Sequence[Part], style: str) -> str:
    return "".join(f"[{style}]{plain(part.text)}[/]" if part.marked else plain(part.text) for part in parts)
