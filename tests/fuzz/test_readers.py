"""Spoiled files, some hundreds of each kind: they are read, or refused in one line. `overnight.py` tries many more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutations import document_in, reshaped, spoiled
from tests.fuzz.readers import fault, readers

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))
"""Of each kind; more of them, and others each time, if FUZZ_EXAMPLES says how many."""


@pytest.mark.parametrize("name", readers())
def test_a_valid_file_is_read(tmp_path, name):
    reader = readers()[name]
    folder = tmp_path / "fuzz"
    folder.mkdir()
    assert fault(reader, folder, reader.valid) is None


@pytest.mark.parametrize("name", readers())
def test_a_spoiled_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, name: str):
    reader = readers()[name]
    folder: Path = tmp_path_factory.mktemp("spoiled") / "fuzz"
    folder.mkdir()
    spoils, tried = spoiled(reader.valid), []
    if (known := document_in(reader.valid, reader.file)) is not None:
        document, written = known
        spoils = st.one_of(spoils, reshaped(document).map(written))

    @settings(
        max_examples=EXAMPLES,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(st.data())
    def try_it(data: st.DataObject) -> None:
        content = data.draw(spoils)
        tried.append(content)
        found = fault(reader, folder, content)
        assert found is None, (name, content[:300], found)

    try_it()
    assert len(tried) >= EXAMPLES // 2
