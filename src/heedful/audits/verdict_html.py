"""A verdict in a notebook: the answer with a sign of its own, and what decided it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from markupsafe import Markup

from heedful.output.notebook import listed, paragraph, told

if TYPE_CHECKING:
    from heedful.audits.verdict import Verdict, Word

SIGNS: Mapping[Word, tuple[str, str]] = {
    "show": ("✓", "good"),
    "show with caveat": ("△", "unclear"),
    "do not show": ("✕", "bad"),
    "not enough evidence": ("?", "open"),
}
"""A sign and a tone for every answer: nobody needs to see colours."""


def verdict_parts(verdict: Verdict, *, source: str = "attention") -> Markup:
    """Draw a verdict, or findings where only some questions were asked."""
    scores = "attention" if source == "attention" else f"the scores of {source.replace('_', ' ')}"
    sign, tone = ("…", "open") if verdict.partial else SIGNS[verdict.verdict]
    word = "Findings, not a verdict" if verdict.partial else f"{verdict.verdict.capitalize()}."
    question = f"May {scores} be shown as an explanation?"
    big = Markup('<p class="h-big h-{}"><span aria-hidden="true">{} </span>{}</p>').format(
        tone, sign, told(word)
    )
    record = paragraph(verdict.record, "h-fine") if verdict.record and not verdict.partial else Markup("")
    first = Markup("").join(paragraph(remark) for remark in verdict.first)
    return paragraph(question, "h-fine") + big + first + listed(verdict.because) + record
