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
    imported, and what other packages add through the entry point `heedful.<kinds>`: a new thing needs a new file, and
    nothing else. Until then a registry costs nothing.

    >>> shapes = Registry[type]("shape")
    >>> @shapes.register("square", "four equal sides")
    ... class Square: ...
    >>> shapes.get("square") is Square
    True
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    heedful.errors.BadInput: There is no shape named 'sqare': did you mean square?

    A name with a colon is a family: the part before the colon finds the thing, whatever follows.

    >>> @shapes.register("sides:NUMBER", "as many equal sides as you say")
    ... class Polygon: ...
    >>> shapes.get("sides:7") is Polygon, "sides:7" in shapes, "corners:7" in shapes
    (True, True, False)
    """

    def __init__(self, kind: str, package: str | None = None, *, file: str | None = None) -> None:
        """Look for things in every file of a package, or in the file of that name in each of its folders."""
        self.kind, self.plural = kind, f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
        self._package, self._file = package, file
        self._complete = package is None
        self._things: dict[str, T] = {}
        self._descriptions: dict[str, str] = {}

    def register(self, name: str, description: str) -> Callable[[T], T]:
        """Register the decorated thing under a unique name."""

        def decorate(thing: T) -> T:
            if self._things.get(name, thing) is not thing:
                raise ValueError(f"two {self.plural} are named {name!r}")
            self._things[name] = thing
            self._descriptions[name] = description
            return thing

        return decorate

    def get(self, name: str) -> T:
        """Find the thing of that name, or say which name was probably meant."""
        if not isinstance(name, str):
            raise BadInput(f"Of {self.plural} the name is given, and this is a {type(name).__name__}.")
        found = self._find(name)
        if found is None:
            raise BadInput(f"There is no {self.kind} named {name!r}: {did_you_mean(name, self._things)}")
        return self._things[found]

    def __iter__(self) -> Iterator[str]:
        self._import()
        return iter(sorted(self._things))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def descriptions(self) -> dict[str, str]:
        """Every name with its one-line description."""
        self._import()
        return {name: self._descriptions[name] for name in sorted(self._things)}

    def _find(self, name: str) -> str | None:
        """Return the name under which a thing is registered: its own, or that of its family."""
        self._import()
        families = (known for known in self._things if member_of(known.partition(":")[0], name) is not None)
        return name if name in self._things else next(families, None)

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
            try:
                brought.load()
            except (ImportError, SyntaxError) as error:
                package = brought.dist.name if brought.dist else brought.module
                raise BadInput(
                    f"The package {package} adds the {self.kind} {brought.name!r}, and it cannot be imported ({error}): "
                    f"update or uninstall the package."
                ) from error


def member_of(family: str, name: str) -> str | None:
    """Return the part of a name after its family; None if it belongs to no family, or to another.

    >>> member_of("hf", "hf:minilm-l6"), member_of("hf", "bilstm")
    ('minilm-l6', None)
    """
    found, colon, member = name.partition(":")
    return member if colon and found == family else None
