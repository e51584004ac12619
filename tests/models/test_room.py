"""A model that cannot be held here is refused before it is built."""

from __future__ import annotations

import pytest

from heedful.config import ModelOptions
from heedful.errors import BadInput
from heedful.models import room
from heedful.models.model import Architecture


def shape(**sizes: int) -> Architecture:
    return Architecture(**ModelOptions(**sizes).model_dump(), vocabulary_size=1000, classes=2, query=False)


def test_a_model_that_needs_more_than_there_is_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "memory", lambda: 10**6)
    with pytest.raises(BadInput, match=r"has [\d,]+ weights, and training it takes .* GiB; this machine has"):
        room.check_room(shape(hidden=300, embedding_size=300))
    monkeypatch.setattr(room, "memory", lambda: None)  # where the system does not say
    room.check_room(shape(hidden=300, embedding_size=300))


def test_a_limit_on_address_space_is_all_there_is(monkeypatch: pytest.MonkeyPatch):
    whole = room.memory()
    assert whole is None or whole > 2**28
    monkeypatch.setattr(room, "address_space", lambda: 2**20)
    assert room.memory() in (None, 2**20)
