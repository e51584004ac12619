"""heedful sweep with command: study"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.cli.swept.swept_command import SWEPT, Kinds, Options, Row, SweptCommand, check_known

_KNOWN: Kinds = {
    "name": str,
    "dataset": str,
    "encoder": str,
    "vectors": str,
    "seeds": int,
    "bases": int,
    "quick": bool,
}


def _check(options: Options) -> Options:
    from heedful.papers.attefa.studies.study import STUDIES
    from heedful.training.twins import some_seeds

    check_known(options, _KNOWN, needed=("name",))
    STUDIES.get(options["name"])
    some_seeds(options.get("seeds"))
    return dict(options)


def _do(options: Options, runs: Path) -> Row:
    from heedful.errors import BadInput
    from heedful.papers.attefa.studies.run_study import run_study
    from heedful.papers.attefa.studies.study import STUDIES
    from heedful.training.twins import some_seeds

    study, quick = STUDIES.get(options["name"]), bool(options.get("quick"))
    vectors = options.get("vectors")
    more: dict[str, Any] = {"vectors": None if vectors == "none" else vectors} if vectors else {}
    studied = run_study(
        study,
        runs=runs,
        corpora=[options["dataset"]] if options.get("dataset") else None,
        seeds=some_seeds(options.get("seeds") or 3),
        bases=options.get("bases") or (1 if quick or study.twins else 3),
        quick=quick,
        encoder=options.get("encoder") or study.encoder,
        **more,
    )
    if not studied.rows:
        raise BadInput(f"Nothing of the study {study.name} could be measured ({studied.missing[0].why}).")
    row: Row = {"values": len(studied.rows), "missing": len(studied.missing)}
    for measured in studied.rows:
        row |= {f"AtteFa {measured.corpus} {measured.value}": measured.attefa}
    return row


SWEPT.register("study", "measure a study, which heedful study then finds")(SweptCommand(_check, _do))
