"""heedful study"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console, watcher
from heedful.cli.pages import show_page
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput
from heedful.output.terminal import plain


def study(
    name: Annotated[str, typer.Argument(help="A study (heedful list studies).", metavar="STUDY")],
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Corpus; the study's own if not given, such as mock_5.",
            rich_help_panel="Data",
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Encoder of every base; the study's own if not given.",
            rich_help_panel="Model",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|none",
            help="Pretrained vectors, or none; by the corpus if not given.",
            rich_help_panel="Training",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Twins of each base: the first N of the papers' nine seeds.",
            rich_help_panel="Audit",
        ),
    ] = 3,
    bases: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel="Training",
            help="Bases of each value, with seeds 0 to N − 1; 3 if not given, and 1 with --quick or for the curve.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Train on 2,000 texts for less long, audit 500; fewer points of a curve.",
            rich_help_panel="Audit",
        ),
    ] = False,
    only_finished: Annotated[
        bool,
        typer.Option(
            "--only-finished", help="Train and audit nothing; use what is there, and name what is missing."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            rich_help_panel="Output",
            help="Where table.md, figure.svg and rows.parquet go; below studies in the folder of runs if not given.",
        ),
    ] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Ask how one control changes the faithfulness of attention: a grid, a table, a figure and an answer.

    Each value of the control has bases of its own, whose twins try to predict the same while attending
    elsewhere. Bases of other seeds can attend quite differently, so there are several. The curve has one base,
    and twins that are pulled away harder and harder. Bases, twins and audits are kept: interrupted, the same
    command goes on.

    Examples

      heedful study temperature

      heedful study placement --dataset mock_2 --encoder bigru --quick

      heedful study heads --bases 5 --seeds 2 -o heads/

      heedful study curve --dataset sst2 --encoder bilstm --seeds 1
    """
    from heedful.papers.attefa.studies.study import STUDIES

    chosen = STUDIES.get(name)

    from heedful.papers.attefa.studies.run_study import run_study
    from heedful.papers.attefa.studies.study_files import make_page, write
    from heedful.training.twins import some_seeds

    options = {"encoder": encoder or chosen.encoder} | (
        {"vectors": None if vectors == "none" else vectors} if vectors else {}
    )
    studied = run_study(
        chosen,
        runs=runs,
        corpora=[dataset] if dataset else None,
        seeds=some_seeds(seeds),
        bases=bases or (1 if quick or chosen.twins else 3),
        quick=quick,
        only_finished=only_finished,
        watcher=watcher(),
        **options,
    )
    if not studied.rows:
        what, why = studied.missing[0]
        remedy = ": leave out --only-finished to do them" if only_finished else ""
        raise BadInput(
            f"None of the {len(studied.missing)} runs is trained and audited ({what}: {why}){remedy}."
        )
    unusual = [encoder if encoder != chosen.encoder else None, dataset, "quick" if quick else None]
    folder = output or runs / "studies" / "-".join(
        [name, *(part.replace("/", "_") for part in unusual if part)]
    )
    write(studied, folder)
    show_page(make_page(studied))
    console().print(f"Written: [bold]{plain(folder)}[/] (table.md, figure.svg, rows.parquet)", soft_wrap=True)
