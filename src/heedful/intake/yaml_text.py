"""YAML as plain data: no key twice, no aliases, nothing nested beyond reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from heedful.intake import limits
from heedful.intake.files import read_text
from heedful.intake.unreadable import Unreadable


def read_yaml(path: Path) -> Any:
    """Read a YAML file; raises OSError, or ValueError for everything else that can be wrong with it."""
    return parse_yaml(read_text(path, most=limits.YAML))


def parse_yaml(text: str) -> Any:
    """Parse YAML, or raise `Unreadable`.

    >>> parse_yaml("seed: 1")
    {'seed': 1}
    >>> parse_yaml("a: &x [1]\\nb: *x")
    Traceback (most recent call last):
    heedful.intake.unreadable.Unreadable: an alias (*x) at line 2, which heedful does not read
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise Unreadable(f"not valid YAML{where}") from None
    except Unreadable:
        raise
    except (ValueError, OverflowError, TypeError, AttributeError, LookupError) as error:
        # Constructors of dates, numbers and binary data raise whatever they meet.
        raise Unreadable(f"not valid YAML: {' '.join(str(error).split())[:100]}") from None
    except RecursionError:  # the scanner nests for what it has not yet composed
        raise Unreadable(f"nested more than {limits.DEPTH} deep") from None


class _PlainLoader(yaml.SafeLoader):
    """Safe, and plain: aliases make a file of 400 bytes as large as the world."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"an alias (*{event.anchor}) at line {line}, which heedful does not read")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > limits.SCALAR:
            raise Unreadable(f"a value of more than {limits.SCALAR:,} characters at line {line}")
        self._depth += 1
        if self._depth > limits.DEPTH:
            raise Unreadable(f"nested more than {limits.DEPTH} deep at line {line}")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen:
                        raise Unreadable(
                            f"the key {key.value[:60]!r} stands twice, again at line {key.start_mark.line + 1}"
                        )
                    seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)
