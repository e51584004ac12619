"""What --help shows: what the command does, examples to copy, and every option with its meaning."""

from __future__ import annotations

import inspect
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from heedful.cli.console import console

_PANELS = ("Arguments", "Data", "Model", "Training", "Audit", "Attack", "Output", "Options")
_WIDEST = 110


class Command(TyperCommand):
    """A command that explains itself in two columns, which also fit a narrow terminal."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _show(_page(self, ctx))


class Commands(TyperGroup):
    """A group of commands that explains itself in the same way."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                rows.append((Text(name, style="bold cyan"), Text(paragraphs(command.help)[0])))
        _show(_page(self, ctx), _panel("Commands", rows))


def _show(*parts: RenderableType) -> None:
    out = console()
    out.print(*parts, width=min(out.width, _WIDEST))


def _page(command: Any, ctx: Any) -> Group:
    parts: list[RenderableType] = [Padding(_usage(command, ctx), (1, 1, 0, 1))]
    for paragraph in paragraphs(command.help):
        # An example is one line to copy: it is indented, and never joined with others.
        example = paragraph.startswith("heedful ")
        style = "bold" if paragraph.startswith("Example") else ""
        parts.append(Padding(Text(paragraph, style=style), (0, 1, 0, 3) if example else (1, 1, 0, 1)))
    parts.append("")
    panels: dict[str, list[tuple[Text, Text]]] = {name: [] for name in _PANELS}
    for parameter in command.get_params(ctx):
        if not getattr(parameter, "hidden", False):
            usual = "Options" if parameter.param_type_name == "option" else "Arguments"
            panels[getattr(parameter, "rich_help_panel", None) or usual].append(_row(parameter))
    return Group(*parts, *(_panel(name, rows) for name, rows in panels.items() if rows))


def _usage(command: Any, ctx: Any) -> Text:
    """Write a command's words in order, with brackets around optional ones."""
    words = [ctx.command_path, "[OPTIONS]"]
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            word = _name(parameter) if parameter.required else f"[{_name(parameter)}]"
            words.append(word + ("..." if parameter.nargs == -1 else ""))
    if isinstance(command, Commands):
        words.append("COMMAND")
    return Text("Usage: " + " ".join(words), style="bold")


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _row(parameter: Any) -> tuple[Text, Text]:
    meaning = Text(parameter.help or "")
    default = parameter.default
    if default is not None and not isinstance(default, bool) and "[default:" not in meaning.plain:
        meaning.append(f" [default: {default}]")
    meaning.highlight_regex(r"\[default: .*\]$", "dim")
    if parameter.param_type_name == "argument":
        return Text(_name(parameter), style="bold cyan"), meaning
    # Long names first; a switch that can be turned off is written as git writes it.
    names = sorted(parameter.opts, key=len, reverse=True)
    if parameter.secondary_opts:
        names[0] = names[0].replace("--", "--[no-]", 1)
    spelled = Text(", ".join(names), style="bold cyan")
    if parameter.metavar:
        spelled.append(f" {parameter.metavar}", style="not bold yellow")
    return spelled, meaning


def _panel(name: str, rows: list[tuple[Text, Text]]) -> Panel:
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for row in rows:
        table.add_row(*row)
    return Panel(table, title=name, title_align="left", border_style="dim")


def paragraphs(text: str | None) -> list[str]:
    """Split what a command says of itself; an example is a paragraph of its own."""
    return [" ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n")]
