"""heedful explore"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.audit import LabelNames, split_names
from heedful.cli.console import console, error_console
from heedful.cli.inputs import Adapter
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput
from heedful.output.terminal import plain

_SERVER = "Output"
Named = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN|FOLDER|hf:NAME … [DATA]",
        help="Runs, a folder of runs, classifiers of transformers or predict:MODULE:FUNCTION, as many as you like; then, if "
        "you like, a dataset's name or a file with texts. Without any, all runs.",
    ),
]
Measured = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Numbers that were kept of papers measured elsewhere (heedful reproduce --join).",
        rich_help_panel="Data",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        min=0, max=65535, metavar="N", help="Port; 0 takes any that is free.", rich_help_panel=_SERVER
    ),
]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Address to listen at. Anything but this machine's own is reached by others, who then need the token.",
        rich_help_panel=_SERVER,
    ),
]
Browser = Annotated[bool, typer.Option(help="Open a browser.", rich_help_panel=_SERVER)]


def explore(
    models: Named = None,
    measured: Measured = None,
    label_names: LabelNames = None,
    adapter: Adapter = None,
    port: Port = 8765,
    host: Host = "127.0.0.1",
    browser: Browser = True,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Look at models in a browser: move the attention and watch the answer, attack, look through audits, compare.

    Everything stays on this machine. The address that is printed holds a token, without which nothing is answered.
    Stopped and started again, it shows the same, and an audit that was under way goes on.

    Examples

      heedful explore

      heedful explore RUN

      heedful explore RUN OTHER-RUN sst2

      heedful explore hf:NAME reviews.csv --port 0 --no-browser

      heedful explore runs/ --measured docs/measured
    """
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise BadInput(
            f"The explorer needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed here: "
            f"pip install 'heedful[explore]'."
        )
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each request has a thread of its own

    from heedful.explorer.access import new_token
    from heedful.explorer.application import make_application
    from heedful.explorer.naming import shelf_named
    from heedful.explorer.serving import LOOPBACK, address, listen, serve

    if measured is not None and not measured.is_dir():
        raise BadInput(f"There is no folder {measured}: --measured names one with numbers that were kept.")
    taken = listen(host, port)
    number = taken.getsockname()[1]
    try:
        with error_console().status("Loading the models"):
            shelf = shelf_named(
                models or [], runs=runs, adapter=adapter, label_names=split_names(label_names)
            )
            token = new_token()
            names = tuple(dict.fromkeys((host, *LOOPBACK)))
            app = make_application(shelf, token=token, port=number, hosts=names, measured=measured)
        where = address(host if host not in ("0.0.0.0", "::") else "127.0.0.1", number, token)

        def ready() -> None:
            typer.echo(f"Explorer: {where}")
            if host not in LOOPBACK:
                warning = "Other machines can reach this address. Whoever has the token can read the models and texts."
                error_console().print(warning, soft_wrap=True)
            error_console().print("Ctrl-C stops it.", soft_wrap=True)
            if browser:
                import webbrowser

                webbrowser.open(where)

        serve(app, taken, ready=ready)
    finally:
        taken.close()
    console().print(plain("The explorer has ended."), soft_wrap=True)
