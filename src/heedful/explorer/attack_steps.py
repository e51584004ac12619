"""One text under attack, told step by step: what was tried, and what came nearest so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from heedful.attacks.attack import ATTACKS
from heedful.attacks.draft import Draft
from heedful.attacks.marked_text import attacked_parts, original_parts
from heedful.attacks.options import AttackOptions
from heedful.attacks.requests import Score, Scored, Steps
from heedful.attacks.run_attack import attack
from heedful.attacks.searches.search import Search, Space
from heedful.checking import build
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.explorer.work_record import AttackWork
from heedful.models.stages import Auditable, reads_queries
from heedful.progress import Watcher

_MOST = 500
"""Steps that are told; an attack of a long text has more."""


@dataclass
class Told:
    """A search that does its work as it would, and writes down what it asked and was answered."""

    search: Search
    found: list[tuple[Draft, Scored, int, int]] = field(default_factory=list)
    """Of each reading: the draft that came nearest, what was said of all, its place, and how many were read."""

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Pass on what the search asks, and what it is answered."""
        inner = self.search.steps(draft, first, space)
        try:
            request = next(inner)
            while True:
                answer = yield request
                if isinstance(request, Score) and len(request.drafts) and len(self.found) < _MOST:
                    place = int(answer.score.argmax())
                    self.found.append((request.drafts[place], answer, place, len(request.drafts)))
                request = inner.send(answer)
        except StopIteration as end:
            best: Draft = end.value
            return best


def attack_text(classifier: Auditable, asked: AttackWork, watcher: Watcher) -> dict[str, Any]:
    """Attack one text for the class that the model decides on, and give every step as plain data."""
    if reads_queries(classifier):
        raise BadInput(
            "Attacks read single texts, and this model reads each for a query: choose another model."
        )
    options = asked.model_dump(exclude={"kind", "model", "text"})
    chosen = build(complete(AttackOptions), options)
    with watcher.status(f"Preparing {asked.recipe}"):
        assembled = ATTACKS.get(asked.recipe)(chosen)
    told = Told(assembled.search)
    result = attack(
        classifier, [asked.text], assembled=replace(assembled, search=told), watcher=watcher, **options
    )
    row = result.to_frame().row(0, named=True)
    labels = list(classifier.labels)
    return {
        "recipe": asked.recipe,
        "labels": labels,
        "label": labels[row["predicted"]],
        "status": row["status"],
        "original": row["original"],
        "attacked": row["attacked"],
        "probabilities": row["probabilities"],
        "probabilities_after": row["probabilities_after"],
        "queries": row["queries"],
        "words": row["words"],
        "changed": [{key: change[key] for key in ("old", "new")} for change in row["changed"]],
        "parts": _as_lists(original_parts(row)),
        "attacked_parts": _as_lists(attacked_parts(row)),
        "steps": [_first(row), *_steps(told, row["predicted"])],
    }


def _first(row: dict[str, Any]) -> dict[str, Any]:
    """Tell of the text as it is, which is read before anything is tried."""
    return {
        "read": 1,
        "queries": 1,
        "text": row["original"],
        "parts": [[row["original"], False]],
        "changed": [],
        "probability": row["probabilities"][row["predicted"]],
        "reached": False,
    }


def _steps(told: Told, label: int) -> Iterator[dict[str, Any]]:
    """Tell each reading: how many drafts were read, and the one that came nearest."""
    read = 1
    for draft, answer, place, count in told.found:
        read += count
        changes = draft.changes()
        text, _ = draft.rebuilt()
        spans = [{"new_start": c.new_span[0], "new_end": c.new_span[1]} for c in changes]
        marked = {"attacked": text, "changed": spans}
        yield {
            "read": count,
            "queries": read,
            "text": text,
            "parts": _as_lists(attacked_parts(marked)),
            "changed": [{"old": c.old, "new": c.new} for c in changes],
            "probability": float(answer.probabilities[place][label]),
            "reached": bool(answer.reached[place]),
        }


def _as_lists(parts: Any) -> list[list[Any]]:
    return [[part.text, part.marked] for part in parts]
