"""heedful train"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.console import console, error_console, plain
from heedful.cli.flags import with_flags
from heedful.config import TrainConfig

RunsFolder = Annotated[
    Path,
    typer.Option("--runs", metavar="FOLDER", help="Folder that holds the runs.", rich_help_panel="Output"),
]


@with_flags(TrainConfig, leave_out=("dataset",))
def train(
    dataset: Annotated[
        str | None, typer.Argument(help=TrainConfig.model_fields["dataset"].description)
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML file with the same options; flags win.")
    ] = None,
    runs: RunsFolder = Path("runs"),
    *,
    options: dict[str, Any],
) -> None:
    """Train a classifier; interrupted, the same command goes on.

    Examples

      heedful train sst2 --vectors glove-840b-300d

      heedful train ag_news_binary --encoder average --preset jain-wallace

      heedful train reviews.csv --text-column body --label-column stars

      heedful train imdb --hierarchical --encoder bigru --preset serrano-smith

      heedful train sst2 --encoder hf:minilm-l6 --learning-rate 5e-5 --epochs 2

      heedful train sst2 --vectors glove-840b-300d --no-train-embeddings --objective steady
    """
    from heedful.training.train import resolve
    from heedful.training.train import train as run_training

    given = options | ({"dataset": dataset} if dataset is not None else {})
    classifier = run_training(resolve(given, file=config), runs=runs, console=error_console())
    show_result(classifier.run or runs)


def show_result(folder: Path) -> None:
    """Print what a complete run reached, and where it lies."""
    from rich.table import Table

    from heedful.runs import Run

    metrics = Run(folder).metrics()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "accuracy", "F1", "macro F1", "ROC AUC"):
        table.add_column(heading, justify="right" if heading else "left")
    for split in ("dev", "test"):
        values = [metrics[split].get(name) for name in ("accuracy", "f1", "macro_f1", "roc_auc")]
        table.add_row(split, *("–" if value is None else f"{value:.3f}" for value in values))
    out = console()
    out.print(table)
    out.print(f"Epoch {metrics['epoch']}, selected by {metrics['selected_by'].replace('_', ' ')}.")
    for note in metrics["notes"]:
        out.print(f"[dim]Note: {plain(note)}[/]")
    out.print(f"Run: [bold]{plain(folder)}[/]", soft_wrap=True)
