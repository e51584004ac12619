"""heedful sweep with command: attack"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from heedful.cli.swept.swept_command import SWEPT, Kinds, Options, Row, SweptCommand, check_known, names

_OWN: Kinds = {
    "run": str,
    "data": str,
    "split": str,
    "text_column": str,
    "label_column": str,
    "skip_bad_rows": bool,
    "label_names": (list, str),
    "adapter": str,
}


def _check(options: Options) -> Options:
    from heedful.attacks.attack import ATTACKS
    from heedful.attacks.options import AttackOptions
    from heedful.checking import build

    own, chosen = _parted(options)
    check_known(own, _OWN, needed=() if "run" in options else ("run",))
    made = build(AttackOptions, chosen)
    ATTACKS.get(made.recipe)
    return {**own, **made.model_dump(mode="json")}


def _do(options: Options, runs: Path) -> Row:
    from heedful.cli.attack import attack_model
    from heedful.loading import find_model

    own, chosen = _parted(options)
    model = find_model(
        own["run"],
        runs=runs,
        data=own.get("data"),
        label_names=names(own.get("label_names")),
        adapter=own.get("adapter"),
    )
    result = attack_model(
        model,
        own.get("data"),
        split=own.get("split") or "test",
        text_column=own.get("text_column"),
        label_column=own.get("label_column"),
        skip_bad_rows=own.get("skip_bad_rows") or False,
        options=chosen,
    )
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in result.numbers._asdict().items()
    }


def _parted(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what names the model and the texts from options of the attack."""
    own = {name: value for name, value in options.items() if name in _OWN}
    return own, {name: value for name, value in options.items() if name not in _OWN}


SWEPT.register("attack", "attack a model (run) on its own texts or others (data)")(SweptCommand(_check, _do))
