"""Follow a curve: train the twins of every λ that are missing, read those that are finished."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from heedful.audits.questions.imitation import QUICK
from heedful.measures.imitation import blind_tvd
from heedful.papers.attefa.studies.curve import CurvePoint, place
from heedful.papers.attefa.studies.study import TwinSetting
from heedful.papers.results import MeasuredRun, Missing
from heedful.progress import Watcher
from heedful.runs import Run
from heedful.training.objectives.imitation import EPOCHS, PATIENCE
from heedful.training.twins import SEEDS, Twin, finished_twins, seconds_per_epoch, train_twins


class Followed(NamedTuple):
    """The points of one base, what is missing, and what a reader should know."""

    points: list[CurvePoint]
    missing: list[Missing]
    notes: list[str]


def follow(
    base: MeasuredRun,
    settings: Sequence[TwinSetting],
    *,
    encoder: str,
    seeds: Sequence[int] | None,
    quick: bool,
    only_finished: bool,
    watcher: Watcher,
) -> Followed:
    """Place the twins of every λ, with a line about each; twins that diverge are named and not averaged in."""
    seeds = seeds or SEEDS
    chosen = [setting for setting in settings if setting.quick or not quick]
    found = [finished_twins(base.folder, **_options(setting, quick=quick)) for setting in chosen]
    lacking = [[seed for seed in seeds if seed not in twins] for twins in found]
    todo = 0 if only_finished else sum(map(len, lacking))
    if todo:
        watcher.say(_cost(base.folder, todo, quick=quick))
    blind = blind_tvd(np.array(base.frames["imitation"]["chances"].to_list()))
    followed = Followed([], [], [])
    if quick:
        followed.notes.append(
            f"Quick: {len(chosen)} of {len(settings)} points; each is on all texts of test."
        )
    with watcher.bar("curve", todo, unit="twins") as advance:
        for number, (setting, twins, more) in enumerate(zip(chosen, found, lacking, strict=True), 1):
            name, begun = f"{base.dataset} {encoder} {setting.name}", time.perf_counter()
            if more and only_finished:
                followed.missing.append(Missing(name, f"{len(more)} of {len(seeds)} twins not trained"))
            elif more:
                options = _options(setting, quick=quick)
                trained = train_twins(
                    base.folder,
                    seeds=more,
                    runs=base.folder / "twins",
                    done=lambda twin: advance(1),
                    **options,
                )
                followed.notes.extend(_diverged(name, trained))
                twins |= {twin.seed: Run(twin.folder).metrics() for twin in trained if twin.folder}
            outline = "nothing found"
            if tests := [twins[seed]["test"] for seed in seeds if seed in twins]:
                point = place(
                    tests,
                    corpus=base.dataset,
                    encoder=encoder,
                    value=setting.label,
                    strength=setting.strength,
                    divergence=setting.divergence,
                    base_f1=base.metrics["test"]["f1"],
                    blind_tvd=blind,
                    classes=len(base.labels),
                )
                followed.points.append(point)
                outline = f"JSD {point.jsd:.3f}, TVD {point.tvd:.3f}, {point.twins} of {len(seeds)} twins"
            watcher.say(f"[{number}/{len(chosen)}] {name}: {outline} ({time.perf_counter() - begun:.0f} s)")
    return followed


def _diverged(name: str, twins: Sequence[Twin]) -> list[str]:
    return [
        f"{name}: seed {twin.seed} diverged and is not averaged in: {twin.problem}"
        for twin in twins
        if twin.folder is None
    ]


def _options(setting: TwinSetting, *, quick: bool) -> dict[str, Any]:
    return {**(QUICK if quick else {}), "divergence": setting.divergence, "strength": setting.strength}


def _cost(base: Path, count: int, *, quick: bool) -> str:
    """Say what the twins will cost before they are trained."""
    epochs = QUICK["epochs"] if quick else EPOCHS
    sentence = f"Training {count} {'twin' if count == 1 else 'twins'} for the curve, at most {epochs} epochs each (patience {PATIENCE})"
    if (pace := seconds_per_epoch(base, limit=QUICK["limit"] if quick else None)) is not None:
        least, most = (count * length * pace / 60 for length in (PATIENCE + 1, epochs))
        sentence += f": between {least:.0f} and {most:.0f} minutes on one core, by the pace of the base's own training"
    return sentence + "."
