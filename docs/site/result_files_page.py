"""Reference of files: the policy, and what an audit leaves behind."""

from __future__ import annotations

from pathlib import Path

from cells import row
from pydantic import BaseModel

import heedful.audits.policy as policies
from heedful.audits.audit import Number, Summary
from heedful.audits.running.result import About
from heedful.audits.verdict import Verdict


def policy_page() -> str:
    """Make the page of the policy file."""
    default = Path(policies.__file__).with_name("policy.yaml").read_text(encoding="utf-8")
    return (
        "# Policy file\n\nA policy says from which number on attention is shown, shown with a caveat, or not shown. This is the default one; copy it,\n"
        "change it, give it with `--policy`, and see with `heedful panel --policy mine.yaml` how often it is wrong on models whose truth is known.\n\n"
        f"```yaml\n{default}```\n"
    )


def page() -> str:
    """Make the page of result files."""
    parts = [
        "# Result files\n",
        "`heedful audit` keeps what it found in a folder: in the run's `audits/`, beside the data, or where `--folder` says.\n",
        row("file", "what it holds"),
        "|---|---|",
        row("`audit.json`", "about, verdict and summaries, as `--json` prints them"),
        row("`instances/AUDIT.parquet`", "one row for each text: the audit's measurements"),
        row(
            "`instances/predictions.parquet`",
            "one row for each text: label, prediction, probabilities, words and scores",
        ),
        row(
            "`summaries/AUDIT.json`",
            "the numbers of one audit; it is written last, so that an audit with one is whole",
        ),
        row("`report.html`", "the page that a person reads"),
        "",
        "Numbers that no text defines are `null`. Fields that are not listed here are not written.\n",
    ]
    parts += [_fields(kind) for kind in (About, Verdict, Summary, Number)]
    return "\n".join(parts)


def _fields(kind: type[BaseModel]) -> str:
    lines = [f"## {kind.__name__}", "", (kind.__doc__ or "").strip(), "", row("field", "type"), "|---|---|"]
    for name, field in kind.model_fields.items():
        spelled = (
            getattr(field.annotation, "__name__", str(field.annotation))
            if not hasattr(field.annotation, "__args__")
            else str(field.annotation)
        )
        lines.append(row(f"`{name}`", f"`{spelled.replace('typing.', '')}`"))
    return "\n".join(lines) + "\n"
