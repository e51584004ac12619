"""All commands under one name, and one place where errors become a sentence and an exit code."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from heedful import __version__
from heedful.cli.attack import attack
from heedful.cli.audit import audit
from heedful.cli.compare import compare
from heedful.cli.console import error_console
from heedful.cli.data import data
from heedful.cli.demo import demo
from heedful.cli.doctor import doctor
from heedful.cli.explain import explain
from heedful.cli.explore import explore
from heedful.cli.fault import report_fault
from heedful.cli.help import Command, Commands
from heedful.cli.listing import list_names
from heedful.cli.panel import panel
from heedful.cli.predict import predict
from heedful.cli.report import report
from heedful.cli.reproduce import reproduce
from heedful.cli.runs import runs
from heedful.cli.schema import schema
from heedful.cli.stopping import SAID, STOPPED, was_pressed
from heedful.cli.study import study
from heedful.cli.sweep import sweep
from heedful.cli.train import train
from heedful.errors import BadInput, HeedfulError
from heedful.intake.encodings import encodable, without_surrogates
from heedful.output.terminal import plain

# Old versions of typer take this from click, newer ones carry their own copy.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_FAULT = 70  # an error of ours; what sysexits.h calls EX_SOFTWARE
_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|std::bad_alloc|Cannot allocate memory")
_LARGE = "There is not enough memory: give smaller sizes, fewer or shorter texts (--max-length), or a smaller --batch-size."
_UNREAD = 141  # what shells use for a broken pipe

app = typer.Typer(
    name="heedful",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="May this model's attention be shown as an explanation?\n\n"
    "Start with heedful demo. Every command explains itself: heedful train --help.\n\n"
    "Exit codes: 0 success; 1 a check failed (an audit's do not show); 2 bad input; 3 not enough evidence; "
    "4 it could not be done; 70 an error in heedful; 130 stopped.",
)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.get_help()


for _command in (
    demo,
    train,
    audit,
    attack,
    compare,
    panel,
    report,
    reproduce,
    study,
    sweep,
    predict,
    explain,
    explore,
    runs,
    schema,
):
    app.command(cls=Command)(_command)
app.command("list", cls=Command)(list_names)
app.add_typer(data, name="data")
app.command(cls=Command)(doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code.

    0 success, 1 a check failed, 2 bad input, 3 not enough evidence, 4 it could not be done (training diverged), 70
    internal error, 130 stopped, 141 nobody reads the output. No other failure exits with 1, which means *do not show*.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters that a terminal lacks become question marks
            stream.reconfigure(errors="replace")
    sys.exit(_guarded(lambda: _run(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> Any:
    """Refuse names that no file of ours could hold; in a text to be read, such characters are replaced."""
    reads_texts = arguments[:1] in (["predict"], ["explain"])
    for word in arguments:
        if not encodable(word) and (not reads_texts or os.path.lexists(word)):
            raise BadInput(
                f"{without_surrogates(word)[:100]!r} is not UTF-8: rename the file, or write the text in UTF-8."
            )
    return app(arguments, prog_name="heedful", standalone_mode=False)


def _guarded(command: Callable[[], Any]) -> int:
    """Turn bad input into one sentence; anything else is an error of ours, and a file holds its traceback."""
    try:
        result = command()
    except UsageError as error:
        return _complain(str(HeedfulError(_explain(error))), 2)
    except HeedfulError as error:
        return _complain(str(error), error.exit_code)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return _complain("The disk is full: free some space and run the same command again.", 2)
        if error.errno == errno.ENAMETOOLONG:
            shown = without_surrogates(str(error.filename))
            return _complain(f"{shown[:40]!r}… is too long for the name of a file: give a shorter one.", 2)
        return _fault(error)
    except SystemExit as left:
        # The reader of our output is gone. Libraries exit with 1 then, which would mean *do not show*.
        return _UNREAD if isinstance(left.__context__, BrokenPipeError) else _code(left.code)
    except KeyboardInterrupt:
        return _stopped()
    except BaseException as error:  # also what libraries in Rust raise when they panic
        if was_pressed():
            return _stopped()
        if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
            return _complain(_LARGE, HeedfulError.exit_code)
        return _fault(error)
    if result == STOPPED:  # what typer makes of Ctrl-C
        return _stopped()
    return _code(result)


def _stopped() -> int:
    return _complain(SAID, STOPPED)


def _code(result: object) -> int:
    if result is None or isinstance(result, int):
        return result or 0
    return _FAULT  # a library that exited with a message


def _fault(error: BaseException) -> int:
    """Say that an error is ours, and where its traceback is."""
    file = report_fault(error)
    where = f"please report it with the file {file}" if file else "no file could be written that tells more"
    return _complain(
        f"This is an error in heedful ({type(error).__name__}), not yours, and says nothing about your model: {where}, "
        "and with what heedful doctor prints.",
        _FAULT,
    )


def _explain(error: Any) -> str:
    """Say what is wrong with a command line, and where to look."""
    if getattr(error, "possibilities", None):
        return f"There is no option {error.option_name}: did you mean {error.possibilities[0]}?"
    message = str(error.format_message()).replace(
        ": Value error, ", ": "
    )  # pydantic's word, which says nothing
    if message.endswith("?") or error.ctx is None:
        return message
    return f"{message.rstrip('.')}: see {error.ctx.command_path} --help."


def _complain(message: str, code: int) -> int:
    error_console().print(f"[bold red]Error:[/] {plain(message)}", soft_wrap=True)
    return code
