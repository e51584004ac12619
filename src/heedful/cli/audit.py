"""heedful audit"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.console import console, error_console, watcher
from heedful.cli.flags import with_flags
from heedful.cli.inputs import Adapter, Format, RunName
from heedful.cli.train import RunsFolder
from heedful.cli.where import On
from heedful.config import AuditOptions
from heedful.errors import BadInput
from heedful.reporting import REPORT
from heedful.scale.chosen import working_on

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult


Data = Annotated[
    str | None,
    typer.Argument(
        help="A dataset's name or a file; without it, what the model was trained on.", metavar="DATA"
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…", help="Run only these audits (heedful list audits); sharpness always runs."
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME-OR-FILE",
        help="Thresholds to use instead of the default: version-1, or a YAML file of your own.",
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "--folder",
        "-o",
        metavar="FOLDER",
        help="Where the audit is saved; if not given, inside the run, or in audits/ beside the data.",
        rich_help_panel="Output",
    ),
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…",
        help="Names of the classes of a function or of a classifier of transformers, in their order; a function's are numbered from 0 without them.",
    ),
]
OwnScores = Annotated[
    str | None,
    typer.Option(
        metavar="FILE-OR-COLUMN",
        help="Scores of your own for every word, to be audited: a file, or a column of DATA.",
    ),
]
Instead = Annotated[
    bool,
    typer.Option(
        help="If attention may not simply be shown, compare other explainers on a sample of the same texts; not with "
        "--only, --source or --scores, nor of a function.",
    ),
]
InsteadTexts = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Compare on so many texts, however long they are; without it, on as many as are read in reasonable time.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write the outcomes as a JUnit file too, which CI services show as tests.",
        rich_help_panel="Output",
    ),
]
Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif",
        metavar="FILE",
        help="Write the outcomes as a SARIF file too, which code hosts show beside a change.",
        rich_help_panel="Output",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.", rich_help_panel="Output")]


@with_flags(AuditOptions, panel="Audit")
def audit(
    run: RunName,
    data: Data = None,
    only: Only = None,
    policy: PolicyName = None,
    output: OutputFolder = None,
    scores: OwnScores = None,
    label_names: LabelNames = None,
    adapter: Adapter = None,
    instead: Instead = True,
    instead_texts: InsteadTexts = None,
    form: Format = "text",
    as_json: AsJson = False,
    junit: Junit = None,
    sarif: Sarif = None,
    on: On = None,
    runs: RunsFolder = Path("runs"),
    *,
    options: dict[str, Any],
) -> int:
    """May this model's attention be shown as an explanation? Exits with 0 for yes, 1 for no, 3 for not enough evidence.

    Every measurement is saved, one row per text, with a report to read and pass on (report.html). After an interruption,
    the same command continues with the audit it was at. A verdict of show with caveat exits with 0 too, since it does not
    fail the policy. With --only there are findings and no verdict.

    Examples

      heedful audit RUN

      heedful audit RUN sst2 --quick

      heedful audit RUN reviews.csv --text-column body --json

      heedful audit RUN reviews.csv --junit heedful.xml --sarif heedful.sarif

      heedful audit RUN --only counterfactual --method search

      heedful audit RUN --source integrated_gradients --policy strict.yaml

      heedful audit my-classifier/ reviews.csv --quick

      heedful audit predict:my_model:predict reviews.csv

      heedful audit predict:my_model:predict reviews.jsonl --scores heatmap --label-names negative,positive
    """
    import torch

    from heedful.audits.running.run import audit as run_audits
    from heedful.audits.subject.scores import scores_named
    from heedful.loading import find_model
    from heedful.models.stages import Opaque

    for file in (junit, sarif):
        if file is not None and file.is_dir():
            raise BadInput(f"{file} is a folder: name a file to write.")
    torch.set_num_threads(1)
    with error_console().status("Loading the model"):
        classifier = find_model(
            run, runs=runs, data=data, label_names=split_names(label_names), adapter=adapter
        )
    own = None if scores is None else scores_named(scores, data)
    names = split_names(only) or None
    known = {
        "name": run,
        "runs": str(runs),
        "data": data,
        "label_names": split_names(label_names),
        "adapter": None if adapter is None else str(adapter),
    }
    with working_on(on):
        result = run_audits(
            classifier,
            data,
            only=names,
            policy=policy,
            folder=output,
            keep=True,
            scores=own,
            named=known,
            watcher=watcher(),
            **options,
        )
    asked_all = not (names or own or "source" in options or isinstance(classifier.model, Opaque))
    if instead and asked_all and result.verdict.verdict != "show":
        from heedful.audits.running.compare_explainers import compare_explainers

        compare_explainers(
            result, classifier, data, policy=policy, many=instead_texts, watcher=watcher(), **options
        )
    _write_for_ci(result, junit, sarif)
    _deliver(result, as_json=as_json or form == "json")
    return result.verdict.exit_code


def _write_for_ci(result: AuditResult, junit: Path | None, sarif: Path | None) -> None:
    """Write what was asked for, whole or not at all."""
    from heedful.reports.junit import junit as as_junit
    from heedful.reports.sarif import sarif as as_sarif
    from heedful.storage import write_text

    if junit is not None:
        write_text(junit, as_junit(result))
    if sarif is not None:
        write_text(sarif, as_sarif(result))


def split_names(given: str | None) -> list[str] | None:
    """Read names that are separated by commas."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _deliver(result: AuditResult, *, as_json: bool) -> None:
    """Write the report, and print the result."""
    from heedful.reports import write_report
    from heedful.reports.material import Material

    assert result.folder is not None
    with error_console().status("Writing the report"):
        # From the folder: if only some audits were repeated, the report still shows all of them.
        write_report([Material.read(result.folder)], result.folder / REPORT)
    if as_json:
        others = Material.of(result).alternatives
        content = result.to_json() | ({"alternatives": others.model_dump(mode="json")} if others else {})
        typer.echo(json.dumps(content, ensure_ascii=False, indent=1))
    else:
        result.show(console())
