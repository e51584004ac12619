"""The flag --on, which is the same for every command whose work falls into pieces."""

from __future__ import annotations

from typing import Annotated

import typer

On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="here|processes[:N]|ray[:HOST:PORT]",
        help="Where independent pieces of the work run: in this process, in several of this machine, or on a Ray cluster "
        "(pip install 'heedful[ray]'). The numbers are the same.",
    ),
]
