"""The kinds of figure that papers draw; values are counted and smoothed here, so that specifications stay small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.audits.exhibits import Chart
from heedful.output.charts import ACCENT, CLASSES, INK, MUTED, SECOND, chart_of, finish_small
from heedful.output.numbers import fixed

MOST_POINTS = 2000
WIDTH, HEIGHT = 360, 150
_LONGEST = 18
_CELLS = 64
_FEW = 10
_ALL = "all texts"


def histogram(
    rows: pl.DataFrame, column: str, *, title: str, axis: str, low: float, high: float, caption: str = ""
) -> Chart:
    """Draw how many texts have which value, by predicted class."""
    import altair as alt

    groups = values_by_class(rows, column)
    edges = np.linspace(low, high, 31)
    data, below = [], np.zeros(len(edges) - 1)
    for name, values in groups.items():
        above = below + np.histogram(values.clip(low, high), edges)[0]
        for a, b, bottom, top in zip(edges[:-1], edges[1:], below, above, strict=True):
            if top > bottom:
                data.append({"from": a, "to": b, "bottom": bottom, "top": top, "class": name})
        below = above
    drawn = (
        chart_of(data)
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("from:Q", title=axis, scale=alt.Scale(domain=[low, high], nice=False)),
            x2="to:Q",
            y=alt.Y("bottom:Q", title="texts"),
            y2="top:Q",
            color=_colour(list(groups)),
        )
    )
    return Chart(
        title,
        f"Histogram of {axis}. {describe_values(rows[column])}",
        caption,
        finish_chart(drawn, names=list(groups)),
        measure=column,
    )


def violins(
    rows: pl.DataFrame,
    column: str,
    bins: Sequence[tuple[float, float]],
    *,
    title: str,
    axis: str,
    high: float,
    caption: str = "",
) -> Chart:
    """Draw the spread of a value in each bin of the largest weight; two classes share a violin, one on each side."""
    import altair as alt

    shapes, middles, names, described = [], [], [], []
    groups: list[str] = []
    for place, (least, most) in enumerate(bins):
        largest = pl.col("largest_weight")
        inside = rows.filter((largest >= least) & ((largest < most) if most < 1 else (largest <= 1 + 1e-6)))
        split = values_by_class(inside, column, like=rows) if len(inside) else {}
        groups = list(dict.fromkeys([*groups, *split]))
        names.append(f"{fixed(least, 2)}–{fixed(most, 2)}")
        described.append(f"{names[-1]}: {describe_values(inside[column])}")
        for side, (name, values) in enumerate(split.items()):
            up, down = (1, -1) if len(split) == 1 else ((1, 0), (0, -1))[side]
            if len(values) >= _FEW:
                for x, thick in zip(np.linspace(0, high, _CELLS), _density(values, high), strict=True):
                    shapes.append(
                        {
                            "x": float(x),
                            "low": down * thick * 0.42 - place,
                            "high": up * thick * 0.42 - place,
                            "class": name,
                            "key": f"{name}{place}",
                        }
                    )
            if len(values):
                middles.append(
                    {"x": float(np.median(values)), "low": down * 0.42 - place, "high": up * 0.42 - place}
                )
    label = " : ".join(f"datum.value == {-i} ? '{name}'" for i, name in enumerate(names)) + " : ''"
    y = alt.Y(
        "low:Q",
        title="largest weight",
        scale=alt.Scale(domain=[-len(bins) + 0.5, 0.5], nice=False),
        axis=alt.Axis(values=[-i for i in range(len(bins))], labelExpr=label, grid=False, ticks=False),
    )
    x = alt.X("x:Q", title=axis, scale=alt.Scale(domain=[0, high], nice=False))
    drawn = alt.layer(
        chart_of(shapes).mark_area().encode(x=x, y=y, y2="high:Q", detail="key:N", color=_colour(groups)),
        chart_of(middles).mark_rule(color=INK, strokeWidth=1.5).encode(x=x, y=y, y2="high:Q"),
    )
    return Chart(
        title,
        f"Violins of {axis} by the largest weight. {' '.join(described)}",
        caption,
        finish_chart(drawn, height=210, labels=names, names=groups),
    )


def boxes(groups: Mapping[str, pl.Series], *, title: str, axis: str, accent: str, caption: str = "") -> Chart:
    """Draw the median, the quartiles and the range of nine texts in ten, group by group."""
    import altair as alt

    data = []
    for name, series in groups.items():
        values = _present(series)
        if len(values):
            ends = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
            fields = zip(("least", "lower", "middle", "upper", "most"), ends, strict=True)
            data.append(
                {"name": name, **dict(fields), "colour": "accent" if name == accent else "other", "tick": 1}
            )
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(grid=False, ticks=False, domain=False))
    base = chart_of(data).encode(y=y)
    colour = alt.Color(
        "colour:N", legend=None, scale=alt.Scale(domain=["accent", "other"], range=[ACCENT, SECOND])
    )
    drawn = alt.layer(
        base.mark_rule(color=MUTED).encode(
            x=alt.X("least:Q", title=axis, scale=alt.Scale(domain=[0, 1])), x2="most:Q"
        ),
        base.mark_bar(size=16).encode(x="lower:Q", x2="upper:Q", color=colour),
        base.mark_tick(color=INK, thickness=2, size=24).encode(x="middle:Q"),
    )
    described = " ".join(f"{name}: {describe_values(series)}" for name, series in groups.items())
    return Chart(
        title,
        f"Box plots of {axis}. {described}",
        caption,
        finish_chart(drawn, height=32 * len(data), labels=list(groups)),
    )


def scatter(
    rows: pl.DataFrame, x: str, y: str, *, title: str, axes: tuple[str, str], caption: str = ""
) -> Chart:
    """Draw one point per text; of very many texts a sample is shown, and the caption says so."""
    import altair as alt

    whole = rows.select(x, y).filter(pl.all_horizontal(pl.all().is_not_nan() & pl.all().is_not_null()))
    drawn_rows = whole.sample(MOST_POINTS, seed=0) if len(whole) > MOST_POINTS else whole
    if len(whole) > MOST_POINTS:
        caption += f" Drawn: a random sample of {MOST_POINTS:,} of {len(whole):,} texts; every number is computed from all texts."
    data = [{"x": round(a, 4), "y": round(b, 4)} for a, b in drawn_rows.iter_rows()]
    drawn = (
        chart_of(data)
        .mark_circle(size=14, opacity=0.35, color=ACCENT)
        .encode(x=alt.X("x:Q", title=axes[0]), y=alt.Y("y:Q", title=axes[1]))
    )
    described = f"Across: {describe_values(whole[x])} Upwards: {describe_values(whole[y])}"
    return Chart(
        title,
        f"Scatter plot of {axes[1]} against {axes[0]}. {described}",
        caption.strip(),
        finish_chart(drawn, height=200),
    )


def dots(values: Mapping[str, float], *, title: str, axis: str, caption: str = "") -> Chart:
    """Draw a few numbers next to each other."""
    import altair as alt

    data = [{"name": name, "value": value} for name, value in values.items()]
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(grid=True, ticks=False, domain=False))
    drawn = (
        chart_of(data)
        .mark_circle(size=70, opacity=1, color=ACCENT)
        .encode(y=y, x=alt.X("value:Q", title=axis, scale=alt.Scale(domain=[0, 1])))
    )
    described = ", ".join(f"{name} {fixed(value, 2)}" for name, value in values.items())
    return Chart(
        title,
        f"{axis}: {described}.",
        caption,
        finish_chart(drawn, height=24 * len(data), labels=list(values)),
    )


def values_by_class(
    rows: pl.DataFrame, column: str, *, like: pl.DataFrame | None = None
) -> dict[str, np.ndarray]:
    """Give a column's values by predicted class; more classes than colours can distinguish are taken together."""
    names = (rows if like is None else like)["predicted"].unique().sort().to_list()
    most = len(CLASSES) if like is None else 2
    if not 1 < len(names) <= most:
        return {_ALL: _present(rows[column])}
    return {_short(name): _present(rows.filter(pl.col("predicted") == name)[column]) for name in names}


