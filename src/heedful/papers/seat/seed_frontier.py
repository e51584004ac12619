"""Our frontier of steadiness and sharpness: a point for every method and seed, and what seeds say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heedful.comparison.stability_frontier import AUDIT, drawing
from heedful.output.numbers import NOTHING, significant
from heedful.output.tables import Table
from heedful.papers.measured_numbers import MeasuredNumber, Numbers
from heedful.papers.paper_page import Picture
from heedful.papers.results import Results
from heedful.papers.seat.measuring import (
    F1_MORE,
    JSD_LESS,
    OF_A_SEED,
    OVERLAP,
    RADIUS,
    SHARPNESS_LEFT,
    TVD_LEFT,
    VANILLA,
)
from heedful.papers.seat.methods import ABLATED_ON, COMPARED, SKETCHED, measured

_AGAINST = {JSD_LESS: ".3g", TVD_LEFT: ".3g", SHARPNESS_LEFT: ".3g", F1_MORE: "+.3f"}
"""What stands beside the vanilla model of the same seed, and how it is written."""


class SeedPoint(NamedTuple):
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

    def dominates(self, other: SeedPoint) -> bool:
        """As steady, as sharp and as good at predicting, and better in one of the three."""
        mine = (-self.jsd, self.sharpness, self.f1)
        theirs = (-other.jsd, other.sharpness, other.f1)
        return all(a >= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


class FrontierCell(NamedTuple):
    """All points of one dataset and encoder."""

    dataset: str
    encoder: str
    points: list[SeedPoint]

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.dataset}, {self.encoder}"

    def of(self, method: str) -> dict[int, SeedPoint]:
        """Points of a method by seed."""
        return {point.seed: point for point in self.points if point.method == method}


def frontier(results: Results) -> list[Table]:
    """What seeds say together; then stability against sharpness, one row for every method and seed."""
    cells = _cells(results.numbers, COMPARED)
    return [*_over_seeds(results.numbers, cells), *map(_by_seed, cells)]


def sketch(results: Results) -> list[Table]:
    """Stability alone beside SEAT and steady, over seeds."""
    numbers = results.on(ABLATED_ON).numbers
    return _over_seeds(numbers, _cells(numbers, SKETCHED))


def pictures(results: Results) -> list[Picture]:
    """A drawing for every dataset and encoder, each point against the vanilla model of its seed."""
    drawn = []
    for cell in _cells(results.numbers, (*COMPARED, *SKETCHED)):
        vanilla = cell.of(VANILLA)
        points = [
            {"method": p.method, "jsd": p.jsd / base.jsd, "sharp": p.sharpness / base.sharpness, "f1": p.f1}
            for p in cell.points
            if (base := vanilla.get(p.seed)) and base.jsd > 0 and base.sharpness > 0
        ]
        if len(points) > len(vanilla):
            caption = [
                f"{cell.name}: one point for every seed, against {VANILLA} of the same seed.",
                "Noise of 0.01 on all words.",
            ]
            spec = drawing(points, caption, VANILLA, 1.0, relative=True)
            name = f"frontier-{cell.dataset}-{cell.encoder.lower()}"
            drawn.append(Picture(name, f"JSD under noise against sharpness on {cell.name}", spec))
    return drawn


def _by_seed(cell: FrontierCell) -> Table:
    rows = []
    for point in cell.points:
        better = [p.method for p in cell.points if p.seed == point.seed and p.dominates(point)]
        rows.append(
            [point.method, str(point.seed), *map(significant, point[2:]), ", ".join(better) or NOTHING]
        )
    headings = [
        "method",
        "seed",
        "JSD",
        "sharpness",
        "F1",
        "relative JSD",
        "TVD",
        "largest weight",
        "top 7 as vanilla",
        "certified radius",
        "dominated by",
    ]
    return Table(headings, rows, cell.name)


def _over_seeds(numbers: Numbers, cells: Sequence[FrontierCell]) -> list[Table]:
    """Every method against the vanilla model of the same seed, with an interval where there are three seeds or more."""
    rows = []
    for cell in cells:
        vanilla = cell.of(VANILLA)
        for method in dict.fromkeys(point.method for point in cell.points):
            pairs = [(point, vanilla[seed]) for seed, point in cell.of(method).items() if seed in vanilla]
            if not pairs:
                continue
            model = f"{cell.encoder} {method}"
            whole = numbers.get(cell.dataset, model, AUDIT, OVERLAP)
            f1, jsd, sharp, top = (
                float(np.mean([getattr(point, name) for point, _ in pairs]))
                for name in ("f1", "jsd", "sharpness", "overlap")
            )
            if np.isnan(top) and whole is not None:  # of single seeds it was not kept
                top = whole.estimate
            against = [
                _interval(numbers.get(cell.dataset, model, AUDIT, name), form)
                for name, form in _AGAINST.items()
            ]
            ahead = sum(
                any(p.seed == point.seed and p.dominates(point) for p in cell.points) for point, _ in pairs
            )
            head = [cell.dataset, cell.encoder, method, str(len(pairs))]
            rows.append(
                [*head, *map(significant, (f1, jsd, top, sharp)), *against, f"{ahead} of {len(pairs)}"]
            )
    headings = [
        "dataset",
        "encoder",
        "method",
        "seeds",
        "F1",
        "JSD",
        "top 7 as vanilla",
        "sharpness",
        "JSD of vanilla / JSD",
        "TVD / TVD of vanilla",
        "sharpness / vanilla's",
        "F1 − F1 of vanilla",
        "dominated",
    ]
    title = "Means over seeds; ratios and differences to the vanilla model of the same seed, with 95 % intervals of three seeds or more"
    return [Table(headings, rows, title)] if rows else []


def _interval(found: MeasuredNumber | None, form: str) -> str:
    if found is None:
        return NOTHING
    estimate, low, high = (format(value, form) for value in (found.estimate, found.low, found.high))
    return estimate if np.isnan(found.low) else f"{estimate} ({low} to {high})"


def _cells(numbers: Numbers, methods: Sequence[str]) -> list[FrontierCell]:
    return [
        FrontierCell(
            dataset,
            encoder,
            [point for method in able for point in _points(numbers, dataset, encoder, method)],
        )
        for dataset, encoder, able in measured(numbers, tuple(dict.fromkeys(methods)), AUDIT)
    ]


def _points(numbers: Numbers, dataset: str, encoder: str, method: str) -> list[SeedPoint]:
    model = f"{encoder} {method}"
    seeds = dict.fromkeys(n.seed for n in numbers.of(dataset, model, AUDIT) if n.seed is not None)
    asked = [*((AUDIT, name) for name in OF_A_SEED), ("certificate", RADIUS)]
    points = []
    for seed in seeds:
        found = [numbers.get(dataset, model, audit, name, seed=seed) for audit, name in asked]
        points.append(SeedPoint(method, seed, *(np.nan if n is None else n.estimate for n in found)))
    return points
