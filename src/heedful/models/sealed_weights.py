"""Tensors in a file that knows what it holds: a checksum in its header says whether they are still those that were saved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, uint8

from heedful.intake.unreadable import Unreadable

_CHECKSUM = "checksum"
"""The one entry of the header, as several have no order there: the checksum and, after a space, the notes, if there are any."""


def seal(tensors: Mapping[str, Tensor], notes: Mapping[str, str] | None = None) -> bytes:
    """Give the file of some tensors, and of notes about them."""
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    written = json.dumps(dict(notes or {}), sort_keys=True)
    total = _checksum(contiguous, written)
    content: bytes = save(contiguous, metadata={_CHECKSUM: f"{total} {written}" if notes else total})
    return content


def unseal(path: Path, *, must: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors and notes of a file. `Unreadable` if they are not those that were saved.

    A file without a checksum, of an earlier heedful or of somebody else, is believed, unless there `must` be one.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a dict
    except (SafetensorError, OSError, RuntimeError, ValueError, TypeError, MemoryError) as error:
        raise Unreadable((str(error).splitlines() or [type(error).__name__])[0]) from None
    if _CHECKSUM not in header and not must:
        return tensors, {}
    total, _, written = header.get(_CHECKSUM, "").partition(" ")
    if total != _checksum(tensors, written or "{}"):
        raise Unreadable("its checksum is of other weights")
    notes: dict[str, str] = json.loads(written or "{}")
    return tensors, notes


def _checksum(tensors: Mapping[str, Tensor], notes: str) -> str:
    total = hashlib.sha256(notes.encode())
    for name, tensor in sorted(tensors.items()):
        total.update(f"\0{name}\0{tensor.dtype}\0{list(tensor.shape)}\0".encode())
        total.update(tensor.detach().cpu().reshape(-1).view(uint8).numpy().data if tensor.numel() else b"")
    return total.hexdigest()
