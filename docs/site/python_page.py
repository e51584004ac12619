"""Reference of the Python interface: what `import heedful` gives, with signatures and words as they stand in the code."""

from __future__ import annotations

import inspect
from typing import Any

from cells import row
from pydantic import BaseModel

import heedful
from heedful.attacks.options import AttackOptions
from heedful.audits.running.result import AuditResult
from heedful.config import AuditOptions, TrainConfig
from heedful.declared import complete
from heedful.models.stages import Auditable, Stages

_HEAD = """# Python

Made from the code. Functions take names, files, lists and frames; options are those of the command of the same name, with underscores.
Bad input raises `heedful.errors.BadInput` with one sentence.
"""
_OPTIONS = {
    "train": (TrainConfig, "of `heedful.train` and `heedful.train_for_show`"),
    "audit": (AuditOptions, "of `heedful.audit`"),
    "attack": (AttackOptions, "of `heedful.attack`"),
}
_TYPES = {
    "AuditResult": AuditResult,
    "Auditable": Auditable,
    "Stages": Stages,
}


def page() -> str:
    """Make the page."""
    parts = [_HEAD]
    for name in heedful.__all__:
        thing = getattr(heedful, name)
        if inspect.isfunction(thing):
            parts.append(_function(f"heedful.{name}", thing))
    parts.append("## Options\n")
    parts += [_fields(f"Options {where}", config) for config, where in _OPTIONS.values()]
    parts.append("## Results and interfaces\n")
    parts += [_class(name, kind) for name, kind in _TYPES.items()]
    return "\n".join(parts)


def _function(name: str, function: Any) -> str:
    return f"## {name}\n\n{_code(name, function)}\n{_words(function)}\n"


def _code(name: str, function: Any) -> str:
    parameters = inspect.signature(function)
    inside = ",\n    ".join(_parameter(p) for p in _with_star(parameters))
    returns = (
        f" -> {parameters.return_annotation}" if parameters.return_annotation is not parameters.empty else ""
    )
    return (
        f"```python\n{name}(\n    {inside},\n){returns}\n```\n"
        if inside
        else f"```python\n{name}(){returns}\n```\n"
    )


def _with_star(signature: inspect.Signature) -> list[inspect.Parameter | str]:
    found: list[inspect.Parameter | str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            found.append("*")
            starred = True
        found.append(parameter)
    return found


def _parameter(parameter: inspect.Parameter | str) -> str:
    if isinstance(parameter, str):
        return parameter
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    spelled = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        spelled += f": {_type(parameter.annotation)}"
    return spelled if parameter.default is parameter.empty else f"{spelled} = {parameter.default!r}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _words(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _fields(title: str, config: type[BaseModel]) -> str:
    whole = complete(config)
    lines = [f"### {title}", "", row("option", "default", "meaning"), "|---|---|---|"]
    for name, field in whole.model_fields.items():
        default = "" if field.is_required() else f"`{field.default!r}`"
        lines.append(row(f"`{name}`", default, field.description or ""))
    return "\n".join(lines) + "\n"


def _class(name: str, kind: Any) -> str:
    lines = [f"### {name}", "", f"`{kind.__module__}.{name}`", "", _words(kind), ""]
    for member, value in vars(kind).items():
        if member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        words = _words(value).split("\n\n")[0]
        if isinstance(value, property):
            lines.append(f"- `.{member}`: {words}")
        else:
            spelled = ", ".join(_parameter(p) for p in _with_star(inspect.signature(value)))
            lines.append(f"- `.{member}({spelled})`: {words}")
    return "\n".join(lines) + "\n"
