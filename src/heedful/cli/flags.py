"""Command-line flags from a config's fields, so that Python, YAML and flags can never drift apart."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo


def with_flags(
    config: type[BaseModel], *, leave_out: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one flag per field of a config; only flags that were given arrive, as `options`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = [
            p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "options"
        ]
        flags = [_flag(name, field) for name, field in config.model_fields.items() if name not in leave_out]

        def wrapped(**values: Any) -> Any:
            mine = {p.name: values.pop(p.name) for p in own}
            return command(
                **mine, options={name: value for name, value in values.items() if value is not None}
            )

        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + flags
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapped.__doc__, wrapped.__name__ = command.__doc__, command.__name__
        return wrapped

    return decorate


def _flag(name: str, field: FieldInfo) -> inspect.Parameter:
    dashed = name.replace("_", "-")
    kind = _plain_type(field.annotation)
    spelled = f"--{dashed}/--no-{dashed}" if kind is bool else f"--{dashed}"
    default = "" if field.default is None else f" [dim]\\[default: {_spell(field.default)}][/]"
    choices = _choices(field.annotation)
    metavar = "|".join(choices) if choices else None
    option = typer.Option(spelled, help=f"{field.description}{default}", show_default=False, metavar=metavar,
                          rich_help_panel=_panel(name))  # fmt: skip
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _plain_type(annotation: Any) -> type:
    """What the command line parses: numbers and switches as such, all else as text that the config reads."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(arg for arg in get_args(annotation) if arg is not type(None))
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation if annotation in (bool, int, float) else str


def _choices(annotation: Any) -> tuple[str, ...]:
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is Literal:
            return get_args(part)
    return ()


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _panel(name: str) -> str:
    from heedful.config import DataOptions, ModelOptions

    if name in DataOptions.model_fields:
        return "Data"
    return "Model" if name in ModelOptions.model_fields else "Training"
