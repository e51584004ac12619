"""All commands under one name, and one place where errors become a sentence and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import click
import typer

from heedful import __version__
from heedful.cli.console import error_console
from heedful.cli.data import data
from heedful.cli.demo import demo
from heedful.cli.doctor import doctor
from heedful.cli.listing import list_names
from heedful.cli.predict import predict
from heedful.cli.runs import runs
from heedful.cli.train import train
from heedful.errors import HeedfulError

app = typer.Typer(
    name="heedful",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="May this model's attention be shown as an explanation?\n\n"
    "Start with [bold]heedful demo[/]. Every command explains itself: [bold]heedful train --help[/].",
)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit


app.command()(demo)
app.command()(train)
app.command()(predict)
app.command()(runs)
app.command("list")(list_names)
app.add_typer(data, name="data")
app.command()(doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 well, 1 a check failed, 2 bad input."""
    sys.exit(_guarded(lambda: app(arguments, standalone_mode=False)))


def _guarded(command: Callable[[], Any]) -> int:
    """Turn what the user did wrong into one sentence; anything else is a bug and keeps its traceback."""
    try:
        result = command()
    except click.exceptions.NoArgsIsHelpError as error:
        typer.echo(error.ctx.get_help() if error.ctx else "")
        return 0
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except click.Abort:
        return 130
    except HeedfulError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("Stopped. The same command goes on from the last finished epoch.", 130)
    except BrokenPipeError:
        # The reader of a pipe has left: nothing more to say, and no complaint at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return _complain("The disk is full: free some space and run the same command again.", 2)
        raise
    return result if isinstance(result, int) else 0


def _complain(message: str, code: int) -> int:
    error_console().print(f"[bold red]Error:[/] {_escaped(message)}", highlight=False, soft_wrap=True)
    return code


def _escaped(message: str) -> str:
    from rich.markup import escape

    return escape(message)
