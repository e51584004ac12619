"""Parquet files as frames; a reader that panics, as polars does on some damage, is an unreadable file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from heedful.intake.unreadable import Unreadable


def read_frame(path: Path) -> pl.DataFrame:
    """Read a whole Parquet file."""
    with parquet_faults():
        return pl.read_parquet(path)


@contextmanager
def parquet_faults() -> Iterator[None]:
    """Turn whatever a damaged Parquet file does into `Unreadable`."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError) as error:
        raise Unreadable((str(error).splitlines() or [type(error).__name__])[0]) from None
