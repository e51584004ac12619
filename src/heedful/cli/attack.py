"""heedful attack"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heedful.attacks.options import AttackOptions
from heedful.cli.attack_parts import parts_elsewhere
from heedful.cli.audit import LabelNames, split_names
from heedful.cli.console import console, error_console, watcher
from heedful.cli.flags import with_flags
from heedful.cli.inputs import Adapter, Format, RunName
from heedful.cli.train import RunsFolder
from heedful.cli.where import On
from heedful.errors import BadInput
from heedful.output.terminal import plain
from heedful.progress import QUIET, Watcher
from heedful.scale.chosen import working_on

if TYPE_CHECKING:
    from heedful.attacks.attack_result import AttackResult
    from heedful.attacks.attacked_part import Elsewhere

_PAGE = "attack.html"


@with_flags(AttackOptions, panel="Attack")
def attack(
    run: RunName,
    data: Annotated[
        str | None,
        typer.Argument(
            help="A dataset's name or a file; without it, what the model was trained on.", metavar="DATA"
        ),
    ] = None,
    split: Annotated[
        Literal["train", "dev", "test"],
        typer.Option(help="Split of a dataset to attack.", rich_help_panel="Data"),
    ] = "test",
    text_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A file's column with the text.", rich_help_panel="Data"),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A file's column with the label; without labels, what the model says is taken for true.",
            rich_help_panel="Data",
        ),
    ] = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows/--no-skip-bad-rows",
            help="Leave out rows of a file without text or label, and count them.",
            rich_help_panel="Data",
        ),
    ] = False,
    label_names: LabelNames = None,
    adapter: Adapter = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "--folder",
            "-o",
            metavar="FOLDER",
            help="Where the attack is kept; if not given, inside the run, or in attacks/ beside the data.",
            rich_help_panel="Output",
        ),
    ] = None,
    form: Format = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --format json.", rich_help_panel="Output")
    ] = False,
    on: On = None,
    runs: RunsFolder = Path("runs"),
    *,
    options: dict[str, Any],
) -> None:
    """Replace words until the model answers otherwise, and say how often that succeeds.

    Every text is kept, one row each, with a page to read (attack.html). Interrupted, the same command goes on.

    Examples

      heedful attack RUN --recipe pwws --limit 200

      heedful attack RUN sst2 --recipe textfooler --vectors counterfitted.npz

      heedful attack RUN reviews.csv --recipe pwws --known-words --json

      heedful attack my-classifier/ reviews.csv --recipe pwws --limit 200

      heedful attack predict:my_model:predict reviews.csv --recipe pwws --limit 200
    """
    import torch

    from heedful.loading import find_model

    torch.set_num_threads(1)
    with working_on(on):
        with error_console().status("Loading the model"):
            names = split_names(label_names)
            classifier = find_model(run, runs=runs, data=data, label_names=names, adapter=adapter)
        result = attack_model(
            classifier,
            data,
            split=split,
            text_column=text_column,
            label_column=label_column,
            skip_bad_rows=skip_bad_rows,
            folder=output,
            options=options,
            elsewhere=parts_elsewhere(
                {
                    "name": run,
                    "runs": str(runs),
                    "data": data,
                    "label_names": names,
                    "adapter": None if adapter is None else str(adapter),
                },
                options,
                classifier,
            ),
            watcher=watcher(),
        )
    folder = result.folder
    page = None if folder is None else result.report(folder / _PAGE)
    if as_json or form == "json":
        numbers = {
            name: None if math.isnan(value) else value for name, value in result.numbers._asdict().items()
        }
        typer.echo(json.dumps(numbers, indent=1, allow_nan=False))
        return
    result.show(console())
    if folder is not None:
        console().print(f"Attack: [bold]{plain(folder)}[/]", soft_wrap=True)
        console().print(f"Page: [bold]{plain(page)}[/]", soft_wrap=True)


def attack_model(
    classifier: Any,
    data: str | None,
    *,
    split: str = "test",
    text_column: str | None = None,
    label_column: str | None = None,
    skip_bad_rows: bool = False,
    folder: Path | None = None,
    options: dict[str, Any],
    elsewhere: Elsewhere | None = None,
    watcher: Watcher = QUIET,
) -> AttackResult:
    """Attack the texts of a dataset or file; without a folder, what is done is kept inside the run, or beside the data."""
    from heedful.attacks.run_attack import attack as run_attack
    from heedful.attacks.run_attack import attack_identity
    from heedful.audits.subject.texts import find_texts
    from heedful.config import AuditOptions
    from heedful.models.function import FunctionClassifier

    with watcher.status("Reading the texts"):
        asked = AuditOptions(
            split=split, text_column=text_column, label_column=label_column, skip_bad_rows=skip_bad_rows
        )
        name, found, labelled, notes = find_texts(classifier, data, asked, classifier.trained)
        for note in notes:
            watcher.say(note)
        if found.queries is not None:
            raise BadInput(
                f"Attacks read single texts, and {name} has a query beside each: choose other data."
            )
        if isinstance(classifier, FunctionClassifier):
            classifier.probe(found.texts)
    labels = found.labels.tolist() if labelled else None
    if folder is None and classifier.home is not None:
        known = attack_identity(classifier, found.texts, labels, **options)
        slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-").lower()
        folder = classifier.home / "attacks" / f"{options.get('recipe', 'textfooler')}-{slug}-{known}"
    return run_attack(classifier, found.texts, labels, data=name, folder=folder, watcher=watcher, **options)
