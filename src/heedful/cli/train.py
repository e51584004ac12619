"""heedful train"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.attacks.options import AttackOptions
from heedful.cli.console import console, watcher
from heedful.cli.flags import with_flags
from heedful.config import TrainConfig
from heedful.errors import BadInput
from heedful.output.tables import Table
from heedful.output.terminal import grid, plain

RunsFolder = Annotated[
    Path,
    typer.Option("--runs", metavar="FOLDER", help="Folder that holds the runs.", rich_help_panel="Output"),
]


@with_flags(TrainConfig, leave_out=("dataset",), beside={"attack": AttackOptions})
def train(
    dataset: Annotated[
        str | None, typer.Argument(metavar="DATA", help=TrainConfig.model_fields["dataset"].description)
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML file with the same options; flags win.")
    ] = None,
    for_show: Annotated[
        bool,
        typer.Option(
            "--for-show",
            help="Train a model whose attention may be shown, audit it, and say what it costs compared with an ordinary one.",
        ),
    ] = False,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Attack the model's training texts and train on what is found, so many times (objectives flat and augmented).",
            rich_help_panel="Attack",
        ),
    ] = None,
    runs: RunsFolder = Path("runs"),
    *,
    options: dict[str, Any],
) -> int:
    """Train a classifier; after an interruption, the same command continues.

    Examples

      heedful train sst2 --vectors glove-840b-300d

      heedful train ag_news_binary --encoder average --preset jain-wallace

      heedful train reviews.csv --text-column body --label-column stars

      heedful train imdb --hierarchical --encoder bigru --preset serrano-smith

      heedful train sst2 --encoder hf:minilm-l6 --learning-rate 5e-5 --epochs 2

      heedful train sst2 --vectors glove-840b-300d --no-train-embeddings --objective steady

      heedful train mr --vectors glove-840b-300d --no-train-embeddings --for-show

      heedful train sst2 --preset flat --objective flat --rounds 3 --attack-recipe pwws
    """
    from heedful.training.train import resolve
    from heedful.training.train import train as run_training

    attack = options.pop("attack", {})
    given = options | ({"dataset": dataset} if dataset is not None else {})
    if attack and rounds is None:
        raise BadInput(
            "Attacks are for rounds of attack and training: say how many (--rounds), or leave them out."
        )
    if rounds is not None:
        return _rounds(given, config, runs, rounds, attack)
    if for_show:
        return _for_show(given, config, runs)
    classifier = run_training(resolve(given, file=config), runs=runs, watcher=watcher())
    show_result(classifier.run or runs)
    return 0


def _rounds(
    given: dict[str, Any], config: Path | None, runs: Path, rounds: int, attack: dict[str, Any]
) -> int:
    """Attack and train, and print what every round reached."""
    from heedful.checking import build
    from heedful.training.published_attack import PublishedAttack
    from heedful.training.rounds import train_rounds
    from heedful.training.train import resolve

    options = build(AttackOptions, attack)
    published = PublishedAttack(options)
    trained = resolve(given, file=config)
    _ = published.assembled  # what is missing is said before a model is trained
    done = train_rounds(
        trained,
        published,
        rounds=rounds,
        limit=options.limit,
        runs=runs,
        watcher=watcher(),
    )
    for each in done:
        console().print(f"[bold]Round {each.number}[/]")
        show_result(each.run)
    return 0


def _for_show(given: dict[str, Any], config: Path | None, runs: Path) -> int:
    """Train a model made for show, and return the exit code of its verdict."""
    from heedful.panel.for_show import train_for_show

    made = train_for_show(given, file=config, runs=runs, watcher=watcher())
    show_result(made.classifier.run or runs)
    console().print(made.cost(), soft_wrap=True)
    made.result.show(console())
    return made.result.verdict.exit_code


def show_result(folder: Path) -> None:
    """Print what a complete run reached, and where it is."""
    from heedful.output.numbers import fixed
    from heedful.runs import Run

    metrics = Run(folder).metrics()
    names = {"accuracy": "accuracy", "f1": "F1", "macro_f1": "macro F1", "roc_auc": "ROC AUC"}
    rows = [[split, *(fixed(metrics[split].get(name)) for name in names)] for split in ("dev", "test")]
    out = console()
    out.print(grid(Table(["", *names.values()], rows), right=range(1, 5)))
    out.print(f"Epoch {metrics['epoch']}, selected by {metrics['selected_by'].replace('_', ' ')}.")
    for note in metrics["notes"]:
        out.print(f"[dim]Note: {plain(note)}[/]")
    out.print(f"Run: [bold]{plain(folder)}[/]", soft_wrap=True)
