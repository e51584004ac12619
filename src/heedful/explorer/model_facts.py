"""What a page says of a model: what can be asked of it, what cannot, and how a text looks to it."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

from heedful.attacks.attack import ATTACKS
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, can_explain, check_access
from heedful.explorer.other_weights import twins_of
from heedful.explorer.schema import ExplainerLine, Heat, ModelAbout
from heedful.explorer.shelf import Opened
from heedful.explorer.text_reading import TextReading
from heedful.models.stages import NO_ATTENTION, Opaque, Stages, access_to, reads_queries

ATTENTION = "attention"
_OPAQUE = (
    "Of this model predictions alone are known: its weights cannot be moved. Words can be scored, deleted and replaced, and "
    "the text can be attacked."
)
_WITHOUT = (
    "This model has no attention, so there are no weights to move. Words can be scored, deleted and replaced, and the text "
    "can be attacked."
)


def usual_source(model: Stages) -> str:
    """Whose scores are drawn where nobody says: attention's, or leave-one-out's where there is none."""
    return ATTENTION if model.has_attention else "leave_one_out"


def movable(read: TextReading) -> None:
    """Refuse to move weights that are not there."""
    if read.reading.attended is None:
        raise BadInput(_OPAQUE if isinstance(read.opened.stages, Opaque) else NO_ATTENTION)


def title_of(source: str) -> str:
    """Call an explainer by words.

    >>> title_of("leave_one_out"), title_of("attention")
    ('Leave-one-out', 'Attention')
    """
    return "Leave-one-out" if source == "leave_one_out" else source.replace("_", " ").capitalize()


def about(id: str, opened: Opened, data: str | None) -> ModelAbout:
    """Say what can be asked of a model."""
    classifier, model = opened.classifier, opened.stages
    usual = usual_source(model)
    described = EXPLAINERS.descriptions()
    able = [name for name in described if name != "random" and can_explain(name, model)]
    names = (
        list(dict.fromkeys([usual, *able]))
        if usual == ATTENTION
        else [usual, *(n for n in able if n != usual)]
    )
    cannot = []
    if not model.has_attention:
        cannot.append(_OPAQUE if isinstance(model, Opaque) else _WITHOUT)
    queries = reads_queries(classifier)
    if queries:
        cannot.append("It reads every text for a question or hypothesis, and attacks read single texts.")
    return ModelAbout(
        id=id,
        name=classifier.name,
        encoder=classifier.encoder,
        labels=list(classifier.labels),
        access=access_to(model),
        unit=model.unit,
        queries=queries,
        sources=[
            ExplainerLine(name=n, title=title_of(n), description=described.get(n, "the model’s own weights"))
            for n in names
        ],
        twins=[folder.name for folder in twins_of(classifier.home)] if model.has_attention else [],
        cannot=cannot,
        attacks=[
            ExplainerLine(name=name, title=name, description=text)
            for name, text in ({} if queries else ATTACKS.descriptions()).items()
        ],
        data=data,
    )


def heat_of(read: TextReading, source: str) -> Heat:
    """Say how a text looks to a model."""
    model, labels = read.opened.stages, read.opened.classifier.labels
    if source != ATTENTION:
        check_access(source, model)
    attended = read.reading.attended
    return Heat(
        text=read.text,
        query=read.query,
        parts=_parts(read),
        weights=read.word_scores(source),
        source=source,
        source_title=title_of(source),
        labels=list(labels),
        probabilities=read.probabilities,
        predicted=labels[read.decided],
        heads=0 if attended is None else attended.shape[1],
        linear=attended is not None and read.reading.linear,
        movable=attended is not None,
        unit=model.unit,
    )


def _parts(read: TextReading) -> list[str]:
    """Cut a text at its words; a browser would count characters otherwise."""
    edges: list[Any] = [0]
    for start, end in read.spans:
        edges += [max(start, edges[-1]), max(end, edges[-1])]
    return [read.text[a:b] for a, b in pairwise(chain(edges, [len(read.text)]))]
