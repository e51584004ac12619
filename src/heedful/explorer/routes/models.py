"""Which models there are, and what can be asked of each."""

from __future__ import annotations

from fastapi import APIRouter

from heedful.explorer.explorer_state import Here
from heedful.explorer.faults import FAULTS
from heedful.explorer.model_facts import about
from heedful.explorer.schema import ModelAbout, ModelLine

router = APIRouter(prefix="/api/models", tags=["Models"], responses=FAULTS)


@router.get("", summary="All models")
def models(here: Here) -> list[ModelLine]:
    """List the models that can be explored."""
    loaded = here.shelf.loaded()
    return [ModelLine(id=m.id, name=m.named, loaded=m.id in loaded) for m in here.shelf]


@router.get("/{model}", summary="One model")
def one(here: Here, model: str) -> ModelAbout:
    """Load a model and say what can be asked of it."""
    with here.shelf.opened(model) as opened:
        return about(model, opened, here.texts.name(model))
