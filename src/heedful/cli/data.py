"""heedful data list | get | show | make"""

from __future__ import annotations

from typing import Annotated

import typer

from heedful.cli.console import console, watcher
from heedful.cli.data_make import make
from heedful.cli.help import Command, Commands
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid, plain

_WIDE = 130

data = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    help="Datasets, vectors and pretrained models: what there is, and how to get it.",
)


@data.callback()
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        context.get_help()


@data.command("list", cls=Command)
def list_data() -> None:
    """Show every dataset of the papers, and whether it is available here.

    Example

      heedful data list
    """
    from heedful.data.corpora.catalogue import cards
    from heedful.data.corpora.sources import at_hand
    from heedful.data.fetch.assets import assets
    from heedful.output.numbers import NOTHING

    out = console()
    headings = ("dataset", "here", "title", "task", "classes", "papers")
    shown = headings if out.width >= _WIDE else headings[:3]
    rows: list[Row] = []
    fetchable = assets()
    for name, card in cards().items():
        if card.synthetic:
            here = Cell("generated", tone="good")
        elif at_hand(card):
            here = Cell("yes", tone="good")
        else:
            here = Cell("data get", tone="unclear") if name in fetchable else Cell("no", tone="dim")
        classes = str(len(card.labels)) if card.labels else NOTHING
        row = (name, here, card.title, card.task, classes, ", ".join(card.papers))
        rows.append(row[: len(shown)])
    out.print(grid(Table(shown, rows)))
    out.print(
        "\n[bold]heedful data show NAME[/] says how to get one; [bold]heedful data get NAME[/] fetches: "
        + ", ".join(fetchable),
    )


@data.command("show", cls=Command)
def show_data(name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset's name.")]) -> None:
    """Show what is known about a dataset: labels, the papers' preprocessing, origin, how to get it.

    Example

      heedful data show sst2
    """
    from heedful.data.corpora.catalogue import card
    from heedful.data.corpora.sources import at_hand

    found = card(name)
    out = console()
    out.print(f"[bold]{found.title}[/] ({name}), {found.task}")
    for heading, text in (
        ("classes", ", ".join(found.labels) or "read from the data"),
        ("papers", ", ".join(found.papers) or "none"),
        ("in the papers", found.preprocessing),
        ("origin", found.origin),
        ("here", "yes" if at_hand(found) else "no"),
        ("how to get it", found.how_to_get),
    ):
        out.print(f"[bold]{heading}[/]: {plain(text)}")


@data.command("get", cls=Command)
def get_data(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="What to fetch (heedful list assets).")],
) -> None:
    """Fetch datasets, vectors or models into the cache; what is already there is not fetched again.

    Example

      heedful data get rotten_tomatoes glove-840b-300d
    """
    from heedful.data.fetch import assets

    for name in names:
        there = assets.find(name)
        if there is not None:
            console().print(f"{name} is already there: {plain(there)}", soft_wrap=True)
            continue
        folder = assets.get(name, watcher=watcher())
        console().print(f"{name}: {plain(folder)}", soft_wrap=True)


data.add_typer(make, name="make")
