"""heedful list"""

from __future__ import annotations

from typing import Annotated

import typer

from heedful.cli.console import console
from heedful.errors import BadInput, did_you_mean
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid

KINDS = (
    "audits",
    "encoders",
    "objectives",
    "explainers",
    "attacks",
    "presets",
    "datasets",
    "recipes",
    "studies",
    "assets",
)


def list_names(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.", metavar="KIND")],
) -> None:
    """List what can be named, with one line of description each.

    Example

      heedful list encoders
    """
    rows: list[Row] = [
        [Cell(name, tone="strong"), description] for name, description in _describe(kind).items()
    ]
    console().print(grid(Table(["", ""], rows)))


def _describe(kind: str) -> dict[str, str]:
    match kind:
        case "audits":
            from heedful.audits.audit import AUDITS

            return AUDITS.descriptions()
        case "encoders":
            from heedful.models.encoders.encoder import ENCODERS

            return ENCODERS.descriptions()
        case "objectives":
            from heedful.training.objectives.objective import OBJECTIVES

            return OBJECTIVES.descriptions()
        case "explainers":
            from heedful.explainers.explainer import EXPLAINERS

            return EXPLAINERS.descriptions()
        case "attacks":
            from heedful.attacks.attack import ATTACKS

            return ATTACKS.descriptions()
        case "presets":
            from heedful.presets import PRESETS

            return PRESETS.descriptions()
        case "datasets":
            from heedful.data.corpora.catalogue import cards

            return {name: card.title for name, card in cards().items()}
        case "recipes":
            from heedful.papers.recipe import RECIPES

            return RECIPES.descriptions()
        case "studies":
            from heedful.papers.attefa.studies.study import STUDIES

            return STUDIES.descriptions()
        case "assets":
            from heedful.data.fetch.assets import assets

            return {name: asset.description for name, asset in assets().items()}
    raise BadInput(f"There is no list of {kind!r}: {did_you_mean(kind, KINDS)}")
