"""Our frontier of steadiness and sharpness: a point for every method and seed, and what seeds say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heedful.comparison.frontier import AUDIT, drawing
from heedful.measures.resampling import FEWEST_SEEDS, over_seeds
from heedful.papers.page import NOTHING, Picture, Table
from heedful.papers.results import Measured, Results, column
from heedful.papers.seat.methods import ABLATED_ON, COMPARED, SKETCHED, measured
from heedful.papers.seat.numbers import Drawn, Methods, spelled

_ALL_WORDS = "all_0.01"
_VANILLA = "vanilla"


class Point(NamedTuple):
    """One trained model: where it stands on the frontier, and what stands beside."""

    method: str
    seed: int
    jsd: float
    sharpness: float
    f1: float
    relative_jsd: float = np.nan
    tvd: float = np.nan
    largest_weight: float = np.nan
    overlap: float = np.nan
    """Share of the top items that are the vanilla model's."""
    radius: float = np.nan
    """Certified."""

    def dominates(self, other: Point) -> bool:
        """As steady, as sharp and as good at predicting, and better in one of the three."""
        mine = (-self.jsd, self.sharpness, self.f1)
        theirs = (-other.jsd, other.sharpness, other.f1)
        return all(a >= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


class Cell(NamedTuple):
    """All points of one dataset and encoder."""

    dataset: str
    encoder: str
    points: list[Point]

    @property
    def name(self) -> str:
        """How a person calls it."""
        return f"{self.dataset}, {self.encoder}"

    def of(self, method: str) -> dict[int, Point]:
        """Points of a method by seed."""
        return {point.seed: point for point in self.points if point.method == method}


def frontier(results: Results) -> list[Table]:
    """What seeds say together; then stability against sharpness, one row for every method and seed."""
    cells = _cells(results, COMPARED)
    return [*_over_seeds(results, cells), *map(_by_seed, cells)]


def sketch(results: Results) -> list[Table]:
    """Stability alone beside SEAT and steady, over seeds."""
    return _over_seeds(results, _cells(results.on(ABLATED_ON), SKETCHED))


def pictures(results: Results) -> list[Picture]:
    """A drawing for every dataset and encoder, each point against the vanilla model of its seed."""
    drawn = []
    for cell in _cells(results, (*COMPARED, *SKETCHED)):
        vanilla = cell.of(_VANILLA)
        points = [
            {"method": p.method, "jsd": p.jsd / base.jsd, "sharp": p.sharpness / base.sharpness, "f1": p.f1}
            for p in cell.points
            if (base := vanilla.get(p.seed)) and base.jsd > 0 and base.sharpness > 0
        ]
        if len(points) > len(vanilla):
            caption = [
                f"{cell.name}: one point for every seed, against {_VANILLA} of the same seed.",
                "Noise of 0.01 on all words.",
            ]
            spec = drawing(points, caption, _VANILLA, 1.0, relative=True)
            name = f"frontier-{cell.dataset}-{cell.encoder.lower()}"
            drawn.append(Picture(name, f"JSD under noise against sharpness on {cell.name}", spec))
    return drawn


def _by_seed(cell: Cell) -> Table:
    rows = []
    for point in cell.points:
        better = [p.method for p in cell.points if p.seed == point.seed and p.dominates(point)]
        rows.append([point.method, str(point.seed), *map(spelled, point[2:]), ", ".join(better) or NOTHING])
    headings = [
        "method", "seed", "JSD", "sharpness", "F1", "relative JSD", "TVD", "largest weight", "top 7 as vanilla",
        "certified radius", "dominated by",
    ]  # fmt: skip
    return Table(headings, rows, cell.name)


def _over_seeds(results: Results, cells: Sequence[Cell]) -> list[Table]:
    """Every method against the vanilla model of the same seed, with an interval over seeds and texts."""
    rows = []
    for cell in cells:
        vanilla = cell.of(_VANILLA)
        for method in dict.fromkeys(point.method for point in cell.points):
            pairs = [(point, vanilla[seed]) for seed, point in cell.of(method).items() if seed in vanilla]
            if not pairs:
                continue
            f1, jsd, sharp, top = (
                _level([getattr(point, name) for point, _ in pairs])
                for name in ("f1", "jsd", "sharpness", "overlap")
            )
            against = [NOTHING] * 4
            if method != _VANILLA:
                names = [f"{cell.encoder} {method}", f"{cell.encoder} {_VANILLA}"]
                both = Methods(results, cell.dataset, names, AUDIT)
                f1s = both.f1(*names)
                against = [
                    _ratio(*reversed(both.mean(*names, column=f"jsd_{_ALL_WORDS}"))),
                    _ratio(*both.mean(*names, column=f"tvd_{_ALL_WORDS}")),
                    _ratio(*both.mean(*names, column="sharpness")),
                    _interval(f1s[0].values - f1s[1].values, lambda value: f"{value:+.3f}"),
                ]
            ahead = sum(
                any(p.seed == point.seed and p.dominates(point) for p in cell.points) for point, _ in pairs
            )
            head = [cell.dataset, cell.encoder, method, str(len(pairs))]
            rows.append([*head, f1, jsd, top, sharp, *against, f"{ahead} of {len(pairs)}"])
    headings = [
        "dataset", "encoder", "method", "seeds", "F1", "JSD", "top 7 as vanilla", "sharpness", "JSD of vanilla / JSD",
        "TVD / TVD of vanilla", "sharpness / vanilla's", "F1 − F1 of vanilla", "dominated",
    ]  # fmt: skip
    title = "Means over seeds; ratios and differences to the vanilla model of the same seed, with 95 % intervals over texts and three seeds or more"
    return [Table(headings, rows, title)] if rows else []


def _level(values: Sequence[float]) -> str:
    return spelled(float(np.mean(values)))


def _ratio(one: Drawn, other: Drawn) -> str:
    """Give a geometric mean over seeds: twice and half as much are equally far from the same."""
    able = (one.values > 0).all(1) & (other.values > 0).all(1)
    if not able.any():
        return NOTHING
    logs = np.log(one.values[able]) - np.log(other.values[able])
    return _interval(logs, lambda value: f"{np.exp(value):.3g}")


def _interval(values: Float[np.ndarray, "seeds draws"], spell: Callable[[float], str]) -> str:
    found = over_seeds(values)
    if len(values) < FEWEST_SEEDS:
        return spell(found.estimate)
    return f"{spell(found.estimate)} ({spell(found.low)} to {spell(found.high)})"


def _cells(results: Results, methods: Sequence[str]) -> list[Cell]:
    return [
        Cell(dataset, encoder, [
            _point(results, run, encoder, method)
            for method in able
            for run in results.of(dataset, f"{encoder} {method}", AUDIT)
        ])
        for dataset, encoder, able in measured(results, tuple(dict.fromkeys(methods)), AUDIT)
    ]  # fmt: skip


def _point(results: Results, run: Measured, encoder: str, method: str) -> Point:
    model, vanilla = f"{encoder} {method}", f"{encoder} {_VANILLA}"
    alone = Results(tuple(r for r in results.runs if r.seed == run.seed))
    own = Methods(alone, run.dataset, [model], AUDIT)
    pair = Methods(alone, run.dataset, [model, vanilla], AUDIT)
    shared = pair.overlap(model, vanilla) if pair.seeds and method != _VANILLA else None
    radius = (
        column([run], "certificate", "radius_linf") if "certificate" in run.frames else np.array([np.nan])
    )

    def mean(name: str) -> float:
        return own.mean(model, column=name)[0].estimate

    return Point(
        method, run.seed, mean(f"jsd_{_ALL_WORDS}"), mean("sharpness"), own.f1(model)[0].estimate,
        mean(f"relative_jsd_{_ALL_WORDS}"), mean(f"tvd_{_ALL_WORDS}"), mean("largest_weight"),
        shared.estimate if shared else np.nan, float(np.nanmean(radius)) if np.isfinite(radius).any() else np.nan,
    )  # fmt: skip
