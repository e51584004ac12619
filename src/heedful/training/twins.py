"""Train several twins of one base, one per seed, where the user chose, or in as many processes as there are usable cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heedful.checking import build
from heedful.config import TrainConfig
from heedful.errors import BadInput, Diverged
from heedful.intake.files import read_text
from heedful.intake.json_text import parse_json
from heedful.runs import Run, list_runs
from heedful.scale.piece import Outcome, Piece
from heedful.scale.share_out import share_out

# Wiegreffe & Pinter's list, which AtteFa uses too.
SEEDS = (10, 50, 257, 500231, 100078, 12504, 90754789, 8988812, 2)

USUAL = "processes"
"""Where twins are trained, if the user does not say."""


def some_seeds(count: int | None) -> tuple[int, ...] | None:
    """Return the first seeds of the list; None means all of them.

    >>> some_seeds(2), some_seeds(9)
    ((10, 50), None)
    """
    if count is not None and not 1 <= count <= len(SEEDS):
        raise BadInput(
            f"{count} twins cannot be trained: there are {len(SEEDS)} seeds, so choose from 1 to {len(SEEDS)}."
        )
    return None if count in (None, len(SEEDS)) else SEEDS[:count]


class Twin(NamedTuple):
    """The run of one seed; without a folder it diverged, and `problem` says how."""

    seed: int
    folder: Path | None
    problem: str = ""


def train_twins(
    base: Path,
    *,
    seeds: Sequence[int] = SEEDS,
    runs: Path,
    done: Callable[[Twin], None] = lambda twin: None,
    **options: Any,
) -> list[Twin]:
    """Train what is missing; finished twins are found and interrupted ones continue."""
    from heedful.training.train import resolve

    configs = [
        resolve({"objective": "imitation", "base": str(base), "seed": seed, "threads": 1, **options})
        for seed in seeds
    ]
    pieces = [
        Piece(
            f"twin {config.seed}",
            train_twin,
            {"config": config.model_dump(mode="json"), "runs": str(runs)},
        )
        for config in configs
    ]

    def tell(place: int, outcome: Outcome) -> None:
        if not outcome.problem:
            done(_twin(seeds[place], outcome))

    outcomes = share_out(pieces, usual=USUAL, done=tell)
    return [_twin(seed, outcome) for seed, outcome in zip(seeds, outcomes, strict=True)]


def _twin(seed: int, outcome: Outcome) -> Twin:
    folder, problem = outcome.taken()
    return Twin(seed, None if folder is None else Path(folder), problem)


def train_twin(config: Mapping[str, Any]) -> tuple[str | None, str]:
    """Train one twin, or find it; without a folder it diverged, and the second says how."""
    _, folder, problem = _train(build(TrainConfig, config["config"]), Path(config["runs"]))
    return None if folder is None else str(folder), problem


def _train(config: TrainConfig, runs: Path) -> Twin:
    from heedful.training.train import train

    try:
        return Twin(config.seed, train(config, runs=runs).run)
    except Diverged as error:
        return Twin(config.seed, None, str(error))


def finished_twins(base: Path, **options: Any) -> dict[int, dict[str, Any]]:
    """Return the metrics of the finished twins of a base that were trained with these options, by seed."""
    from heedful.training.train import resolve

    def without_seed(config: TrainConfig) -> TrainConfig:
        return config.model_copy(update={"seed": 0, "base": None})  # the base may have moved with its twins

    if not (base / "twins").is_dir():
        return {}
    wanted = without_seed(resolve({"objective": "imitation", "base": str(base), "threads": 1, **options}))
    found = {}
    for run in list_runs(base / "twins"):
        if run.complete:
            config = build(TrainConfig, run.config())
            if without_seed(config) == wanted:
                found[config.seed] = run.metrics()
    return found


def seconds_per_epoch(base: Path, *, limit: int | None = None) -> float | None:
    """Read how long an epoch of the base took from its log: a twin's takes at most that, or a share of it with a sample."""
    path = base / "log.jsonl"
    if not path.is_file():
        return None
    try:
        records = [parse_json(line, finite=False) for line in read_text(path).splitlines()]
        times = [float(record["time"]) for record in records if record.get("event") == "epoch"]
        metrics = Run(base).metrics() if Run(base).complete else {}
        epochs, texts = len(metrics.get("history", times)), metrics.get("sizes", {}).get("train")
    except (OSError, ValueError, TypeError, LookupError, AttributeError, BadInput):
        return None  # a damaged log only tells nothing
    if len(times) < 2:
        return None
    share = min(1.0, limit / texts) if limit and texts else 1.0
    return share * float(times[-1] - times[0]) / max(1, epochs - 1)
