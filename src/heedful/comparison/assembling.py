"""From the audits of all runs to rows of numbers: paired text by text, seeds of a method together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from heedful.audits.running.result import PREDICTIONS, AuditResult
from heedful.comparison.compared_numbers import ComparedNumber, columns, common_rows, number_of, ratio_of
from heedful.comparison.comparison import Comparison, Entry, Value
from heedful.comparison.marking import Key, MeasuredRow, keeps_f1, keeps_sharpness, marks, warned
from heedful.comparison.naming import Trained, group_by_method, names
from heedful.comparison.remarks import remarks
from heedful.config import AuditOptions
from heedful.errors import BadInput
from heedful.measures.resampling import Seeded, Spread, difference, over_seeds, resample

_FEWEST = 2


def assemble(
    results: Sequence[AuditResult],
    trained: Sequence[Trained],
    audits: Sequence[str],
    *,
    reference: int,
    options: AuditOptions,
    by_method: bool | None = None,
    every: bool = False,
) -> Comparison:
    """Put runs side by side; `reference` is the place of the run whose row the others are compared with."""
    chosen = columns(results[0], audits, every=every)
    texts = common_rows([result.frames[PREDICTIONS] for result in results])
    kept = {name: common_rows([r.frames[name] for r in results]) for name in (PREDICTIONS, *audits)}
    if min(map(len, kept.values())) < _FEWEST:
        raise BadInput("The runs were audited on hardly any text in common: leave out --limit and --quick.")
    ratios = {c: [ratio_of(result, c, texts, kept[c.audit]) for result in results] for c in chosen}
    whole = {c: [r for r in found if r is not None] for c, found in ratios.items()}
    paired = [column for column, found in whole.items() if len(found) == len(results)]
    models = [[whole[column][place] for column in paired] for place in range(len(results))]
    drawn = _Drawn(results, trained, chosen, paired, resample(models, seed=options.seed), reference)
    groups = group_by_method(trained)
    points = drawn.entries([[place] for place in range(len(results))])
    # Seeds of one method alone have nothing to be compared with but each other.
    grouped = 1 < len(groups) < len(results) if by_method is None else by_method
    entries = drawn.entries(groups) if grouped else points
    return Comparison(
        entries,
        points,
        tuple(chosen),
        next(entry.name for entry in entries if trained[reference].folder in entry.runs),
        results[0].about.data,
        len(texts),
        results[0].about.options,
        remarks(results, trained, entries, chosen, paired, {name: len(rows) for name, rows in kept.items()}),
    )


@dataclass(frozen=True)
class _Drawn:
    """Every run's numbers, of the texts as they are and drawn anew, from which any grouping can be made."""

    results: Sequence[AuditResult]
    trained: Sequence[Trained]
    chosen: Sequence[ComparedNumber]
    paired: Sequence[ComparedNumber]
    """Those whose numbers follow from single texts, in the order of `draws`."""
    draws: Float[np.ndarray, "runs draws numbers"]
    reference: int

    def entries(self, groups: Sequence[Sequence[int]]) -> tuple[Entry, ...]:
        """A row for each group of runs, compared with the group that holds the reference."""
        rows = [self._measured(group) for group in groups]
        base = rows[next(place for place, group in enumerate(groups) if self.reference in group)]
        values: list[dict[Key, Value]] = [{} for _ in groups]
        for column in self.chosen:
            warnings = [warned(row, base, column) for row in rows]
            for place, mark in enumerate(marks(rows, column, warnings)):
                value = _against(column.key, rows[place], base)
                values[place][column.key] = replace(value, mark=mark, warning=warnings[place])
        methods = group_by_method(self.trained)
        method_names = names(self.trained, methods)
        of = {place: name for name, group in zip(method_names, methods, strict=True) for place in group}
        return tuple(
            Entry(
                name,
                of[group[0]],
                tuple(self.trained[place].folder for place in group),
                tuple(self.trained[place].seed for place in group),
                values[at],
                keeps_sharpness(rows[at], base),
                keeps_f1(rows[at], base),
            )
            for at, (name, group) in enumerate(zip(names(self.trained, groups), groups, strict=True))
        )

    def _measured(self, group: Sequence[int]) -> MeasuredRow:
        seeds = [self.trained[place].seed or 0 for place in group]
        mine = self.draws[list(group)]
        anew = {c.key: Seeded(seeds, mine[..., place]) for place, c in enumerate(self.paired)}
        return MeasuredRow(
            {
                c.key: _value(over_seeds(anew[c.key].values)) if c.key in anew else self._plain(group, c)
                for c in self.chosen
            },
            anew,
        )

    def _plain(self, group: Sequence[int], column: ComparedNumber) -> Value:
        """A number that no column gives: as its audit reported it, and of several seeds the mean without an interval."""
        found = [number_of(self.results[place], column) for place in group]
        estimates = [n.estimate for n in found if n is not None and n.estimate is not None]
        if not estimates or len(estimates) < len(found):
            return Value(None, None, None)
        if len(group) == 1 and found[0] is not None:
            return Value(found[0].estimate, found[0].low, found[0].high)
        return Value(float(np.mean(estimates)), None, None)


def _against(key: Key, row: MeasuredRow, base: MeasuredRow) -> Value:
    """A number with its difference to the reference's, which itself has none."""
    value, theirs = row.values[key], base.values[key].estimate
    if value.estimate is None or theirs is None or row is base:
        return value
    if key not in row.draws:
        return replace(value, difference=value.estimate - theirs)
    apart = _value(difference(row.draws[key], base.draws[key]))
    return replace(value, difference=apart.estimate, difference_low=apart.low, difference_high=apart.high)


def _value(found: Spread) -> Value:
    estimate, low, high = (None if np.isnan(number) else number for number in found)
    return Value(estimate, low, high)
