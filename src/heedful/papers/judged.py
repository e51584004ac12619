"""Claims that were decided, as numbers: an interval for each over all, and one for every dataset and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from heedful.measures.intervals import Interval
from heedful.papers.claims import Claim, Judged, decide
from heedful.papers.measured_numbers import MeasuredNumber, Numbers


def numbers_of(judged: Iterable[Judged]) -> Iterator[MeasuredNumber]:
    """Give what decided claims; rows without a dataset are over all together, and `each` counts seeds."""
    for claim, interval, _, parts in judged:
        yield MeasuredNumber("", "", claim.audit, claim.id, *interval[:3], texts=interval.count)
        for part in parts:
            counts = None if part.seeds is None else [float(count) for count in part.seeds]
            yield MeasuredNumber(
                part.dataset,
                part.model,
                claim.audit,
                claim.id,
                *part.interval[:3],
                texts=part.interval.count,
                each=counts,
            )


def judged_from(claims: Iterable[Claim], numbers: Numbers) -> list[Judged]:
    """Decide claims again from their numbers."""
    nothing = Interval(np.nan, np.nan, np.nan, 0, 0)
    found = []
    for claim in claims:
        whole, parts = nothing, []
        for n in numbers.rows:
            if n.measure != claim.id:
                continue
            interval = Interval(n.estimate, n.low, n.high, n.texts or 0, 0)
            if n.dataset:
                parts.append(
                    (n.dataset, n.model, interval, None if n.each is None else tuple(map(int, n.each)))
                )
            else:
                whole = interval
        found.append(decide(claim, whole, parts))
    return found
