"""The same findings as tables for papers, scripts and model cards."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Literal

from heedful.audits.audit import ALL, AUDITS
from heedful.output.markup import in_markdown
from heedful.output.numbers import NOTHING, apart
from heedful.output.tables import Table, comma_separated, latex, markdown
from heedful.reports.beside import BesideCell, beside
from heedful.reports.material import Material
from heedful.reports.sections import OUTCOMES, findings, sentence

ReportFormat = Literal["md", "latex", "csv", "json", "card"]


def write(materials: Sequence[Material], form: ReportFormat) -> str:
    """Give the tables of one audit or several, or the section of a model card."""
    if form == "json":
        return json.dumps([_plain(material) for material in materials], ensure_ascii=False, indent=1) + "\n"
    if form == "card":
        return "\n".join(card(material) for material in materials)
    setters: dict[ReportFormat, Callable[[Table], str]] = {"md": _section, "latex": latex, "csv": _titled}
    found = [compare(materials)] if len(materials) > 1 else []
    for material in materials:
        found += tables(material)
    heads = (
        ""
        if form != "md"
        else "".join(f"**{in_markdown(m.about.model)}**: {sentence(m)}\n\n" for m in materials)
    )
    return heads + "\n\n".join(setters[form](table) for table in found) + "\n"


def tables(material: Material) -> list[Table]:
    """Give the policy's table, and one for each audit."""
    title = f"{material.about.model} on {material.about.data}"
    judged = [
        (
            j.rule.about.description,
            *apart(j.number),
            f"{j.rule.show:g}",
            NOTHING if j.rule.forbid is None else f"{j.rule.forbid:g}",
            OUTCOMES[j.outcome],
        )
        for j in material.verdict.judgements
    ]
    headings = ("measure", "mean", "95 % interval", "show", "forbid", "outcome")
    found = [Table(headings, judged, f"{title}: {material.answer}")]
    if (other := others(material)) is not None:
        found.append(other)
    for name, summary in material.summaries.items():
        known = AUDITS.get(name).measures if name in AUDITS else {}
        rows = [
            (known[n.name].description if n.name in known else n.name, n.group, *apart(n), str(n.count))
            for n in summary.numbers
        ]
        found.append(Table(("measure", "texts", "mean", "95 % interval", "count"), rows, f"{title}: {name}"))
    return found


def others(material: Material) -> Table | None:
    """Set attention and other explainers side by side, by the rules that can be asked of all."""
    if (found := material.alternatives) is None:
        return None
    laid = beside(found)

    def cell(of: BesideCell) -> str:
        interval = f" ({of.interval})" if of.interval else ""
        return f"{of.value}{interval}{f', {of.word}' if of.word else ''}{' *' if of.best else ''}"

    rows = [[row.description, *map(cell, row.cells)] for row in laid.rows]
    rows += [
        ["better than attention, on average", *map(cell, laid.gains)],
        ["by these rules alone", *laid.verdicts],
    ]
    title = f"Attention and other explainers on the same {found.texts:,} texts (* best)"
    return Table(["", *laid.names], rows, title)


def compare(materials: Sequence[Material]) -> Table:
    """Set several audits side by side, by the numbers that policies look at."""
    measures = dict.fromkeys(j.rule.measure for m in materials for j in m.verdict.judgements)
    rows: list[list[str]] = [
        ["verdict", *(m.answer for m in materials)],
        ["data", *(f"{m.about.data} ({m.about.texts:,} texts)" for m in materials)],
        ["encoder", *(m.about.encoder for m in materials)],
        ["audited", *(m.about.source for m in materials)],
    ]
    for measure in measures:
        audit, _, name = measure.partition(".")
        cells = [_cell(material, audit, name) for material in materials]
        rows.append([AUDITS.get(audit).measures[name].description, *cells])
    return Table(["", *(m.about.model for m in materials)], rows, "Side by side")


def card(material: Material) -> str:
    """Write the section of a model card, in Markdown."""
    deciding, _ = findings(material)
    about, verdict = material.about, material.verdict
    lines = ["## Attention as explanation", ""]
    for remark in verdict.first:
        lines += [in_markdown(remark), ""]
    lines += [
        f"**{sentence(material)}** Audited by heedful on {about.counted} of {in_markdown(about.data)} "
        f"(policy: {in_markdown(verdict.policy)}).",
        "",
    ]
    if material.lacks:
        lines += [f"This is a partial audit: {material.lacks}.", ""]
    elif verdict.record:
        lines += [in_markdown(verdict.record), ""]
    for finding in deciding:
        interval = f" (95 % interval: {finding.interval})" if finding.interval else ""
        lines.append(f"- {finding.sentence}{interval}{f' {finding.why}' if finding.why else ''}")
    decided = dict.fromkeys(f.audit for f in deciding)
    caveats = [c for name in decided if name in material.summaries for c in material.summaries[name].caveats]
    if caveats:
        lines += ["", "Caveats:", "", *(f"- {caveat}" for caveat in caveats)]
    if (found := material.alternatives) is not None:
        lines += ["", f"Other explainers, on {found.texts:,} texts: {beside(found).says}"]
    return "\n".join(lines) + "\n"


def _plain(material: Material) -> dict[str, object]:
    return {
        "verdict": material.verdict.model_dump(mode="json"),
        "about": material.about.model_dump(mode="json"),
        "audits": {name: summary.model_dump(mode="json") for name, summary in material.summaries.items()},
    } | ({"alternatives": found.model_dump(mode="json")} if (found := material.alternatives) else {})


def _cell(material: Material, audit: str, name: str) -> str:
    summary = material.summaries.get(audit)
    found = [n for n in summary.numbers if n.name == name and n.group == ALL] if summary else []
    mean, interval = apart(found[0] if found else None)
    return f"{mean} ({interval})" if interval != NOTHING else mean


def _section(table: Table) -> str:
    return f"### {in_markdown(table.title)}\n\n{markdown(table)}"


def _titled(table: Table) -> str:
    """CSV of several tables in one file: a line with the title above each."""
    return comma_separated(Table([table.title], [])) + comma_separated(table).removesuffix("\n")
