"""Reference of the command line: every command with its examples and options, as --help has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from cells import row

from heedful.cli.app import app
from heedful.cli.help import paragraphs

_HEAD = """# Commands

Made from the commands themselves: `heedful COMMAND --help` says the same. Options may also stand in a YAML file (`--config`), and are
keyword arguments in Python, with underscores.

| exit code | meaning |
|---|---|
| 0 | success; of an audit *show* or *show with caveat* |
| 1 | a check failed: an audit's *do not show*, and nothing else |
| 2 | bad input, said in one sentence |
| 3 | *not enough evidence* |
| 4 | it could not be done: training diverged, too little memory |
| 70 | an error in heedful |
| 130 | stopped; the same command goes on |
"""


def page() -> str:
    """Make the page."""
    top: Any = typer.main.get_command(app)
    parts = [_HEAD]
    for name, command in _commands(top, "heedful"):
        parts.append(_section(name, command))
    return "\n".join(parts)


def _commands(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    words = [p.metavar or p.name.upper() for p in arguments]
    usage = " ".join([name, *(w if p.required else f"[{w}]" for p, w in zip(arguments, words, strict=True))])
    said = [text for text in paragraphs(command.help) if not text.startswith("Example")]
    examples = [text for text in said if text.startswith("heedful ")]
    prose = [text for text in said if text not in examples]
    lines = [f"## {name}", "", f"`{usage} [OPTIONS]`", "", "\n\n".join(prose), ""]
    if examples:
        lines += ["```", *examples, "```", ""]
    options = [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help"]
    lines += [row("", "meaning"), "|---|---|"]
    lines += [row(_spelled(option), option.help or "") for option in options]
    return "\n".join(lines) + "\n"


def _spelled(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = sorted(parameter.opts, key=len, reverse=True)
    if parameter.secondary_opts:
        names[0] = names[0].replace("--", "--[no-]", 1)
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return f"`{', '.join(names)}{value}`"
