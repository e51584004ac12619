"""Try it: a text, a heatmap, and what becomes of the answer when weights or words change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from heedful.explorer.explorer_state import ExplorerState, Here
from heedful.explorer.faults import FAULTS
from heedful.explorer.given_weights import Moved, by_heads, decide
from heedful.explorer.model_facts import heat_of, movable, usual_source
from heedful.explorer.other_weights import Choice, other_weights
from heedful.explorer.other_words import changed_text, without_weights
from heedful.explorer.schema import (
    AskedButton,
    AskedRead,
    AskedWeights,
    AskedWords,
    Heat,
    MovedAnswer,
    TextLine,
    TextPage,
    WordsAnswer,
)
from heedful.explorer.text_reading import TextReading
from heedful.output.numbers import fixed

router = APIRouter(prefix="/api/models/{model}", tags=["Try it"], responses=FAULTS)


@router.get("/texts", summary="Texts to pick from")
def texts(
    here: Here,
    model: str,
    words: Annotated[str, Query(max_length=500, description="What a text must hold.")] = "",
    label: Annotated[str | None, Query(max_length=500, description="The label it must have.")] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> TextPage:
    """Find texts among those that the model would be audited on."""
    found = here.texts.search(model, words, label, offset=offset, limit=limit)
    lines = [
        TextLine(row=row, text=text, query=query, label=label)
        for row, text, query, label in zip(found.rows, found.texts, found.queries, found.labels, strict=True)
    ]
    return TextPage(data=found.data, count=found.matching, of=found.of, texts=lines)


@router.post("/read", summary="Read a text")
def read(here: Here, model: str, asked: AskedRead) -> Heat:
    """Give the prediction and a heatmap. The states are kept, so that other weights are answered at once."""
    with here.shelf.opened(model) as opened:
        found = here.readings.of(model, opened, asked.text, asked.query)
        return heat_of(found, asked.source or usual_source(opened.stages))


@router.post("/weights", summary="Decide under given weights")
async def weights(here: Here, model: str, asked: AskedWeights) -> MovedAnswer:
    """Replace the attention by weights of your own; the states stay as they are."""
    # This answers while a word is dragged. On a busy machine each change of thread costs more than decoding does: what is
    # quick and at hand is decoded here, and everything else elsewhere, so that nobody waits for it.
    kept = here.readings.kept(model, asked.text, asked.query)
    if kept is not None and not kept.opened.stages.slow:
        with here.shelf.free(model) as free:
            if free:
                return _under(kept, asked)
    return await run_in_threadpool(_under_given, here, model, asked)


def _under_given(here: ExplorerState, model: str, asked: AskedWeights) -> MovedAnswer:
    with here.shelf.opened(model) as opened:
        return _under(here.readings.of(model, opened, asked.text, asked.query), asked)


def _under(found: TextReading, asked: AskedWeights) -> MovedAnswer:
    movable(found)
    return _moved(found, decide(found, by_heads(found, asked.weights, alike=asked.alike)))


@router.post("/button", summary="Decide under weights of a kind")
def button(here: Here, model: str, asked: AskedButton) -> MovedAnswer:
    """Uniform, shuffled, the farthest with the same answer, the fewest words gone, a twin's, or an explainer's."""
    with here.shelf.opened(model) as opened:
        found = here.readings.of(model, opened, asked.text, asked.query)
        movable(found)
        other = other_weights(found, asked.how, Choice(asked.seed, asked.explainer, asked.twin))
        return _moved(found, decide(found, other.weights), other.says)


@router.post("/words", summary="Delete or replace words")
def words(here: Here, model: str, asked: AskedWords) -> WordsAnswer:
    """Read the changed text again, and beside it zero the weights of the words that change."""
    changes = {change.word: change.to for change in asked.changes}
    with here.shelf.opened(model) as opened:
        found = here.readings.of(model, opened, asked.text, asked.query)
        again = here.readings.of(model, opened, changed_text(found, changes), asked.query)
        real = heat_of(again, usual_source(opened.stages))
        zeroed = None
        if found.reading.attended is not None:
            zeroed = _moved(found, decide(found, without_weights(found, changes)))
        return WordsAnswer(real=real, attention=zeroed, says=_difference(found, real, zeroed))


def _moved(read: TextReading, moved: Moved, says: str = "") -> MovedAnswer:
    decided = max(range(len(moved.probabilities)), key=moved.probabilities.__getitem__)
    return MovedAnswer(
        probabilities=moved.probabilities,
        predicted=read.opened.classifier.labels[decided],
        weights=moved.weights,
        far=moved.far,
        change=moved.change,
        same=decided == read.decided,
        says=says,
    )


def _difference(read: TextReading, real: Heat, zeroed: MovedAnswer | None) -> str:
    """Say what the words do to the answer, by both."""
    own, name = read.probabilities[read.decided], read.opened.classifier.labels[read.decided]
    really = real.probabilities[read.decided]
    sentence = f"Read again, {name} goes from {fixed(own, 3)} to {fixed(really, 3)}"
    if zeroed is None:
        return f"{sentence}."
    return f"{sentence}; with the weight of what changed at zero, to {fixed(zeroed.probabilities[read.decided], 3)}."
