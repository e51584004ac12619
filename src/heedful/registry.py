"""One typed registry for everything that is looked up by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from heedful.errors import BadInput, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Names → things of one kind, each with a one-line description.

    A thing is registered by a decorator in its own file; the modules that hold such files are imported
    on the first look-up, so that listing a registry's module costs nothing.

    >>> shapes = Registry[type]("shape")
    >>> @shapes.register("square", "four equal sides")
    ... class Square: ...
    >>> shapes.get("square") is Square
    True
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    heedful.errors.BadInput: There is no shape named 'sqare': did you mean square?
    """

    def __init__(self, kind: str, *modules: str) -> None:
        self.kind = kind
        self._modules = modules
        self._things: dict[str, T] = {}
        self._descriptions: dict[str, str] = {}

    def register(self, name: str, description: str) -> Callable[[T], T]:
        """Register the decorated thing under a name that nothing else has."""

        def decorate(thing: T) -> T:
            if self._things.get(name, thing) is not thing:
                raise ValueError(f"two {self.kind}s are named {name!r}")
            self._things[name] = thing
            self._descriptions[name] = description
            return thing

        return decorate

    def get(self, name: str) -> T:
        """Find the thing of that name, or say which name was probably meant."""
        self._import()
        if name not in self._things:
            raise BadInput(f"There is no {self.kind} named {name!r}: {did_you_mean(name, self._things)}")
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        self._import()
        return iter(sorted(self._things))

    def __contains__(self, name: object) -> bool:
        self._import()
        return name in self._things

    def descriptions(self) -> dict[str, str]:
        """Every name with its one-line description."""
        self._import()
        return {name: self._descriptions[name] for name in sorted(self._things)}

    def _import(self) -> None:
        for module in self._modules:
            importlib.import_module(module)
