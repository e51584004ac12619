"""Look into a network's config before it is built: a machine that builds layers for ever cannot be asked to stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heedful.errors import BadInput

_MOST = {
    re.compile(r"(layers?|blocks?|groups?|group_num|block_sizes)$"): 10_000,  # a quarter of a minute to build
    re.compile(r"experts?$"): 100_000,  # there is a kind that has 16,384, as rows of a table
    re.compile(r"^num_labels$"): 1_000_000,
}
"""How transformers' names for how many parts to build end, and far more than any network has; a block_size builds nothing."""


def check_config_of(name: str) -> None:
    """Read the config of a folder or a name on the hub, and refuse what cannot be built; libraries raise what they like."""
    from transformers import PreTrainedConfig

    values, _ = PreTrainedConfig.get_config_dict(name)
    check_counts(values, name)


def check_counts(values: Mapping[str, Any], where: str) -> None:
    """Refuse more layers or labels than any network has, also in a config within a config."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            check_counts(value, where)
            continue
        most = next((most for name, most in _MOST.items() if name.search(str(key))), None)
        counts = [
            count
            for count in (value if isinstance(value, list) else [value])
            if isinstance(count, int | float)
        ]
        if most is not None and counts and max(counts) > most:
            raise BadInput(
                f"The config of {where} says {key} {max(counts):.6g}, and no network has more than {most:,}: copy the model again, or "
                f"choose another."
            )
