"""What a question can be asked about: whose scores, how much access to the model there is, and what else is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from heedful.models.stages import Access

_REACHES = {
    "predictions": "the predictions",
    "embeddings": "embeddings and gradients",
    "stages": "attention weights that can be replaced",
}


@dataclass(frozen=True)
class Scope:
    """What there is to ask about. The default is the attention of a model that heedful trained, on any texts."""

    source: str = "attention"
    """Whose scores: attention's, an explainer's by its name, or the user's own."""
    access: Access = "stages"
    trained: bool = True
    """Whether the run in which the model was trained is there, so that it can be trained again."""
    checkpoints: bool = False
    """Whether other checkpoints of the model are named, so that none needs to be trained."""
    rationales: bool = False
    """Whether people marked words of these texts, or evidence was planted in them."""

    pairs: bool = False
    """Whether each text is a pair, read as one sequence."""

    def lacks(self, needed: Access) -> str | None:
        """Say which access is needed and missing; None if none is."""
        levels = get_args(Access)
        if levels.index(self.access) >= levels.index(needed):
            return None
        return f"it needs {_REACHES[needed]}, and this model has {_REACHES[self.access]} alone"

    def beyond_attention(self) -> str | None:
        """Why an audit of the weights themselves cannot be asked of these scores."""
        if self.source == "attention":
            return None
        return "it asks about attention itself: leave out --source, or choose another audit"

    def fixed(self) -> str | None:
        """Why an audit that scores changed texts cannot be asked of these scores."""
        if self.source != "own":
            return None
        return "it changes texts and scores them again, and your own scores are given for the texts as they are: choose another audit"

    def paired(self) -> str | None:
        """Why an audit that replaces words in texts cannot be asked."""
        return "it replaces words of single texts, and these are pairs" if self.pairs else None

    def untrained(self) -> str | None:
        """Why an audit that trains the model again cannot be asked."""
        return None if self.trained else "it trains models, and needs the run in which this model was trained"
