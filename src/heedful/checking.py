"""Make a config from values given in Python, YAML or flags, or say in one sentence which of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from heedful.declared import complete
from heedful.errors import BadInput, did_you_mean
from heedful.intake.unreadable import Unreadable
from heedful.intake.yaml_text import read_yaml as load_yaml

Config = TypeVar("Config", bound=BaseModel)


def build(config: type[Config], values: Mapping[str, Any], *, where: str = "") -> Config:
    """Make a config with all declared options, or say in one sentence which value is wrong and what it may be.

    >>> from heedful.config import TrainConfig
    >>> build(TrainConfig, {"dataset": "sst2", "encodr": "cnn"})
    Traceback (most recent call last):
    heedful.errors.BadInput: There is no option 'encodr': did you mean encoder?
    """
    place = f" in {where}" if where else ""
    config = complete(config)
    for key in values:
        if key not in config.model_fields:
            raise BadInput(
                f"There is no option {str(key)!r}{place}: {did_you_mean(str(key), config.model_fields)}"
            )
    try:
        return config(**values)
    except ValidationError as error:
        raise BadInput(_explain(error.errors(include_url=False)[0], place)) from None


_MUST_BE = {
    "int_parsing": "a whole number", "int_parsing_size": "a whole number of fewer digits",
    "string_unicode": "text that can be written as UTF-8", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_parsing": "a number", "float_type": "a number", "finite_number": "a finite number",
    "bool_parsing": "true or false", "bool_type": "true or false", "string_type": "text",
    "tuple_type": "a list", "too_short": "a list of at least one", "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}", "less_than_equal": "at most {le}", "literal_error": "{expected}",
}  # fmt: skip


def _explain(error: Any, place: str) -> str:
    """Say in one sentence what pydantic found wrong first."""
    if error["type"] == "missing":
        return f"Option {error['loc'][0]} is missing{place}: give it."
    if not error["loc"]:
        return f"Bad options{place}: {error['msg'].removeprefix('Value error, ')}."
    wanted = _MUST_BE.get(error["type"])
    must = f"must be {wanted.format(**error.get('ctx', {}))}" if wanted else error["msg"]
    return f"Option {error['loc'][0]}{place} {must}, not {_shorten(error['input'])}."


def _shorten(value: object) -> str:
    try:
        spelled = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return spelled if len(spelled) <= 60 else spelled[:59] + "…"


def read_yaml(path: Path, *, given_as: str = "--config") -> dict[str, Any]:
    """Read a mapping of options from a YAML file, which the user named with `given_as`."""
    leave = " or leave out --config" if given_as == "--config" else ""
    try:
        content = load_yaml(path)
    except FileNotFoundError:
        raise BadInput(f"There is no file {path}: check the path given to {given_as}.") from None
    except OSError as error:
        reason = (error.strerror or "refused").lower()
        raise BadInput(f"Cannot read {path} ({reason}): check the path given to {given_as}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not valid YAML (it is not UTF-8): correct it{leave}.") from None
    except Unreadable as error:
        raise BadInput(f"{path} cannot be read ({error}): correct it{leave}.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(f"{path} must hold options as 'name: value', one per line.")
    return content
