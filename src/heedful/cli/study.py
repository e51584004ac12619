"""heedful study"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console, watcher
from heedful.cli.former_words import formerly, renamed
from heedful.cli.seeds import seeds_asked
from heedful.cli.train import RunsFolder
from heedful.cli.where import On
from heedful.output.terminal import plain
from heedful.scale.chosen import working_on

_TWINS = 3

StudyName = Annotated[str, typer.Argument(help="A study (heedful list studies).", metavar="STUDY")]
Dataset = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="NAME",
        help="Corpus; the study's own if not given, such as mock_5.",
        rich_help_panel="Data",
    ),
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoder of every base; the study's own if not given.",
        rich_help_panel="Model",
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|none",
        help="Pretrained vectors, or none; by the corpus if not given.",
        rich_help_panel="Training",
    ),
]
FormerDataset = Annotated[str | None, formerly("--dataset")]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N,N,…",
        help="Seeds of the twins of each base, such as 10,50,100 or 0-4; the first three of the papers' nine if not given.",
        rich_help_panel="Audit",
    ),
]
Bases = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel="Training",
        help="Bases of each value, with seeds 0 to N − 1; 3 if not given, and 1 with --quick or for the curve.",
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Train on 2,000 texts for fewer epochs, audit 500, and draw fewer points of a curve.",
        rich_help_panel="Audit",
    ),
]
OnlyFinished = Annotated[
    bool,
    typer.Option(
        "--only-finished", help="Train and audit nothing; use what is there, and name what is missing."
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        rich_help_panel="Output",
        help="Folder for table.md, figure.svg and rows.parquet; below studies in the folder of runs if not given.",
    ),
]


def study(
    name: StudyName,
    dataset: Dataset = None,
    former_dataset: FormerDataset = None,
    encoder: EncoderName = None,
    vectors: Vectors = None,
    seeds: Seeds = None,
    bases: Bases = None,
    quick: Quick = False,
    only_finished: OnlyFinished = False,
    output: OutputFolder = None,
    on: On = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Ask how one control changes the faithfulness of attention: a grid, a table, a figure and an answer.

    Each value of the control has its own bases, whose twins try to predict the same while attending
    elsewhere. Bases of other seeds can attend quite differently, so there are several. The curve has one base,
    and twins that are pulled away harder and harder. Bases, twins and audits are saved: after an interruption, the
    same command continues.

    Examples

      heedful study temperature

      heedful study placement --data mock_2 --encoder bigru --quick

      heedful study heads --bases 5 --seeds 10,50 -o heads/

      heedful study curve --data sst2 --encoder bilstm --seeds 10-10
    """
    from heedful.papers.attefa.studies.study import STUDIES

    chosen = STUDIES.get(name)
    dataset = renamed(dataset, former_dataset, to="--data", was="--dataset")

    from heedful.papers.attefa.studies.run_study import run_study
    from heedful.papers.reproduce import refuse_unfinished
    from heedful.training.twins import SEEDS, some_seeds

    options = {"encoder": encoder or chosen.encoder} | (
        {"vectors": None if vectors == "none" else vectors} if vectors else {}
    )
    with working_on(on):
        studied = run_study(
            chosen,
            runs=runs,
            corpora=[dataset] if dataset else None,
            seeds=seeds_asked(seeds or None, lambda count: some_seeds(count) or SEEDS) or some_seeds(_TWINS),
            bases=bases or (1 if quick or chosen.twins else 3),
            quick=quick,
            only_finished=only_finished,
            watcher=watcher(),
            **options,
        )
    if not studied.rows:
        refuse_unfinished(studied.missing, runs=len(studied.missing), only_finished=only_finished)
    unusual = [encoder if encoder != chosen.encoder else None, dataset, "quick" if quick else None]
    folder = output or runs / "studies" / _folder_name(name, unusual)
    studied.save(folder)
    studied.show(console())
    console().print(f"Written: [bold]{plain(folder)}[/] (table.md, figure.svg, rows.parquet)", soft_wrap=True)


def _folder_name(study: str, unusual: list[str | None]) -> str:
    """Name a study's folder by what differs from its defaults."""
    return "-".join([study, *(part.replace("/", "_") for part in unusual if part)])
