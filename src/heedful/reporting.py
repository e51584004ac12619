"""The function that writes a report. Audits are a layer below the report and cannot import it; the package sets this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Write = Callable[[Sequence[Any], Path], Path]

REPORT = "report.html"
"""What a report is called that lies beside its audit."""

writer: Write | None = None

Print = Callable[[Any, Any], None]

printer: Print | None = None
"""Prints an audit on a screen."""

WriteAttack = Callable[[Any, Path], Path]

attack_writer: WriteAttack | None = None
