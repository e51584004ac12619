"""The frontier of models made for show: what is lost in F1 against how much better the heatmap points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from heedful.audits.policy import read_policy
from heedful.output.charts import MUTED, as_svg, chart_of, finish, series
from heedful.output.numbers import fixed
from heedful.output.tables import Table, markdown
from heedful.storage import write_bytes

REFERENCE, MADE = "vanilla", "for show"
METHODS = (
    REFERENCE,
    MADE,
    "erasure",
    "average",
    "pointer",
    "steady",
    "diverse",
    "selective",
    "unreplaceable",
    "frozen",
)
ASKED = ("sst2", "mr", "trec", "ag_news_binary", "imdb")
"""Methods and corpora that the page should hold; what is missing is listed."""
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

    data = points(models)
    methods = list(dict.fromkeys([REFERENCE, MADE, *(p["method"] for p in data)]))
    rules = {rule.measure: rule for rule in read_policy().rules}
    rule = rules["rationale.comprehensiveness_share"]
    ends: list[dict[str, Any]] = [{"at": rule.forbid}, {"at": rule.show}]
    lines = chart_of(ends).mark_rule(strokeDash=[4, 3], color=MUTED).encode(x="at:Q")
    marks = (
        chart_of(data)
        .mark_point(filled=True, size=80, opacity=0.85, stroke="white", strokeWidth=0.8)
        .encode(
            x=alt.X(
                "share:Q",
                title="smaller of both shares: chance 0, best known 1 →",
                scale=alt.Scale(domain=[-0.1, 1.0], nice=False),
            ),
            y=alt.Y("cost:Q", title="points of F1 against vanilla"),
            color=alt.Color("method:N", scale=series(methods)),
            shape=alt.Shape("method:N", scale=series(methods, shapes=True)),
        )
    )
    corpora = list(dict.fromkeys(p["corpus"] for p in data))
    parts = [
        alt.layer(lines, marks.transform_filter(alt.datum.corpus == name)).properties(
            width=260, height=200, title=name
        )
        for name in corpora
    ]
    drawn = finish(
        alt.concat(*parts, columns=2),
        title="A heatmap that may be shown, and what it costs: the upper right is best",
        caption=["Dashed: what forbids, and what a verdict without a caveat asks for."],
    )
    write_bytes(path, as_svg(drawn).encode("utf-8"))


def page(models: Sequence[Model]) -> str:
    """Write the table of methods and corpora, in Markdown."""
    data = points(models)
    rows = []
    for corpus in dict.fromkeys(p["corpus"] for p in data):
        for method in dict.fromkeys([REFERENCE, MADE, *(p["method"] for p in data)]):
            here = [m for m in models if (m["corpus"], m["method"]) == (corpus, method)]
            beside = [p for p in data if (p["corpus"], p["method"]) == (corpus, method)]
            if here and beside:
                shares = [fixed(mean(m[name]["estimate"] for m in here), 2) for name in _SHARES]
                costs = ", ".join(fixed(p["cost"], 1, sign=True) for p in beside)
                verdicts = ", ".join(m["verdict"] for m in here)
                taken = f" ({', '.join(m['encoder'] for m in here)})" if method == MADE else ""
                rows.append(
                    [
                        corpus,
                        f"{method}{taken}",
                        str(len(here)),
                        fixed(mean(m["test"] for m in here)),
                        costs,
                        *shares,
                        fixed(mean(m["top_loo"] for m in here), 2),
                        verdicts,
                    ]
                )
    head = (
        "corpus",
        "method",
        "seeds",
        "test F1",
        "points against vanilla, by seed",
        "needed (share)",
        "enough (share)",
        "top 3 in leave-one-out's",
        "verdicts",
    )
    table = markdown(Table(head, rows))
    return (
        "# Models for which it may be shown\n\n"
        "What the verdict asks (both shares, from chance 0 to the best ranking known 1) against what it costs in test F1 (macro F1 where there are more than two "
        "classes), beside an ordinary BiLSTM of the same seed (*vanilla*). *for show* is what `heedful train --for-show` takes, by dev texts: vanilla where that may be shown, "
        "else the pointer that it taught by *erasure*, where that does better. Models are selected on dev, and so were the options of both. Written by docs/make_for_show.py.\n\n"
        f"![F1 against the smaller share, by corpus](for-show.svg)\n\n{table}\n{_missing(models)}"
    )


def _missing(models: Sequence[Model]) -> str:
    """Say what was asked for and is not there."""
    there = {(m["corpus"], m["method"]) for m in models}
    lines = []
    for corpus in ASKED:
        lacking = [method for method in METHODS if (corpus, method) not in there]
        if lacking:
            whole = len(lacking) == len(METHODS)
            lines.append(f"- {corpus}: {'nothing was measured' if whole else ', '.join(lacking)}")
    return "\n## Not measured\n\n" + "\n".join(lines) + "\n" if lines else ""
