"""heedful.reproduce"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_path

if TYPE_CHECKING:
    from heedful.papers.paper_page import Page


def reproduce(
    recipe: str,
    data: Sequence[str] | str | None = None,
    *,
    table: Sequence[int | str] | int | str | None = None,
    figure: Sequence[int | str] | int | str | None = None,
    claims: bool = False,
    encoders: Sequence[str] | str | None = None,
    seeds: Sequence[int] | str | None = None,
    limit: int | None = None,
    attack_vectors: str | Path | None = None,
    attack_synonyms: str | Path | None = None,
    attack_language_model: str | Path | None = None,
    attack_sememes: str | Path | None = None,
    attack_similarity: bool = True,
    known_words: bool = False,
    attack_texts: int | None = None,
    rounds: int | None = None,
    only_finished: bool = False,
    join: str | Path | None = None,
    runs: str | Path = "runs",
    progress: bool = True,
) -> Page:
    """Repeat a paper's experiments (`heedful list recipes`): our numbers beside the published ones, and every claim.

    `data` names datasets of the recipe; `table` and `figure` are numbers, and without them, and without `claims`, everything
    is done. Finished runs and audits are found. The result has `show()`, `save(file)` and `markdown()`.
    """
    from heedful.papers.attacked_training import ROUNDS, AttackChoices
    from heedful.papers.reproduce import reproduce as repeat

    def path(given: str | Path | None) -> str | None:
        return None if given is None else str(given)

    attacks = AttackChoices(
        vectors=path(attack_vectors),
        synonyms=path(attack_synonyms),
        language_model=path(attack_language_model),
        sememes=path(attack_sememes),
        similarity=attack_similarity,
        known_words=known_words,
        texts=attack_texts,
        rounds=rounds or ROUNDS,
    )
    return repeat(
        recipe,
        tables=_several(table),
        figures=_several(figure),
        claims=claims,
        datasets=_several(data),
        encoders=_several(encoders),
        seeds=given_seeds(seeds),
        texts=limit,
        attacks=attacks,
        only_finished=only_finished,
        together=None if join is None else as_path(join, "The folder of numbers"),
        runs=as_path(runs, "The folder of runs"),
        watcher=watcher(progress),
    )


def given_seeds(seeds: Sequence[int] | str | None) -> tuple[int, ...] | None:
    """Check seeds as every option of this name is."""
    from heedful.checking import build
    from heedful.config import AuditOptions

    found: tuple[int, ...] | None = build(AuditOptions, {"seeds": seeds}).seeds
    return found


def _several(given: Any) -> list[str] | None:
    """Take one name or number for a list of one."""
    if given is None:
        return None
    parts = given.split(",") if isinstance(given, str) else [given] if isinstance(given, int) else given
    return list(dict.fromkeys(str(part).strip() for part in parts))
