"""heedful compare"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.console import console, error_console, watcher
from heedful.cli.flags import with_flags
from heedful.cli.inputs import is_data_file
from heedful.cli.train import RunsFolder
from heedful.config import AuditOptions
from heedful.output.terminal import plain

if TYPE_CHECKING:
    from heedful.comparison.comparison import Comparison, ComparisonFormat

_DATA, _OUTPUT = "Data", "Output"


RunNames = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN",
        help="Two or more runs, by folder or name (heedful runs), or classifiers of transformers (a folder, hf:NAME); a file of texts "
        "after them is the data.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="DATA",
        rich_help_panel=_DATA,
        help="A dataset's name or a file, for all runs; without it, the data they were trained on, if that is the same.",
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…",
        help="Audits to compare by (heedful list audits); sharpness is always among them. "
        "[default: embedding_stability, rationale, certificate]",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="RUN", help="Run that the others are compared with; the first vanilla one if not given."
    ),
]
ByMethod = Annotated[
    bool | None,
    typer.Option(
        "--by-method/--no-by-method",
        show_default=False,
        help="Take runs together that differ only in their seed; by default if several methods remain.",
    ),
]
EveryNumber = Annotated[
    bool,
    typer.Option("--every-number", help="Show all numbers of each audit for which high or low is better."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=_OUTPUT,
        help="One of text, md, csv, latex, json; by the output's name if not given, else text.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the comparison here.", rich_help_panel=_OUTPUT
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_OUTPUT,
        help="Draw steadiness against sharpness, one point for every run, as .svg or .png.",
    ),
]


@with_flags(AuditOptions, panel="Audit")
def compare(
    run: RunNames,
    data: Data = None,
    only: Only = None,
    against: Against = None,
    by_method: ByMethod = None,
    every_number: EveryNumber = False,
    form: FormatName = None,
    output: OutputFile = None,
    figure: FigureFile = None,
    runs: RunsFolder = Path("runs"),
    *,
    options: dict[str, Any],
) -> None:
    """Compare trained models on the same texts: F1, sharpness, and every audit's numbers.

    The best of each column is marked, and whatever is not clearly worse, by a paired bootstrap over texts. Steadiness of
    attention that lost its sharpness is never marked: a flat heatmap cannot move. Audits are saved in the runs and
    not repeated; after an interruption, the same command continues.

    Examples

      heedful compare RUN RUN

      heedful compare runs/sst2-bilstm-* --figure frontier.svg

      heedful compare SEAT STEADY --against VANILLA --only embedding_stability --limit 500

      heedful compare RUN RUN --data reviews.csv -o table.tex

      heedful compare my-classifier/ my-adapter/ reviews.csv
    """
    import torch

    from heedful.checking import build
    from heedful.comparison.compare import choose_audits
    from heedful.comparison.compare import compare as compare_runs
    from heedful.comparison.formats import check_format, format_of
    from heedful.comparison.stability_frontier import check_figure

    if data is None and is_data_file(run[-1]):
        *run, data = run
    chosen = check_format(form) if form is not None else format_of(output) if output is not None else "text"
    names = [name.strip() for name in only.split(",") if name.strip()] if only else None
    audits = choose_audits(names, build(AuditOptions, options))
    if figure is not None:
        check_figure(figure, audits)
    torch.set_num_threads(1)
    found = compare_runs(
        run,
        data,
        only=names,
        against=against,
        by_method=by_method,
        every_number=every_number,
        root=runs,
        watcher=watcher(),
        **options,
    )
    _deliver(found, chosen, output, figure)


def _deliver(found: Comparison, chosen: ComparisonFormat, output: Path | None, figure: Path | None) -> None:
    """Write and print a comparison."""
    if output is not None:
        found.save(output, chosen)
    if figure is not None:
        with error_console().status("Drawing the figure"):
            found.figure(figure)
    if output is not None or chosen == "text":
        found.show(console())
    else:
        typer.echo(found.write(chosen), nl=False)
    for written in (output, figure):
        if written is not None:
            error_console().print(f"Written: [bold]{plain(written)}[/]", soft_wrap=True)
