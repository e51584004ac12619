"""An audit in a notebook: the verdict, some texts as heatmaps, the rules, and every finding to unfold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from heedful.audits.audit import AUDITS
from heedful.audits.policy import Outcome
from heedful.audits.running.result import OWN, PREDICTIONS
from heedful.audits.verdict_html import verdict_parts
from heedful.output.notebook import heatmap, html_table, output, paragraph, told, unfolded
from heedful.output.numbers import NOTHING, apart, fixed, written
from heedful.output.tables import Cell, Row, Table, Tone

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult
    from heedful.audits.verdict import Judgement

_TEXTS = 3
_OUTCOMES: Mapping[Outcome, tuple[str, Tone]] = {
    "good": ("✓ passes", "good"),
    "unclear": ("△ caveat", "unclear"),
    "bad": ("✕ fails", "bad"),
    "open": ("? undecided", "open"),
    "too few": ("? too few texts", "open"),
    "not measured": ("– not measured", "dim"),
    "not counted": ("– not counted", "dim"),
}


def audit_html(result: AuditResult) -> str:
    """Draw an audit."""
    about = result.about
    accuracy = f", accuracy {fixed(about.performance['accuracy'])}" if about.performance else ""
    where = f"{about.model} ({about.encoder}) on {about.counted} of {about.data}{accuracy}."
    source = "your own" if about.source == OWN else about.source
    return output(
        verdict_parts(result.verdict, source=source),
        paragraph(where, "h-fine"),
        _texts(result),
        unfolded("What the policy looks at", html_table(_rules(result), right=(1, 2, 3, 4))),
        unfolded("Every question and its answer", _findings(result)),
        paragraph('report("audit.html") writes the whole evidence as one page to pass on.', "h-fine"),
    )


def _texts(result: AuditResult) -> Markup:
    """Draw the first texts: by attention where there is any, else by the scores that were audited."""
    frame = result.frames[PREDICTIONS]
    if not {"text", "starts", "ends", "weights"} <= set(frame.columns):
        return Markup("")
    drawn = Markup("").join(_text(row) for row in frame.head(_TEXTS).iter_rows(named=True))
    about = result.about
    beside = about.source != "attention" and about.scope.access == "stages"
    which = ", by the model's attention, which was not audited here" if beside else ""
    return paragraph(f"The first {min(_TEXTS, len(frame))} texts{which}", "h-title") + drawn


def _text(row: Mapping[str, Any]) -> Markup:
    said = f"{row['predicted']} {fixed(row['probability'], 2)}"
    truth = f"labelled {row['label']}" if row.get("label") not in (None, row["predicted"]) else ""
    words = _words(row)
    largest = max((abs(weight) for _, _, weight in words), default=0.0)
    return Markup('<div class="h-text">{}{}{}</div>').format(
        paragraph(Markup('<span class="h-label">{}</span>{}').format(told(said), told(truth))),
        heatmap(row["text"], words),
        paragraph(f"largest of {len(words)}: {written(largest)}; shades are relative to it", "h-fine"),
    )


def _words(row: Mapping[str, Any]) -> list[tuple[int, int, float]]:
    """Join the pieces of a word, whose weights add up."""
    pieces = list(zip(row["starts"], row["ends"], row["weights"], strict=True))
    numbers = row.get("words") or range(len(pieces))
    joined = groupby(zip(numbers, pieces, strict=True), key=lambda pair: pair[0])
    whole = [[piece for _, piece in group] for _, group in joined]
    return [(word[0][0], word[-1][1], sum(weight for _, _, weight in word)) for word in whole]


def _rules(result: AuditResult) -> Table:
    headings = ("what", "measured", "95 % interval", "show", "forbid", "outcome")
    return Table(
        headings, [_rule(judgement) for judgement in result.verdict.judgements], "Rules of the policy"
    )


def _rule(judgement: Judgement) -> Row:
    rule = judgement.rule
    sign, wrong = ("≥", "<") if rule.about.better == "higher" else ("≤", ">")
    forbid = NOTHING if rule.forbid is None else f"{wrong} {rule.forbid:g}"
    word, tone = _OUTCOMES[judgement.outcome]
    described = AUDITS.get(rule.audit).measures[rule.number].description
    return [described, *apart(judgement.number), f"{sign} {rule.show:g}", forbid, Cell(word, tone=tone)]


def _findings(result: AuditResult) -> Markup:
    parts = [
        paragraph(
            Markup('<span class="h-strong">{}</span> {}').format(
                told(summary.question), told(summary.finding)
            )
        )
        for summary in result.summaries.values()
    ]
    reasons: dict[str, list[str]] = {}
    for name, reason in result.refused().items():
        reasons.setdefault(reason, []).append(name)
    parts += [
        paragraph(f"{', '.join(names)} cannot be asked here: {reason}.", "h-fine")
        for reason, names in reasons.items()
    ]
    return Markup("").join(parts)
