"""The source of keywords.py, made of the configs: an editor completes options, and a type checker checks them.

`python -m heedful.functions.keywords_source` writes it; a test says when that is due.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from heedful.attacks.options import AttackOptions
from heedful.config import AuditOptions, TrainConfig
from heedful.declared import complete

FILE = Path(__file__).with_name("keywords.py")

_HEAD = '''"""Options as typed keyword arguments, made of the configs: python -m heedful.functions.keywords_source writes this file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict

'''
_DICTS: tuple[tuple[str, type[BaseModel], str, tuple[str, ...]], ...] = (
    ("TrainKeywords", TrainConfig, "Options of `heedful train`.", ("dataset",)),
    ("AuditKeywords", AuditOptions, "Options of `heedful audit`.", ()),
    ("AttackKeywords", AttackOptions, "Options of `heedful attack`.", ()),
)
_OF_A_FILE = re.compile(r"\b([Ff]iles?|folder|Run to|\.npz)\b")


def source() -> str:
    """Write the module; how it is broken into lines is left to the formatter."""
    return _HEAD + "\n".join(part for each in _DICTS for part in _class(*each))


def _class(name: str, config: type[BaseModel], says: str, without: tuple[str, ...]) -> Iterator[str]:
    yield f'\nclass {name}(TypedDict, total=False):\n    """{says}"""\n'
    for option, field in sorted(complete(config).model_fields.items()):
        if option in without:
            continue
        description = field.description or ""
        assert '"' not in description and "\\" not in description
        names_a_file = _OF_A_FILE.search(description) is not None and not option.endswith("_column")
        yield f'    {option}: {spelled(field.annotation, path=names_a_file)}\n    """{description}"""'


def spelled(annotation: Any, *, path: bool = False) -> str:
    """Write a type as what a caller may give: for a tuple any sequence, or names with commas.

    >>> spelled(int | None), spelled(tuple[float, ...]), spelled(Literal["a", "b"]), spelled(str, path=True)
    ('int | None', 'Sequence[float] | str', 'Literal["a", "b"]', 'str | Path')
    """
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return spelled(parts[0], path=path)
    if origin is Literal:
        return "Literal[" + ", ".join(f'"{part}"' for part in parts) + "]"
    if origin is tuple:
        return f"Sequence[{spelled(parts[0])}] | str"
    if parts:
        return " | ".join(spelled(part, path=path) for part in parts)
    if annotation is NoneType:
        return "None"
    return "str | Path" if annotation is str and path else str(annotation.__name__)


if __name__ == "__main__":
    FILE.write_text(source(), encoding="utf-8")
