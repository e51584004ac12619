"""heedful reproduce"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.console import console, error_console, plain
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from heedful.papers.page import Page, Table

_FORMATS = ("table", "md")
_SHORT = 24
_DATA, _OUTPUT = "Data", "Output"
_COLOURS = {
    "holds": "green",
    "does not hold": "red",
    "undecided": "yellow",
    "too few texts": "dim",
    "not measured": "dim",
}


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
        int, typer.Option(min=1, metavar="N", help="Train with seeds 0 to N − 1.", rich_help_panel="Training")
    ] = 1,
    texts: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=_DATA,
            help="Audit a seeded sample of N test texts; 1,000 if not given, and 500 where texts are long.",
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
            "--output", "-o", metavar="FILE", help="Write the page as Markdown too.", rich_help_panel=_OUTPUT
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
    """  # fmt: skip
    from heedful.papers.recipe import RECIPES

    if form not in _FORMATS:
        raise BadInput(f"There is no format {form!r}: {did_you_mean(form, _FORMATS)}")
    chosen = RECIPES.get(recipe)
    asked = [chosen.find("table", number) for number in _split(table) or ()]
    asked += [chosen.find("figure", number) for number in _split(figure) or ()]
    needed = list(chosen.experiments) if claims or not asked else asked
    shown = asked if asked or claims else needed
    cases = chosen.cases(
        needed, datasets=_split(datasets), encoders=_split(encoders), seeds=seeds, texts=texts
    )

    from heedful.papers.measuring import measure
    from heedful.papers.outcome import make_page
    from heedful.papers.page import markdown
    from heedful.storage import write_text

    err = error_console()
    audits = list(dict.fromkeys(experiment.audit for experiment in needed))
    results = measure(
        cases, audits, runs=runs, only_finished=only_finished, console=err,
        say=lambda line: err.print(plain(line), soft_wrap=True),
    )  # fmt: skip
    if not results.runs:
        what, why = results.missing[0]
        remedy = ": leave out --only-finished to do them" if only_finished else ""
        raise BadInput(f"None of the {len(cases)} runs is trained and audited ({what}: {why}){remedy}.")
    page = make_page(chosen, results, shown)
    if output is not None:
        write_text(output, markdown(page))
    if form == "md":
        typer.echo(markdown(page), nl=False)
    else:
        _show(page)
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


def _show(page: Page) -> None:
    out = console()
    out.print(f"[bold]{plain(page.title)}[/]")
    for line in page.lead:
        out.print(plain(line))
    for section in page.sections:
        out.print(f"\n[bold underline]{plain(section.title)}[/]")
        for table in section.tables:
            out.print(*([f"[italic]{plain(table.title)}[/]"] if table.title else []), _table(table), sep="\n")
        for line in section.lines:
            out.print(f"[dim]• {plain(line)}[/]")


def _table(table: Table) -> Any:
    from rich.table import Table as RichTable

    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    short = [all(len(cell) <= _SHORT for cell in column) for column in zip(*table.rows, strict=True)]
    for place, heading in enumerate(table.headings):
        # In a narrow terminal numbers stay whole where there is a column of sentences that can break instead.
        whole = bool(short) and short[place] and not all(short)
        shown.add_column(plain(heading), no_wrap=whole, overflow="fold")
    for row in table.rows:
        shown.add_row(*(f"[{_COLOURS[cell]}]{cell}[/]" if cell in _COLOURS else plain(cell) for cell in row))
    return shown
