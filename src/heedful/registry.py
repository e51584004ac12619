"""One typed registry for everything that is looked up by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Generic, TypeVar

from heedful.errors import BadInput, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Names → things of one kind, each with a one-line description.

    A thing is registered by a decorator in its own file. On the first look-up all files of the registry's package are
    imported, and whatever other packages bring through the entry point `heedful.<kinds>`: a new thing is a new file, and
    nothing else. Until then a registry costs nothing.

    >>> shapes = Registry[type]("shape")
    >>> @shapes.register("square", "four equal sides")
    ... class Square: ...
    >>> shapes.get("square") is Square
    True
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    heedful.errors.BadInput: There is no shape named 'sqare': did you mean square?
    """

    def __init__(self, kind: str, package: str | None = None, *, file: str | None = None) -> None:
        """Of things of one kind: each a file of a package, or the file of that name in each of its folders."""
        self.kind, self.plural = kind, f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
        self._package, self._file = package, file
        self._complete = package is None
        self._things: dict[str, T] = {}
        self._descriptions: dict[str, str] = {}

    def register(self, name: str, description: str) -> Callable[[T], T]:
        """Register the decorated thing under a name that nothing else has."""

        def decorate(thing: T) -> T:
            if self._things.get(name, thing) is not thing:
                raise ValueError(f"two {self.plural} are named {name!r}")
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
        """Import every file that may register something, once."""
        if self._complete or self._package is None:
            return
        self._complete = True  # before anything is imported: a file may look another thing up
        for module in iter_modules(import_module(self._package).__path__, f"{self._package}."):
            if self._file is None and not module.ispkg:
                import_module(module.name)
            elif self._file is not None and module.ispkg:
                import_module(f"{module.name}.{self._file}")
        for brought in entry_points(group=f"heedful.{self.plural}"):
            brought.load()
