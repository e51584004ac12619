"""An attack in a notebook: the numbers, and some texts before and after, the replaced words marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup

from heedful.attacks.marked_text import Part, attacked_parts, original_parts
from heedful.attacks.show_attack import line, table
from heedful.output.notebook import LONGEST, html_table, output, paragraph, told

if TYPE_CHECKING:
    from heedful.attacks.attack_result import About, AttackResult

_TEXTS = 5


def attack_html(result: AttackResult) -> str:
    """Draw an attack."""
    won = result.frame.filter(pl.col("status") == "successful").head(_TEXTS)
    texts = [_text(row, result.about) for row in won.iter_rows(named=True)]
    heading = "Some texts before and after" if texts else "The attack changed the answer to no text."
    return output(
        paragraph(f"{result.about.recipe} on {result.about.data}", "h-title"),
        html_table(table(result), right=(1,)),
        paragraph(heading, "h-title"),
        *texts,
        paragraph('to_frame() has every text; report("attack.html") writes a page to pass on.', "h-fine"),
    )


def _text(row: Mapping[str, Any], about: About) -> Markup:
    return Markup('<div class="h-text">{}{}{}</div>').format(
        paragraph(line(row, about), "h-fine"),
        _marked(original_parts(row), "del"),
        _marked(attacked_parts(row), "ins"),
    )


def _marked(parts: Sequence[Part], tag: str) -> Markup:
    """A text with its replaced words in a tag; a very long one ends early."""
    drawn, room = Markup(""), LONGEST
    for part in parts:
        words = told(part.text[:room])
        drawn += Markup("<{0}>{1}</{0}>").format(Markup(tag), words) if part.marked else words
        room -= len(part.text)
        if room <= 0:
            drawn += "…"
            break
    return Markup('<p class="h-heat" dir="auto">{}</p>').format(drawn)
