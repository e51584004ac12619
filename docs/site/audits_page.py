"""Reference of the audits: question, what is done, equation, numbers, caveats and citation of each, from its own file."""

from __future__ import annotations

from cells import row

from heedful.audits.audit import AUDITS, Audit, cited
from heedful.audits.separation import measured_separations

_HEAD = """# Audits

Made from the audits themselves. *Replaces weights*: the states stay, and what is asked is what the decoder needs. *Changes words*: words are
deleted, replaced or masked, and what is asked is what the model needs. Only the second sees evidence that the context has carried
elsewhere: [what each audit can see](../explained/what-audits-see.md).

Access is what an audit needs of a model: *predictions* (texts in, probabilities out), *embeddings* (gradients too), *stages* (weights can be
replaced).
"""
_WAYS = {"higher": "high is good", "lower": "low is good", None: ""}


def page() -> str:
    """Make the page."""
    audits = [AUDITS.get(name) for name in AUDITS]
    lines = [_HEAD, row("audit", "question", "it", "access", "runs"), "|---|---|---|---|---|"]
    lines += [
        row(
            f"[{audit.name}](#{audit.name})",
            audit.question,
            audit.does,
            audit.access,
            "on request" if audit.only_named else "always",
        )
        for audit in audits
    ]
    return "\n".join([*lines, "", *map(_section, audits)])


def separation() -> str:
    """Say how well each audit tells faithful heatmaps from unfaithful ones, the best first."""
    found = sorted(measured_separations().items(), key=lambda item: -item[1].auroc)
    lines = [row("audit", "it", "number", "AUROC", "models"), "|---|---|---|---|---|"]
    for name, one in found:
        value = f"{100 * one.auroc:.0f} ({100 * one.low:.0f} to {100 * one.high:.0f})"
        link = f"[{name}](../reference/audits.md#{name})"
        lines.append(row(link, AUDITS.get(name).does, f"`{one.number}`", value, one.models))
    return "\n".join(lines)


def _section(audit: type[Audit]) -> str:
    lines = [f"## {audit.name}", "", f"**{audit.question}**", ""]
    facts = [f"It {audit.does}", f"access: {audit.access}"]
    if audit.only_named:
        facts.append(f"runs only if it is named, because: {audit.only_named.rstrip('.')}")
    if audit.options:
        facts.append(
            "options of its own: " + ", ".join(f"`--{name.replace('_', '-')}`" for name in audit.options)
        )
    lines += ["; ".join(facts) + ".", ""]
    if audit.equation:
        lines += ["```", audit.equation, "```", ""]
    if audit.method:
        lines += [audit.method, ""]
    lines += [row("number", "what it is", "range", ""), "|---|---|---|---|"]
    lines += [
        row(f"`{name}`", m.description, f"{m.low:g} to {m.high:g}", _WAYS[m.better])
        for name, m in audit.measures.items()
    ]
    lines.append("")
    if audit.caveats:
        lines += ["What it cannot say:", "", *(f"- {text}" for text in audit.caveats), ""]
    paper = cited(audit)
    if paper is not None:
        lines += [f"From: [{paper.text}]({paper.url})" if paper.url else f"From: {paper.text}", ""]
    return "\n".join(lines)