def describe_values(values: pl.Series) -> str:
    """Describe a distribution in words.

    >>> describe_values(pl.Series([0.0, 0.5, 1.0, float("nan")]))
    'Median 0.50, half of the texts between 0.25 and 0.75, 3 texts.'
    """
    present = _present(values)
    if not len(present):
        return "No texts."
    low, middle, high = (fixed(float(x), 2) for x in np.quantile(present, [0.25, 0.5, 0.75]))
    return f"Median {middle}, half of the texts between {low} and {high}, {len(present):,} texts."


def finish_chart(
    chart: Any, *, height: int = HEIGHT, labels: Sequence[str] = (), names: Sequence[str] = ()
) -> dict[str, Any]:
    """Set sizes and fonts, and return the specification; `labels` are at the left, `names` in the legend."""
    shown = [] if list(names) == [_ALL] else names
    return finish_small(chart.properties(height=height), width=WIDTH, labels=labels, names=shown)


def _colour(groups: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=groups, range=list(CLASSES[: len(groups)]))
    return alt.Color("class:N", scale=scale, legend=None if groups in ([], [_ALL]) else alt.Legend())


def _density(values: np.ndarray, high: float) -> np.ndarray:
    """Smooth a histogram; mirrored at its ends, so that no mass falls outside the possible range."""
    from scipy.ndimage import gaussian_filter1d

    counts = np.histogram(values.clip(0, high), _CELLS, (0, high))[0].astype(float)
    smooth = gaussian_filter1d(counts, 1.5, mode="reflect")
    return np.asarray(smooth / smooth.max())


def _present(values: pl.Series) -> np.ndarray:
    found = values.cast(pl.Float64).to_numpy()
    return np.asarray(found[~np.isnan(found)])


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
