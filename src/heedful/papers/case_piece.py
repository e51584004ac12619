"""A case of a recipe as a piece of work: what is sent to where it is trained and audited, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.attacks.options import AttackOptions
from heedful.checking import build
from heedful.config import TrainConfig
from heedful.papers.attacked_training import CaseRounds
from heedful.papers.recipe import RecipeCase
from heedful.progress import Watcher
from heedful.scale.chosen import spreads
from heedful.scale.piece import Outcome, Piece
from heedful.scale.share_out import share_out


def done_elsewhere(
    cases: Sequence[RecipeCase], audits: Sequence[str], *, runs: Path, watcher: Watcher
) -> dict[int, str]:
    """Train and audit cases where the user chose; give those that could not be done, by their place, and why.

    Where that is this process, nothing is done: then cases are measured one by one, as they are read.
    """
    if not spreads():
        return {}
    pieces = [
        Piece(
            case.name,
            do_case,
            {"case": as_data(case), "audits": list(case.audits or audits), "runs": str(runs)},
        )
        for case in cases
    ]

    def tell(place: int, outcome: Outcome) -> None:
        told = outcome.problem or outcome.value or f"finished ({outcome.seconds:.0f} s of a core)"
        watcher.say(f"{pieces[place].name}: {told}")

    outcomes = share_out(pieces, title="Runs", unit="runs", done=tell, watcher=watcher)
    for outcome in outcomes:
        if outcome.fault:
            outcome.taken()
    return {place: outcome.problem for place, outcome in enumerate(outcomes) if outcome.problem}


def do_case(config: Mapping[str, Any]) -> str:
    """Train and audit one case, or find it; say what is missing, if anything is."""
    from heedful.papers.measure_recipe import measure_case

    _, lack = measure_case(from_data(config["case"]), config["audits"], Path(config["runs"]))
    return "" if lack is None else lack.why


def as_data(case: RecipeCase) -> dict[str, Any]:
    """Write a case as plain data."""
    rounds = case.rounds
    return {
        "dataset": case.dataset,
        "model": case.model,
        "seed": case.seed,
        "config": case.config.model_dump(mode="json"),
        "texts": case.texts,
        "audit": {name: list(v) if isinstance(v, tuple) else v for name, v in case.audit.items()},
        "audits": list(case.audits),
        "rounds": None
        if rounds is None
        else {
            "attack": rounds.attack.model_dump(mode="json"),
            "rounds": rounds.rounds,
            "texts": rounds.texts,
        },
        "attacks": [options.model_dump(mode="json") for options in case.attacks],
        "lacks": case.lacks,
    }


def from_data(data: Mapping[str, Any]) -> RecipeCase:
    """Read what `as_data` writes."""
    rounds = data["rounds"]
    return RecipeCase(
        data["dataset"],
        data["model"],
        data["seed"],
        build(TrainConfig, data["config"]),
        data["texts"],
        {name: tuple(v) if isinstance(v, list) else v for name, v in data["audit"].items()},
        tuple(data["audits"]),
        None
        if rounds is None
        else CaseRounds(build(AttackOptions, rounds["attack"]), rounds["rounds"], rounds["texts"]),
        tuple(build(AttackOptions, options) for options in data["attacks"]),
        data["lacks"],
    )
