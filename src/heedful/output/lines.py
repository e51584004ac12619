"""Lines over steps, such as epochs: one for each series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from heedful.output.charts import chart_of, finish, series


def lines(
    values: Mapping[str, Sequence[float]], *, axes: tuple[str, str], height: int = 150
) -> dict[str, Any]:
    """Draw the values of every series at steps 1, 2, …; what is NaN is left out."""
    import altair as alt

    data = [
        {"step": step, "value": value, "series": name}
        for name, row in values.items()
        for step, value in enumerate(row, start=1)
        if not math.isnan(value)
    ]
    drawn = (
        chart_of(data)
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", title=axes[0], axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("value:Q", title=axes[1], scale=alt.Scale(zero=True)),
            color=alt.Color(
                "series:N", scale=series(list(values)), title=None, legend=alt.Legend(orient="top")
            ),
        )
        .properties(height=height)
    )
    return finish(drawn)
