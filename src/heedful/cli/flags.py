"""Command-line flags made from a config's fields, so that Python, YAML and flags always agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from heedful.config import DataOptions, ModelOptions
from heedful.declared import complete


def with_flags(
    config: type[BaseModel],
    *,
    leave_out: tuple[str, ...] = (),
    panel: str | None = None,
    beside: dict[str, type[BaseModel]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command one flag per field of a config; only flags that were given arrive, as `options`.

    Fields of configs `beside` it have flags that begin with a name, and arrive in `options` under that name.
    """
    config = complete(config)
    others = {name: complete(other) for name, other in (beside or {}).items()}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = [
            p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "options"
        ]
        flags = [
            _flag(name, field, panel or _panel(name))
            for name, field in config.model_fields.items()
            if name not in leave_out
        ]
        flags += [
            _flag(f"{prefix}_{name}", field, prefix.capitalize())
            for prefix, other in others.items()
            for name, field in other.model_fields.items()
        ]

        def wrapped(**values: Any) -> Any:
            mine = {p.name: values.pop(p.name) for p in own}
            given = {name: value for name, value in values.items() if value is not None}
            options = _values({n: v for n, v in given.items() if n in config.model_fields}, config)
            for prefix, other in others.items():
                own_names = {name: f"{prefix}_{name}" for name in other.model_fields}
                found = {name: given[flag] for name, flag in own_names.items() if flag in given}
                if found:
                    options[prefix] = _values(found, other)
            return command(**mine, options=options)

        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + flags
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapped.__doc__, wrapped.__name__ = command.__doc__, command.__name__
        return wrapped

    return decorate


def _values(given: dict[str, Any], config: type[BaseModel]) -> dict[str, Any]:
    """Give what was given for the fields of a config, where the word none may mean nothing."""
    return {
        name: None if value == "none" and _may_be_none(config.model_fields[name]) else value
        for name, value in given.items()
    }


def _flag(name: str, field: FieldInfo, panel: str) -> inspect.Parameter:
    dashed = name.replace("_", "-")
    switch = field.annotation is bool
    choices = _choices(field.annotation)
    listed = f" One of {', '.join(choices)}." if choices else ""
    default = "" if field.default is None else f" [default: {_spell(field.default)}]"
    option = typer.Option(
        f"--{dashed}/--no-{dashed}" if switch else f"--{dashed}",
        help=f"{field.description}{listed}{default}",
        show_default=False,
        metavar=None if switch else _metavar(name, field),
        rich_help_panel=panel,
    )
    kind = bool if switch else str  # the config itself parses numbers and lists, as it does from YAML
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _metavar(name: str, field: FieldInfo) -> str:
    """Name what follows a flag in one word."""
    types = _types(field.annotation)
    word = "FILE" if name.endswith("_file") else "X" if float in types else "N" if int in types else "NAME"
    if ... in types:
        word = f"{word},{word},…"
    return f"{word}|none" if _may_be_none(field) else word


def _may_be_none(field: FieldInfo) -> bool:
    """Whether 'none' means no number at all; among names it may be a name, such as the encoder none."""
    types = _types(field.annotation)
    return type(None) in types and str not in types


def _types(annotation: Any) -> set[Any]:
    """Return the plain types inside an annotation; a choice among words is text."""
    match get_origin(annotation):
        case None:
            return {annotation}
        case origin if origin is Literal:
            return {str}
        case origin if origin is Annotated:
            return _types(get_args(annotation)[0])
    return set().union(*(_types(part) for part in get_args(annotation)))


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
    if name in DataOptions.model_fields:
        return "Data"
    return "Model" if name in complete(ModelOptions).model_fields else "Training"
