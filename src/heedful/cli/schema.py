"""heedful schema"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.errors import BadInput, did_you_mean

_FOLDER = Path(__file__).parents[1] / "audits" / "schemas"
_KINDS = ("result", "policy")


def schema(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(_KINDS)}.", metavar="KIND")],
) -> None:
    """Print the JSON Schema of an audit's result (--json, audit.json), or of a policy file.

    Examples

      heedful schema result > result.schema.json

      heedful schema policy
    """
    if kind not in _KINDS:
        raise BadInput(f"There is no schema {kind!r}: {did_you_mean(kind, _KINDS)}")
    typer.echo((_FOLDER / f"{kind}.json").read_text(encoding="utf-8"), nl=False)
