"""The command line. One file per command; heavy libraries are imported inside the commands that need them."""

from __future__ import annotations

from heedful.cli.stopping import quiet_until_ready


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code. Ctrl-C while commands are still being imported leaves without a traceback."""
    with quiet_until_ready():
        from heedful.cli.app import main as run
    run(arguments)


__all__ = ["main"]
