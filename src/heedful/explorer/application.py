"""The application: its views, its data, and who may ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from heedful import __version__
from heedful.explorer.access import Guard
from heedful.explorer.background import Background
from heedful.explorer.explorer_state import ExplorerState
from heedful.explorer.faults import tell_faults
from heedful.explorer.page_templates import STATIC
from heedful.explorer.paper_shelf import PaperShelf
from heedful.explorer.pickable_texts import PickableTexts
from heedful.explorer.routes import audits, background, models, pages, papers, texts
from heedful.explorer.shelf import Shelf

_ABOUT = "What the pages of heedful explore ask. Give the token that the command printed as a header: `Authorization: Bearer TOKEN`."


def make_application(
    shelf: Shelf,
    *,
    token: str,
    port: int,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost"),
    measured: Path | None = None,
) -> ASGIApp:
    """Put the explorer together; `hosts` are the names by which it may be called."""
    _know_everything()
    state = ExplorerState(
        shelf,
        Background(shelf),
        PaperShelf(runs=shelf.runs, measured=measured),
        PickableTexts(shelf),
    )

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        state.background.begin()
        yield
        state.background.close()

    app = FastAPI(
        title="heedful explore",
        version=__version__,
        description=_ABOUT,
        lifespan=life,
        docs_url=None,  # these pages would fetch their scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.explorer = state
    tell_faults(app)
    for part in (models, texts, audits, background, papers):
        app.include_router(part.router)
    app.include_router(papers.pages)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, token=token, hosts=hosts, port=port)


def _know_everything() -> None:
    """Find all that is registered, in this thread: requests come in several."""
    from heedful.attacks.attack import ATTACKS
    from heedful.audits.audit import AUDITS
    from heedful.explainers.explainer import EXPLAINERS
    from heedful.papers.recipe import RECIPES

    for registry in (ATTACKS, AUDITS, EXPLAINERS, RECIPES):
        list(registry)
