"""heedful panel"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console, error_console, watcher
from heedful.cli.former_words import formerly, renamed
from heedful.cli.where import On
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import plain
from heedful.scale.chosen import working_on

PolicyName = Annotated[
    str,
    typer.Option(metavar="NAME-OR-FILE", help="Policy to judge: default, version-1, or a YAML file."),
]
DoMeasure = Annotated[
    bool,
    typer.Option(
        "--measure",
        help="Train and audit what is missing, instead of using only the measurements that come with heedful.",
    ),
]
Corpora = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="NAME,NAME,…",
        help="Corpora to measure; those of the panel if not given. Any other with marked evidence works too, such as "
        "yelp+token.",
        rich_help_panel="Data",
    ),
]
MemberNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…", help="Models to measure on each; all if not given.", rich_help_panel="Data"
    ),
]
TextCount = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=100,
        metavar="N",
        help="Test texts that each model is audited on. [default: 300]",
        rich_help_panel="Data",
    ),
]
FormerCorpora = Annotated[str | None, formerly("--corpora")]
FormerTexts = Annotated[int | None, formerly("--texts", min=100)]
_TEXTS = 300
MoreAudits = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…",
        help="Audits to run besides those of a verdict: word_stability, plausibility, randomisation, seed_stability, "
        "imitation. Slow.",
        rich_help_panel="Data",
    ),
]
PanelFolder = Annotated[
    Path,
    typer.Option(metavar="FOLDER", help="Where models and measurements are saved.", rich_help_panel="Output"),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the whole page as Markdown.",
        rich_help_panel="Output",
    ),
]
TableFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write all measurements as Parquet.", rich_help_panel="Output"),
]


def panel(
    policy: PolicyName = "default",
    measure: DoMeasure = False,
    corpora: Corpora = None,
    former_corpora: FormerCorpora = None,
    members: MemberNames = None,
    limit: TextCount = None,
    former_texts: FormerTexts = None,
    also: MoreAudits = None,
    folder: PanelFolder = Path("panel"),
    output: OutputFile = None,
    table: TableFile = None,
    on: On = None,
) -> None:
    """How often is a verdict wrong? Judge a policy by models whose faithfulness is known.

    Heedful comes with audits of models for which it is known where they attend and what decides: ordinary ones, and
    others that were trained to attend elsewhere, whose attention was exchanged, or that imitate another. A policy is
    judged by how many unfaithful heatmaps it shows and how many faithful ones it refuses. With --measure the models are
    trained and audited here; after an interruption, the same command continues with the model it was at.

    Examples

      heedful panel

      heedful panel --policy mine.yaml

      heedful panel --measure --data mock_1_strong,trec+token --folder panel -o panel.md
    """
    from heedful.audits.policy import read_policy
    from heedful.panel.measure_panel import read_cases
    from heedful.panel.panel_page import overview, page
    from heedful.panel.table import MEASURED, joined, read_table, write_table
    from heedful.storage import write_text

    corpora = renamed(corpora, former_corpora, to="--data", was="--corpora")
    texts = renamed(limit, former_texts, to="--limit", was="--texts") or _TEXTS
    rules = read_policy(policy)
    if not measure and (corpora or members or also or on):
        raise BadInput("--data, --members, --also and --on say what is measured, and where: add --measure.")
    cases = read_table() if MEASURED.is_file() else []
    if measure:
        with working_on(on):
            _measure(_names(corpora), _names(members), _names(also), folder=folder, texts=texts)
    if own := read_cases(folder):
        together = joined(cases, own)
        again = len(cases) + len(own) - len(together)
        error_console().print(
            f"{len(own)} heatmaps of {plain(folder)} count too"
            f"{f', {again} of them in place of those that come with heedful' if again else ''}.",
            soft_wrap=True,
        )
        cases = together
    if not cases:
        raise BadInput("The panel was not measured yet: run heedful panel --measure.")
    for line in overview(cases, rules):
        console().print(plain(line), soft_wrap=True)
    if output is not None:
        write_text(output, page(cases, rules))
    if table is not None:
        write_table(cases, table)
    for path in (output, table):
        if path is not None:
            error_console().print(f"Written: [bold]{plain(path)}[/]", soft_wrap=True)


def _measure(corpora: list[str], members: list[str], also: list[str], *, folder: Path, texts: int) -> None:
    """Train and audit what is missing; all names are checked first."""
    from heedful.panel.corpora import CORPORA, KEPT_APART, options_of
    from heedful.panel.measure_panel import ALSO, check, measure_panel
    from heedful.panel.members import MEMBERS

    models = [MEMBERS[name] for name in _known(members, MEMBERS, "model of the panel") or MEMBERS]
    others = _known(also, ALSO, "additional audit")
    for name in corpora:
        check(name)
    for name in corpora or [*CORPORA, *KEPT_APART]:
        measure_panel(
            name, options_of(name), models, folder=folder, texts=texts, also=others, watcher=watcher()
        )


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _known(names: list[str], known: Iterable[str], kind: str) -> list[str]:
    """Refuse a name that is unknown."""
    for name in names:
        if name not in (every := list(known)):
            raise BadInput(f"There is no {kind} named {name!r}: {did_you_mean(name, every)}")
    return names
