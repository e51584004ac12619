"""heedful.study"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.functions.reproduce import given_seeds
from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_path

if TYPE_CHECKING:
    from heedful.papers.attefa.studies.run_study import Studied


def study(
    name: str,
    data: str | None = None,
    *,
    encoder: str | None = None,
    vectors: str | Path | None = None,
    seeds: Sequence[int] | str | None = None,
    bases: int | None = None,
    quick: bool = False,
    only_finished: bool = False,
    runs: str | Path = "runs",
    progress: bool = True,
) -> Studied:
    """Ask how one control changes the faithfulness of attention (`heedful list studies`): a grid, a figure, an answer.

    `seeds` are those of the twins of each base, by default the first three of the papers; `vectors` may be "none". Bases,
    twins and audits are saved and found. The result has `show()`, `to_frame()` and `save(folder)`.
    """
    from heedful.papers.attefa.studies.run_study import run_study
    from heedful.papers.attefa.studies.study import STUDIES
    from heedful.papers.reproduce import refuse_unfinished
    from heedful.training.twins import some_seeds

    chosen = STUDIES.get(name)
    options: dict[str, Any] = {"encoder": encoder or chosen.encoder}
    if vectors is not None:
        options["vectors"] = None if vectors == "none" else str(vectors)
    studied = run_study(
        chosen,
        runs=as_path(runs, "The folder of runs"),
        corpora=[data] if data is not None else None,
        seeds=some_seeds(3) if seeds is None else given_seeds(seeds),
        bases=bases or (1 if quick or chosen.twins else 3),
        quick=quick,
        only_finished=only_finished,
        watcher=watcher(progress),
        **options,
    )
    if not studied.rows:
        refuse_unfinished(studied.missing, runs=len(studied.missing), only_finished=only_finished)
    return studied
