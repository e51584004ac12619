"""Everything that a running explorer holds, for the views to ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from heedful.explorer.audit_table import KeptTables
from heedful.explorer.background import Background
from heedful.explorer.paper_shelf import PaperShelf
from heedful.explorer.pickable_texts import PickableTexts
from heedful.explorer.shelf import Shelf
from heedful.explorer.text_reading import KeptReadings


@dataclass
class ExplorerState:
    """The models, what was read of them, what runs in the background, and what was measured."""

    shelf: Shelf
    background: Background
    papers: PaperShelf
    texts: PickableTexts
    readings: KeptReadings = field(default_factory=KeptReadings)
    tables: KeptTables = field(default_factory=KeptTables)

    @property
    def runs(self) -> Path:
        """The folder of runs."""
        return self.shelf.runs


async def _state_of(request: Request) -> ExplorerState:
    """Give what the server holds; a plain function would be sent to another thread, for nothing."""
    state: ExplorerState = request.app.state.explorer
    return state


Here = Annotated[ExplorerState, Depends(_state_of)]
"""What a view asks."""
