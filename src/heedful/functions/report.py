"""The function heedful.report(…)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from heedful.errors import BadInput, did_you_mean
from heedful.intake.arguments import as_list, as_path

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult

ReportWord = Literal["html", "md", "latex", "csv", "json", "card"]
_ENDINGS: dict[ReportWord, str] = {
    "html": ".html",
    "md": ".md",
    "latex": ".tex",
    "csv": ".csv",
    "json": ".json",
    "card": ".md",
}


def report(
    audits: AuditResult | str | Path | Sequence[AuditResult | str | Path],
    output: str | Path | None = None,
    *,
    format: ReportWord | None = None,
    policy: str | Path | None = None,
    partial: bool = False,
    runs: str | Path = "runs",
) -> Path:
    """Write what audits found as one HTML file to read and pass on, or as tables, and give its path.

    Audits are results, or named by a run or a folder; several are compared. The name of `output` says the format if there
    is no `format`; without an output the file is named report, in the audit's own folder or here. With a `policy` all are
    judged by it. A card is for whole audits, unless `partial`.
    """
    from heedful.audits.policy import read_policy
    from heedful.audits.running.result import AuditResult
    from heedful.reports.deliver import check_cards, deliver
    from heedful.reports.finding import find
    from heedful.reports.material import Material

    chosen = _format(format, output)
    folder = as_path(runs, "The folder of runs")
    given: list[Any] = [audits] if isinstance(audits, AuditResult | str | Path) else as_list(audits, "audits")
    found = [
        Material.of(one) if isinstance(one, AuditResult) else find(as_path(one, "A run"), runs=folder)
        for one in given
    ]
    if policy is not None:
        rules = read_policy(policy)
        found = [material.judged(rules) for material in found]
    if chosen == "card" and not partial:
        check_cards(found)
    alone = found[0].folder if len(found) == 1 and chosen == "html" else None
    path = (
        as_path(output, "A file") if output is not None else (alone or Path()) / f"report{_ENDINGS[chosen]}"
    )
    return deliver(found, chosen, path)


def _format(format: str | None, output: str | Path | None) -> ReportWord:
    """Find the format by its name, else by that of the file."""
    if format is not None:
        for known in get_args(ReportWord):
            if known == format:
                return known  # type: ignore[no-any-return]
        raise BadInput(f"There is no format {format!r}: {did_you_mean(format, get_args(ReportWord))}")
    if output is None:
        return "html"
    ending = as_path(output, "A file").suffix.lower()
    for known, usual in _ENDINGS.items():
        if ending == usual:
            return known
    raise BadInput(
        f"The name of {output} does not say its format: end it in {', '.join(dict.fromkeys(_ENDINGS.values()))}, or give format."
    )
