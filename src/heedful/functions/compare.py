"""heedful.compare"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from heedful.functions.former_words import former
from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_list, as_path

if TYPE_CHECKING:
    from heedful.comparison.comparison import Comparison
    from heedful.functions.keywords import AuditKeywords


def compare(
    models: Sequence[str | Path],
    data: str | Path | None = None,
    *,
    only: Sequence[str] | None = None,
    against: str | Path | None = None,
    by_method: bool | None = None,
    every_number: bool = False,
    runs: str | Path = "runs",
    progress: bool = True,
    **options: Unpack[AuditKeywords],
) -> Comparison:
    """Compare trained runs on the same texts, with paired differences to the first, or to `against`.

    Audits are saved in the runs, and finished ones are found. Runs that differ only in their seed are taken together,
    unless `by_method` is False. `options` are those of `heedful compare --help`, with underscores. The result has
    `show()`, `to_frame()`, `write(format)`, `save(file)` and `figure(file)`; a notebook shows it by itself.
    """
    data, rest = former(options, "dataset", "data", data)

    from heedful.comparison.compare import compare as compare_runs

    return compare_runs(
        [as_path(model, "A run") for model in as_list(models, "runs")],
        None if data is None else str(as_path(data, "Data")),
        only=[only] if isinstance(only, str) else None if only is None else as_list(only, "audits"),
        against=None if against is None else as_path(against, "A run"),
        by_method=by_method,
        every_number=every_number,
        root=as_path(runs, "The folder of runs"),
        watcher=watcher(progress),
        **rest,
    )
