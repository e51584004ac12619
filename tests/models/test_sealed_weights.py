"""Equal tensors and notes are equal bytes, whenever they are sealed; what has changed is not read."""

from __future__ import annotations

import pytest
import torch

from heedful.intake.unreadable import Unreadable
from heedful.models.sealed_weights import seal, unseal

TENSORS = {"b": torch.arange(3.0), "a": torch.ones(2, 2)}


@pytest.mark.parametrize("notes", [None, {"words": "1f"}, {"run": "x", "words": "a b", "progress": "{}"}])
def test_the_same_bytes_every_time(tmp_path, notes):
    contents = {seal(TENSORS, notes) for _ in range(40)}
    assert len(contents) == 1
    path = tmp_path / "x.safetensors"
    path.write_bytes(contents.pop())
    found, told = unseal(path, must=True)
    assert told == (notes or {})
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())


def test_other_notes_are_found_out(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(seal(TENSORS, {"words": "1f"}).replace(b"1f", b"2f"))
    with pytest.raises(Unreadable, match="its checksum is of other weights"):
        unseal(path)
