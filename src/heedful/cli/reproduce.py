"""heedful reproduce"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import error_console, watcher
from heedful.cli.pages import show_page
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import plain

_FORMATS = ("table", "md")
_DATA, _OUTPUT = "Data", "Output"


def reproduce(
    recipe: Annotated[str, typer.Argument(help="A paper (heedful list recipes).", metavar="RECIPE")],
    table: Annotated[
        str | None, typer.Option(metavar="N", help="Table to reproduce; several with commas.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option(metavar="N", help="Figure to reproduce; several with commas.")
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Measure all that the claims need; alone, print only them.")
    ] = False,
    datasets: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…", help="Datasets; all of the recipe's if not given.", rich_help_panel=_DATA
        ),
    ] = None,
    encoders: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,…", help="Encoders; all of the recipe's if not given.", rich_help_panel="Model"
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel="Training",
            help="Train with seeds 0 to N − 1; if not given, 0 alone, and for seat three or five. For attefa: the first N of the nine seeds of the twins; all if not given.",
        ),
    ] = None,
    texts: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=_DATA,
            help="Audit a seeded sample of N test texts; 1,000 if not given, 500 where texts are long, and for attefa and seat all (of tweeteval_hate 1,500).",
        ),
    ] = None,
    only_finished: Annotated[
        bool,
        typer.Option(
            "--only-finished", help="Train and audit nothing; use what is there, and name what is missing."
        ),
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="One of table, md.", rich_help_panel=_OUTPUT)
    ] = "table",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the page as Markdown too, with drawings in a folder beside it.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    together: Annotated[
        Path | None,
        typer.Option(
            "--join",
            metavar="FOLDER",
            help="Keep the numbers in this folder too, in a small Parquet file for each dataset and encoder, and put those that other machines left there on the page (seat).",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Do a paper's experiment again and set our numbers beside the published ones, with what differs.

    Trains what is missing, audits it, and says of each of the paper's claims whether it holds here. Finished
    runs and audits are kept: interrupted, the same command goes on. Without --table, --figure or --claims, all is done.

    Examples

      heedful reproduce jain-wallace --table 2 --datasets sst2,babi_1 --encoders bilstm,average --seeds 3

      heedful reproduce jain-wallace --figure 6,7,8 --datasets sst2

      heedful reproduce serrano-smith --only-finished -o serrano-smith.md

      heedful reproduce attefa --table 3 --datasets mock_1,mock_10 --encoders average --seeds 3

      heedful reproduce seat --table 1,2 --datasets sst2 --encoders bilstm

      heedful reproduce seat --datasets mr --join measured -o seat.md
    """
    from heedful.papers.recipe import RECIPES

    if form not in _FORMATS:
        raise BadInput(f"There is no format {form!r}: {did_you_mean(form, _FORMATS)}")
    chosen = RECIPES.get(recipe)
    asked = [chosen.find("table", number) for number in _split(table) or ()]
    asked += [chosen.find("figure", number) for number in _split(figure) or ()]
    needed = list(chosen.experiments) if claims or not asked else asked
    shown = asked if asked or claims else needed
    if together is not None and not chosen.joins:
        able = ", ".join(name for name in RECIPES if RECIPES.get(name).joins)
        raise BadInput(f"Parts of {recipe} cannot be put together: --join is for {able}.")
    cases = chosen.cases(
        needed, datasets=_split(datasets), encoders=_split(encoders), seeds=seeds, texts=texts
    )

    from heedful.papers.measure_recipe import measure_recipe
    from heedful.papers.outcome import make_page, split
    from heedful.papers.paper_page import markdown, save_page
    from heedful.papers.parts import keep, kept

    err = error_console()
    elsewhere = kept(chosen.name, together) if together else []
    audits = list(dict.fromkeys(experiment.audit for experiment in needed))
    results = measure_recipe(
        cases,
        audits,
        runs=runs,
        only_finished=only_finished,
        watcher=watcher(),
    )
    if not results.runs and not elsewhere:
        what, why = results.missing[0]
        remedy = ": leave out --only-finished to do them" if only_finished else ""
        raise BadInput(f"None of the {len(cases)} runs is trained and audited ({what}: {why}){remedy}.")
    if together is not None:
        here = split(chosen, results)
        for path in keep(here, together):
            err.print(f"Kept: [bold]{plain(path)}[/]", soft_wrap=True)
        results, elsewhere = replace(results, runs=()), [*elsewhere, *here]
    page = make_page(chosen, results, shown, elsewhere)
    if output is not None:
        save_page(page, output)
    if form == "md":
        typer.echo(markdown(page), nl=False)
    else:
        show_page(page)
    if output is not None:
        err.print(f"Written: [bold]{plain(output)}[/]", soft_wrap=True)


def _split(names: str | None) -> list[str] | None:
    """Give the parts of a list with commas; None where nothing was given."""
    if names is None:
        return None
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise BadInput("An option holds an empty list: name at least one, or leave the option out.")
    return found
