"""Cases that are made by rounds of attack and training: what is chosen of their attacks, how they are trained and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from heedful.attacks.attack import ATTACKS
from heedful.attacks.options import AttackOptions
from heedful.checking import build
from heedful.config import TrainConfig
from heedful.data.words.synonym_files import is_synonym_file
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.progress import QUIET, Watcher
from heedful.runs import Run
from heedful.training.published_attack import PublishedAttack
from heedful.training.rounds import train_rounds
from heedful.training.train import vanilla_of

ROUNDS = 3
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "vectors": ("textfooler", "genetic", "iga"),
    # bae and clare rest on it: what a language model expects in a place need not mean the same.
    "similarity": ("textfooler",),
    "language_model": ("genetic", "bae", "clare"),
    "sememes": ("pso",),
}
"""Options that only these attacks read: another's runs and audits are found whatever their values."""


@dataclass(frozen=True)
class AttackChoices:
    """What a user chooses of the attacks of a recipe, in training and in audits alike."""

    vectors: str | None = None
    """Counter-fitted vectors, or a file of neighbours."""
    synonyms: str | None = None
    """A file of substitutes, in place of every attack's own."""
    language_model: str | None = None
    """A folder, or a name on the hub."""
    sememes: str | None = None
    """A file of HowNet."""
    similarity: bool = True
    known_words: bool = False
    texts: int | None = None
    """Training texts that are attacked in every round; as many as the dataset says if None."""
    rounds: int = ROUNDS

    def options(self, attack: str) -> AttackOptions:
        """Give the options of one attack: those that it reads, where they are not its usual ones."""
        chosen: dict[str, Any] = {"recipe": attack, "synonyms": self.synonyms}
        chosen |= {"known_words": self.known_words} if self.known_words else {}
        chosen |= {name: getattr(self, name) for name, readers in _READ_BY.items() if attack in readers}
        return build(AttackOptions, chosen)

    def audit(self, attacks: Sequence[str]) -> dict[str, Any]:
        """Give the options of audits under some attacks."""
        chosen: dict[str, Any] = {"attacks": tuple(attacks)}
        for attack in attacks:
            options = self.options(attack).model_dump(exclude_defaults=True, exclude={"recipe"})
            chosen |= {
                name if name == "known_words" else f"attack_{name}": value for name, value in options.items()
            }
        return chosen

    def space(self) -> tuple[str, str | None]:
        """Give a file of vectors for groups of similar words, and why it does not do, if so: a list of words has no groups."""
        path = Path(self.vectors).expanduser() if self.vectors is not None else None
        if path is None or not path.is_file():
            why = "groups of similar words need counter-fitted vectors: give a file of them with --attack-vectors"
            return self.vectors or "counter-fitted vectors", why
        why = f"groups of similar words need vectors, and {path.name} is a list of neighbours: give a file of vectors"
        return str(self.vectors), why if is_synonym_file(path) else None


@dataclass(frozen=True)
class CaseRounds:
    """How a case is made by rounds."""

    attack: AttackOptions
    rounds: int
    texts: int | None
    """Training texts that are attacked in every round, drawn anew; all if None."""

    @property
    def note(self) -> str:
        """Say how."""
        how_many = "all training texts" if self.texts is None else f"at most {self.texts:,} training texts"
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        return f"{rounds} of training, {how_many} attacked by {described(self.attack)} in each."

    def train(self, config: TrainConfig, *, runs: Path, watcher: Watcher = QUIET) -> Classifier:
        """Train all rounds, or go on with them, or find them."""
        done = train_rounds(
            config, _ready(self.attack), rounds=self.rounds, limit=self.texts, runs=runs, watcher=watcher
        )
        return done[-1].classifier

    def find(self, config: TrainConfig, trained: Mapping[TrainConfig, Run]) -> Run | None:
        """Find the last round among complete runs, without reading any data: each says what it began with."""
        latest = trained.get(vanilla_of(config, word_mask="none", mask_vectors=None))
        by_base: dict[str, list[tuple[TrainConfig, Run]]] = {}
        for own, run in trained.items():
            if own.base is not None and own.attacked is not None:
                by_base.setdefault(Path(own.base).name, []).append((own, run))
        for _ in range(self.rounds):
            if latest is None:
                return None
            latest = next(
                (run for own, run in by_base.get(latest.name, ()) if self._made(config, own, run)), None
            )
        return latest

    def _made(self, config: TrainConfig, own: TrainConfig, run: Run) -> bool:
        """Whether a run is a round with this config, after this attack on as many texts."""
        if own.model_copy(update={"base": None, "attacked": None}) != config:
            return False
        assert own.attacked is not None
        if not Path(own.attacked).parent.name.startswith(f"{_ready(self.attack).name}-"):
            return False
        kept = run.folder / "attacked.parquet"
        if not kept.is_file():
            return False
        attacked = pl.scan_parquet(kept).select(pl.len()).collect().item()
        whole = run.metrics()["sizes"]["train"]
        return bool(attacked == (whole if self.texts is None else min(self.texts, whole)))


def described(options: AttackOptions) -> str:
    """An attack with what is not usual of it.

    >>> described(AttackOptions(recipe="textfooler", similarity=False, vectors="here/near.json"))
    'textfooler (without sentence similarity, vectors near.json)'
    """
    words = [] if options.similarity else ["without sentence similarity"]
    words += ["known words only"] if options.known_words else []
    words += [
        f"{name.replace('_', ' ')} {Path(value).name}"
        for name in ("vectors", "synonyms", "language_model", "sememes")
        if (value := getattr(options, name)) is not None
    ]
    return options.recipe + (f" ({', '.join(words)})" if words else "")


@lru_cache(maxsize=64)
def lacking(options: AttackOptions) -> str | None:
    """Say what an attack lacks, if it cannot be assembled."""
    if options.recipe not in ATTACKS:
        return f"heedful has no attack {options.recipe}"
    if options.recipe in _READ_BY["vectors"] and options.vectors is None and options.synonyms is None:
        return f"the attack {options.recipe} needs counter-fitted vectors: give a file of them, or of neighbours, with --attack-vectors"
    try:
        _ready(options).assembled  # noqa: B018
    except BadInput as error:
        return f"the attack {options.recipe} cannot be run: {error}"
    return None


@lru_cache(maxsize=8)
def _ready(options: AttackOptions) -> PublishedAttack:
    """One attack for all cases: its vectors are read once."""
    return PublishedAttack(options)
