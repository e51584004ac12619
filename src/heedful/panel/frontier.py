"""The frontier of models made for show: what is lost in F1 against how much better the heatmap points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from heedful.audits.charts import GRID, INK, MUTED
from heedful.audits.policy import read_policy
from heedful.storage import write_bytes

REFERENCE, MADE = "vanilla", "for show"
_COLOURS = ("#1f5f8b", "#111418", "#c8642b", "#3c8a63", "#8a5fa8", "#a8841c", "#5aa2c8", "#a33b5a", "#63676d")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_SHARES = ("comprehensiveness", "sufficiency")

Model = Mapping[str, Any]
"""A measured model: corpus, method, seed, verdict, test, and both shares."""


def share(model: Model) -> float:
    """The smaller of both shares: the one that decides."""
    return float(min(model[name]["estimate"] for name in _SHARES))


def points(models: Sequence[Model]) -> list[dict[str, Any]]:
    """Give every model beside the ordinary one of its corpus and seed; one without is left out."""
    ordinary = {(m["corpus"], m["seed"]): m["test"] for m in models if m["method"] == REFERENCE}
    return [
        {
            "corpus": m["corpus"],
            "method": m["method"],
            "share": share(m),
            "cost": 100 * (m["test"] - ordinary[m["corpus"], m["seed"]]),
            "verdict": m["verdict"],
        }
        for m in models
        if (m["corpus"], m["seed"]) in ordinary
    ]


def write_figure(models: Sequence[Model], path: Path) -> None:
    """Draw F1 against the smaller share, a panel for each corpus."""
    import altair as alt
    import vl_convert

    data = points(models)
    methods = list(dict.fromkeys([REFERENCE, MADE, *(p["method"] for p in data)]))
    rules = {rule.measure: rule for rule in read_policy().rules}
    rule = rules["rationale.comprehensiveness_share"]
    ends: list[dict[str, Any]] = [{"at": rule.forbid}, {"at": rule.show}]
    lines = alt.Chart(alt.InlineData(values=ends)).mark_rule(strokeDash=[4, 3], color=MUTED).encode(x="at:Q")  # fmt: skip
    marks = (
        alt.Chart(alt.InlineData(values=data))
        .mark_point(filled=True, size=80, opacity=0.85, stroke="white", strokeWidth=0.8)
        .encode(
            x=alt.X("share:Q", title="smaller of both shares: chance 0, best known 1 →", scale=alt.Scale(domain=[-0.1, 1.0], nice=False)),
            y=alt.Y("cost:Q", title="points of F1 against vanilla"),
            color=alt.Color("method:N", scale=alt.Scale(domain=methods, range=list(_COLOURS))),
            shape=alt.Shape("method:N", scale=alt.Scale(domain=methods, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(methods))])),
        )
    )  # fmt: skip
    axis = {"labelColor": MUTED, "titleColor": INK, "domainColor": MUTED, "tickColor": MUTED, "gridColor": GRID, "titleFontWeight": "normal"}  # fmt: skip
    corpora = list(dict.fromkeys(p["corpus"] for p in data))
    parts = [
        alt.layer(lines, marks.transform_filter(alt.datum.corpus == name)).properties(
            width=260, height=200, title=name
        )
        for name in corpora
    ]
    words = alt.TitleParams("A heatmap that may be shown, and what it costs: the upper right is best", anchor="start", fontSize=14, color=INK,
                            subtitle=["Dashed: what forbids, and what a verdict without a caveat asks for."], subtitleColor=MUTED, offset=10)  # fmt: skip
    drawn = alt.concat(*parts, columns=2).properties(title=words).configure(background="white", font="sans-serif", axis=axis, view={"stroke": None})  # fmt: skip
    svg: str = vl_convert.vegalite_to_svg(
        {**drawn.to_dict(), "padding": {"left": 5, "top": 5, "right": 40, "bottom": 5}}
    )
    write_bytes(path, svg.encode("utf-8"))


def page(models: Sequence[Model]) -> str:
    """Write the table of methods and corpora, in Markdown."""
    data = points(models)
    rows = []
    for corpus in dict.fromkeys(p["corpus"] for p in data):
        for method in dict.fromkeys([REFERENCE, MADE, *(p["method"] for p in data)]):
            here = [m for m in models if (m["corpus"], m["method"]) == (corpus, method)]
            beside = [p for p in data if (p["corpus"], p["method"]) == (corpus, method)]
            if here and beside:
                shares = [f"{mean(m[name]['estimate'] for m in here):.2f}" for name in _SHARES]
                costs = ", ".join(f"{p['cost']:+.1f}" for p in beside)
                verdicts = ", ".join(m["verdict"] for m in here)
                taken = f" ({', '.join(m['encoder'] for m in here)})" if method == MADE else ""
                rows.append([corpus, f"{method}{taken}", str(len(here)), f"{mean(m['test'] for m in here):.3f}", costs, *shares, f"{mean(m['top_loo'] for m in here):.2f}", verdicts])  # fmt: skip
    head = ("corpus", "method", "seeds", "test F1", "points against vanilla, by seed", "needed (share)", "enough (share)", "top 3 in leave-one-out's", "verdicts")  # fmt: skip
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))
    return (
        "# Models for which it may be shown\n\n"
        "What the verdict asks (both shares, from chance 0 to the best ranking known 1) against what it costs in test F1 (macro F1 where there are more than two "
        "classes), beside an ordinary BiLSTM of the same seed (*vanilla*). *for show* is what `heedful train --for-show` takes, by dev texts: vanilla where that may be shown, "
        "else the pointer that it taught by *erasure*, where that does better. Models are selected on dev, and so were the options of both. Written by docs/make_for_show.py.\n\n"
        f"![F1 against the smaller share, by corpus](for-show.svg)\n\n{table}\n"
    )
