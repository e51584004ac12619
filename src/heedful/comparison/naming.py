"""What to call runs that are compared: by what differs in how they were trained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.checking import build
from heedful.config import ObjectiveOptions, TrainConfig
from heedful.declared import complete
from heedful.runs import Run
from heedful.training.objectives.objective import OBJECTIVES

_NOT_METHOD = {"seed", "threads", "preset"}
"""What a method is not: the luck of a seed, or where its options came from."""
_FIRST = ("dataset", "encoder", "objective")
_BY_VALUE = {*_FIRST, "normaliser", "attention", "vectors"}
"""Options whose values speak for themselves."""
_SEED_OF_A_RUN = re.compile(r"-seed\d+-[0-9a-f]{8}$")


@dataclass(frozen=True)
class Trained:
    """A run, and everything that decided how it was trained; empty where the folder does not say."""

    folder: Path
    options: Mapping[str, Any]
    seed: int | None

    @property
    def method(self) -> tuple[tuple[str, str], ...]:
        """The same for runs that differ in their seed alone; a folder without a config is like no other."""
        if not self.options:
            return (("folder", str(self.folder.resolve())),)
        return tuple((name, repr(value)) for name, value in sorted(self.options.items()))


def describe(folder: Path) -> Trained:
    """Read how a run was trained. Options that its objective does not read do not count."""
    if not (folder / "config.yaml").is_file():
        return Trained(folder, {}, None)
    config = build(TrainConfig, Run(folder).config(), where=str(folder / "config.yaml"))
    read = OBJECTIVES.get(config.objective).options
    options = {
        name: value
        for name, value in config.model_dump(mode="json").items()
        if name not in _NOT_METHOD and (name in read or name not in complete(ObjectiveOptions).model_fields)
    }
    if options.get("base"):  # its seed goes with the run's own
        options["base"] = _SEED_OF_A_RUN.sub("", Path(options["base"]).name)
    return Trained(folder, options, config.seed)


def group_by_method(runs: Sequence[Trained]) -> list[list[int]]:
    """Put the places of runs together that differ in their seed alone, in the order of their first."""
    groups: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for place, run in enumerate(runs):
        groups.setdefault(run.method, []).append(place)
    # Two runs of one seed (trained twice, say) are not two draws of a method.
    if any(len({runs[place].seed for place in group}) < len(group) for group in groups.values()):
        return [[place] for place in range(len(runs))]
    return list(groups.values())


def names(runs: Sequence[Trained], groups: Sequence[Sequence[int]]) -> list[str]:
    """Call each group by the least that sets it apart: encoder and objective first, then any option, then the seed."""
    firsts = [runs[group[0]] for group in groups]
    found: list[tuple[str, ...]] = [() for _ in groups]
    told = [place for place, run in enumerate(firsts) if run.options]
    for field in _fields():
        for alike in [told] if field in _FIRST else _alike(found, told):
            if len({repr(firsts[place].options.get(field)) for place in alike}) > 1:
                for place in alike:
                    found[place] += (_said(field, firsts[place].options.get(field)),)
    still = {place for alike in _alike(found, told) for place in alike}
    single = {firsts[place].seed for place in told if len(groups[place]) == 1}
    said = []
    for place, (run, group) in enumerate(zip(firsts, groups, strict=True)):
        parts = [part for part in found[place] if part] or [str(run.options.get("objective", ""))]
        if len(group) > 1:
            parts.append(f"{len(group)} seeds")
        elif run.seed is not None and (len(single) > 1 or place in still):
            parts.append(f"seed {run.seed}")
        said.append(", ".join(parts) if run.options else run.folder.name)
    # What nothing sets apart goes by its folder.
    return [
        name if said.count(name) == 1 else _folder(run.folder, firsts)
        for name, run in zip(said, firsts, strict=True)
    ]


def hidden(runs: Sequence[Trained], shown: Sequence[str]) -> list[str]:
    """Options that differ between runs though no name says so: what is compared may be their doing."""
    known = [run for run in runs if run.options]
    found = []
    for field in _fields():
        if field in complete(ObjectiveOptions).model_fields:
            continue  # what single objectives need differs with them
        values = {repr(run.options[field]): _said(field, run.options[field]) for run in known}
        told = all(any(said in name for name in shown) for said in values.values() if said)
        if len(values) > 1 and not told:
            found.append(field.replace("_", " "))
    return found


def _fields() -> list[str]:
    """Options in the order in which they name a run; what single objectives need comes before the rest."""
    own = [*_FIRST, *complete(ObjectiveOptions).model_fields]
    return [*own, *(field for field in TrainConfig.model_fields if field not in {*own, *_NOT_METHOD})]


def _alike(found: Sequence[tuple[str, ...]], places: Sequence[int]) -> list[list[int]]:
    """Those of the places that still have the same name."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        groups.setdefault(found[place], []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _folder(folder: Path, others: Sequence[Trained]) -> str:
    alone = sum(run.folder.name == folder.name for run in others) == 1
    return folder.name if alone else str(folder)


def _said(field: str, value: Any) -> str:
    """Say an option's value.

    >>> _said("encoder", "bilstm"), _said("learning_rate", 0.01), _said("lowercase", False), _said("stability", None)
    ('bilstm', 'learning rate 0.01', 'no lowercase', '')
    """
    plain = field.replace("_", " ")
    if value is None:  # the usual: those that differ say how
        return ""
    if isinstance(value, bool):
        return plain if value else f"no {plain}"
    if field in ("encoder", "dataset"):
        return Path(str(value)).name
    written = f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, list):
        written = ",".join(map(str, value))
    return written if field in _BY_VALUE else f"{plain} {written}"
