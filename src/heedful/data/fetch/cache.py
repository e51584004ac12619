"""Where downloaded things live, and where datasets are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Give the folder for downloads: $HEEDFUL_CACHE if set, else the platform's usual cache."""
    chosen = os.environ.get("HEEDFUL_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("heedful")


def data_folders() -> list[Path]:
    """Give the folders that may hold datasets in folder form, the user's own ($HEEDFUL_DATA) first."""
    chosen = os.environ.get("HEEDFUL_DATA")
    own = [Path(chosen).expanduser()] if chosen else []
    return [*own, cache_folder() / "data"]
