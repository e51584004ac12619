"""heedful sweep with command: audit"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.cli.swept.swept_command import SWEPT, Kinds, Options, Row, SweptCommand, check_known, names

_OWN: Kinds = {
    "run": str,
    "data": str,
    "only": (list, str),
    "policy": str,
    "adapter": str,
    "label_names": (list, str),
}


def _check(options: Options) -> Options:
    from heedful.audits.audit import AUDITS
    from heedful.checking import build
    from heedful.config import AuditOptions

    own, chosen = _parted(options)
    check_known(own, _OWN, needed=())
    if "run" not in options:
        check_known(own, _OWN, needed=("run",))
    for name in names(own.get("only")) or ():
        AUDITS.get(name)
    return {**own, **build(AuditOptions, chosen).model_dump(mode="json")}


def _do(options: Options, runs: Path) -> Row:
    from heedful.audits.audit import ALL
    from heedful.audits.running.run import audit
    from heedful.loading import find_model

    own, chosen = _parted(options)
    model = find_model(
        own["run"],
        runs=runs,
        data=own.get("data"),
        label_names=names(own.get("label_names")),
        adapter=own.get("adapter"),
    )
    result = audit(
        model, own.get("data"), only=names(own.get("only")), policy=own.get("policy"), keep=True, **chosen
    )
    row: Row = {"verdict": str(result.verdict), "texts": result.about.texts}
    for name, summary in result.summaries.items():
        row |= {f"{name}.{n.name}": n.estimate for n in summary.numbers if n.group == ALL}
    return row


def _parted(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what names the model and the texts from options of audits."""
    own = {name: value for name, value in options.items() if name in _OWN}
    return own, {name: value for name, value in options.items() if name not in _OWN}


SWEPT.register("audit", "audit a model (run) on its own texts or others (data)")(SweptCommand(_check, _do))
