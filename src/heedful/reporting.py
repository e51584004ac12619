"""Who writes a report. Audits lie below the report and know only that somebody does; the package says who."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Write = Callable[[Sequence[Any], Path], Path]

writer: Write | None = None

WriteAttack = Callable[[Any, Path], Path]

attack_writer: WriteAttack | None = None
