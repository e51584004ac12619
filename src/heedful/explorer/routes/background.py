"""Attacks and audits: begun here, done elsewhere, told how far they are."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from heedful.explorer.explorer_state import Here
from heedful.explorer.faults import FAULTS
from heedful.explorer.work_record import Asked, WorkRecord

router = APIRouter(prefix="/api/work", tags=["In the background"], responses=FAULTS)


class WorkAnswer(BaseModel):
    """A piece of work, and what came of it."""

    work: WorkRecord
    result: dict[str, Any] | None = Field(description="What came of it; null while it is not done.")


@router.get("", summary="All work")
def everything(here: Here) -> list[WorkRecord]:
    """List what runs, waits and ran, the newest first."""
    return here.background.all()


@router.post("", summary="Begin an attack or an audit", status_code=201)
def begin(here: Here, asked: Annotated[Asked, Body(discriminator="kind")]) -> WorkRecord:
    """Put work in line. What is asked for twice while it is not done is begun once."""
    return here.background.ask(asked)


@router.get("/{work}", summary="How far it is")
def one(here: Here, work: str) -> WorkAnswer:
    """Say how far work is, and what came of it."""
    return WorkAnswer(work=here.background.find(work), result=here.background.result(work))


@router.delete("/{work}", summary="Stop it")
def stop(here: Here, work: str) -> WorkRecord:
    """Stop work; what it finished is kept, and the same work goes on from there."""
    return here.background.stop(work)
