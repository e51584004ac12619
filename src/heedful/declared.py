"""Options that one audit, objective or encoder declares in its own file.

A file declares them as a class beside the code that reads them:

    class RadiiOptions(AuditOptions):
        radii: Sizes = Field((0.1, 0.5), description="Sizes of a change of the weights.")

`complete(AuditOptions)` has the fields of all such classes, in our files and in other packages. Files are parsed and not
imported, because importing an audit imports torch, and `--help` must answer at once. So such a class may use what its
file imports from heedful.config, pydantic and typing, and nothing else.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, TypeVar

from pydantic import BaseModel, create_model

Config = TypeVar("Config", bound=BaseModel)

_LIGHT = ("__future__", "heedful.attacks.options", "heedful.config", "pydantic", "typing")
"""Modules that a class of options may take names from: importing them costs little."""
_made_of: dict[Any, Any] = {}


def complete(config: type[Config]) -> type[Config]:
    """Return a config with the options that files declare; the config itself if there are none."""
    whole: type[Config] = _complete(base_config(config))
    return whole


@functools.cache
def _complete(config: type[BaseModel]) -> Any:
    added: list[type[BaseModel]] = []
    origin = dict.fromkeys(config.model_fields, config.__module__)
    for base in config.__mro__:
        for module, options in _declared(base) if "declared_in" in vars(base) else ():
            for name in vars(options).get("__annotations__", ()):
                if name in origin:
                    raise ValueError(f"the option {name!r} is declared in {origin[name]} and in {module}")
                origin[name] = module
            added.append(options)
    if not added:
        return config
    whole = create_model(
        config.__name__,
        __base__=(*reversed(added), config),
        __module__=config.__module__,
        __doc__=config.__doc__,
    )
    _made_of[whole] = config
    return whole


def base_config(config: type[Config]) -> type[Config]:
    """Return the config that a complete one was made from; any other is returned as it is."""
    made_of: type[Config] = _made_of.get(config, config)
    return made_of


def rebuild(config: type[Config], values: dict[str, Any]) -> Config:
    """Make a complete config from values that were checked before."""
    return complete(config)(**values)


def declared_options(config: type[BaseModel]) -> frozenset[str]:
    """Name the options that files declare, which count only where the thing that declares them is used."""
    return frozenset(complete(config).model_fields.keys() - config.model_fields.keys())


def _declared(base: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the classes that files derive from a class of options, with the names of their modules."""
    package, group = base.declared_in
    for module, source in _sources(package, group):
        if f"({base.__name__})" not in source:
            continue
        names: dict[str, Any] = {"__name__": module}
        for node in ast.parse(source).body:
            if isinstance(node, ast.ImportFrom) and node.module in _LIGHT:
                _execute(node, names, module)
            elif isinstance(node, ast.ClassDef) and [ast.unparse(b) for b in node.bases] == [base.__name__]:
                _execute(node, names, module)
                yield module, names[node.name]


def _execute(node: ast.stmt, names: dict[str, Any], module: str) -> None:
    code = compile(ast.Module([node], []), module, "exec", dont_inherit=True)
    try:
        exec(code, names)
    except NameError as error:
        raise NameError(
            f"{module}: a class of options may use only heedful.config, pydantic and typing ({error})"
        ) from error


def _sources(package: str, group: str) -> Iterator[tuple[str, str]]:
    """Yield the source of every file that may declare options: in our package, and from entry points."""
    for found in iter_modules(import_module(package).__path__):
        spec = found.module_finder.find_spec(found.name, None)
        if spec is not None and (source := _source(spec)):
            yield f"{package}.{found.name}", source
    for brought in entry_points(group=group):
        try:
            spec = find_spec(brought.module)
            source = None if spec is None else _source(spec)
        except (ImportError, SyntaxError):
            continue  # the registry says so to whoever asks for what it brings; help must not end over it
        if source:
            yield brought.module, source


def _source(spec: Any) -> str | None:
    read = getattr(spec.loader, "get_source", None)
    source: str | None = read(spec.name) if read is not None else None
    return source
