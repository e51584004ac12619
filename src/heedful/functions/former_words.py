"""Words that arguments once had: still understood, with a sentence that gives the new one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from heedful.errors import BadInput

_BOTH = ("texts",)
"""Words that are as good as the new one, and are not spoken of."""


def former(options: Mapping[str, Any], old: str, new: str, given: Any) -> tuple[Any, dict[str, Any]]:
    """Take an argument by the word it once had out of the options; what was `given` by the new word else.

    >>> former({"limit": 3}, "dataset", "data", "sst2")
    ('sst2', {'limit': 3})
    """
    rest = dict(options)
    if old not in rest:
        return given, rest
    value = rest.pop(old)
    if value is None:
        return given, rest
    if given is not None:
        raise BadInput(f"Both {new} and {old} are given, which are the same: leave out {old}.")
    if old not in _BOTH:
        warnings.warn(f"{old} is called {new} now: write {new}=….", FutureWarning, stacklevel=3)
    return value, rest
