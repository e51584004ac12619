"""The pages themselves: each is an empty frame that its script fills, and keeps what it shows in its address."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from heedful.explorer.explorer_state import Here
from heedful.explorer.page_templates import palette, render

router = APIRouter(include_in_schema=False)

VIEWS = {
    "try": ("Try it", "Move the attention, change words, and watch the answer."),
    "attack": ("Attack it", "Words are replaced until the answer changes, step by step."),
    "look": ("Look through", "All texts of an audit, with every measurement."),
    "compare": ("Compare", "Models and explainers side by side on the same text."),
    "papers": ("Papers", "What the papers measured, measured again."),
}
"""Every view by its address: its title, and what it is in a sentence."""
FILES = {
    "vectors": "Vectors, counter-fitted",
    "synonyms": "Synonyms",
    "language_model": "Language model (folder)",
    "sememes": "Sememes (HowNet)",
}
"""What attacks take from a file, by the name of the option."""


def page(here: Here, view: str, template: str, **content: object) -> HTMLResponse:
    """Give a page of a view."""
    title, says = VIEWS[view]
    models = [(model.id, model.named) for model in here.shelf]
    return HTMLResponse(
        render(template, views=VIEWS, view=view, title=title, says=says, models=models, **content)
    )


@router.get("/")
def start(here: Here) -> HTMLResponse:
    """Begin with trying."""
    return page(here, "try", "try.html")


@router.get("/try")
def try_it(here: Here) -> HTMLResponse:
    """Try it."""
    return page(here, "try", "try.html")


@router.get("/attack")
def attack_it(here: Here) -> HTMLResponse:
    """Attack it."""
    return page(here, "attack", "attack.html", files=FILES)


@router.get("/look")
def look_through(here: Here) -> HTMLResponse:
    """Look through."""
    return page(here, "look", "look.html")


@router.get("/compare")
def compare(here: Here) -> HTMLResponse:
    """Compare."""
    return page(here, "compare", "compare.html")


@router.get("/static/palette.css")
def colours() -> Response:
    """Give the report's colours."""
    return Response(palette(), media_type="text/css")
