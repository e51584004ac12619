"""Rounds of attack and training (FLAT 3.4): attack the latest model, train it on what the attack found, attack again.

Every round is a run whose base is the round before. What an attack made of a model's training texts is kept in that
model's run, part by part, and so found again: by an interrupted attack, by a round that was trained before, and by another
objective that begins with the same model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from heedful.config import TrainConfig
from heedful.data.attacked import AttackedTexts
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpus import Split
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.progress import QUIET, Watcher
from heedful.runs import Run, identity
from heedful.storage import folder_for, remove_leftovers
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.prepare import encode_splits
from heedful.training.train import train, vanilla_of

_PART = 256  # texts that an interruption loses at most


class NothingFound(BadInput):
    """An attack has no substitute for any word of some texts, which are given back as they are."""

    def __init__(self, message: str, texts: AttackedTexts) -> None:
        super().__init__(message)
        self.texts = texts


class Attack(Protocol):
    """Changes texts until a classifier changes its mind."""

    @property
    def name(self) -> str:
        """Tells it from other attacks, with all of its options that change what it finds."""

    def __call__(self, texts: Sequence[str], labels: Sequence[int], classifier: Classifier) -> AttackedTexts:
        """Attack every text; a row each, in their order, counted from 0. What it does to a text depends on no other.

        It may raise `NothingFound`: some texts may have no substitutes, and all together must have some.
        """


class Round(NamedTuple):
    """A model, and the attacked texts that it was trained with; of the first there are none."""

    number: int
    classifier: Classifier
    attacked: Path | None

    @property
    def run(self) -> Path:
        """The folder of its run."""
        assert self.classifier.run is not None
        return self.classifier.run


def train_rounds(
    config: TrainConfig,
    attack: Attack,
    *,
    rounds: int = 3,
    limit: int | None = None,
    runs: Path = Path("runs"),
    watcher: Watcher = QUIET,
) -> list[Round]:
    """Train the base model and then `rounds` times on attacked texts; what is there already is found again.

    Round 0 is `config.base`, or else a vanilla model of the same options without word masks. Each round attacks all training texts of the latest
    model, or `limit` of them drawn anew.
    """
    if "attacked" not in OBJECTIVES.get(config.objective).options:
        able = [name for name in OBJECTIVES if "attacked" in OBJECTIVES.get(name).options]
        raise BadInput(
            f"The objective {config.objective} does not train on attacked texts: use {' or '.join(able)} for rounds of attack and training."
        )
    if rounds < 1:
        raise BadInput(f"{rounds} rounds of attack and training are none: ask for 1 or more.")
    corpus = load_corpus(config)
    if corpus.splits["train"].queries is not None:
        raise BadInput(
            f"Attacks read single texts, and {corpus.name} has a query beside each: choose another dataset."
        )
    if config.base is None:
        plain = vanilla_of(config, word_mask="none", mask_vectors=None)
        latest = train(plain, runs=runs, watcher=watcher)
    else:
        latest = Classifier.from_pretrained(config.base)
    done = [Round(0, latest, None)]
    texts = encode_splits(config, corpus, latest.vocabulary)[0]["train"].split
    for number in range(1, rounds + 1):
        rows = _drawn(len(texts), limit, seed=config.seed, number=number)
        attacked = attack_texts(attack, latest, texts, rows=rows, watcher=watcher)
        watcher.say(f"Round {number} of {rounds}: {_counted(AttackedTexts.read(attacked))}.")
        update = {"base": str(latest.run), "attacked": str(attacked)}
        latest = train(config.model_copy(update=update), runs=runs, watcher=watcher)
        done.append(Round(number, latest, attacked))
    return done


def attack_texts(
    attack: Attack,
    classifier: Classifier,
    texts: Split,
    *,
    rows: Sequence[int],
    watcher: Watcher = QUIET,
) -> Path:
    """Attack these rows of a split, part by part, and give the file in the classifier's run that keeps the result."""
    assert classifier.run is not None
    chosen = texts.take(np.array(rows, dtype=np.int64))
    about = {
        "attack": attack.name,
        "rows": list(rows),
        "texts": chosen.texts,
        "labels": chosen.labels.tolist(),
    }
    slug = re.sub(r"[^a-z0-9_.-]+", "-", attack.name.lower()).strip("-")[:40]
    folder = classifier.run / "attacked" / f"{slug}-{identity(about)}"
    whole = folder / "texts.parquet"
    if whole.is_file():
        return whole
    with (
        folder_for(folder, lock=".lock"),
        Run(folder).locked(),
        watcher.bar(f"Attacking with {attack.name}", len(rows), unit="texts") as advance,
    ):
        if whole.is_file():  # another process, which was waited for, did it
            return whole
        remove_leftovers(folder)
        parts, nothing = list[AttackedTexts](), list[NothingFound]()
        for first in range(0, len(rows), _PART):
            part = folder / f"part-{first:07d}.parquet"
            some = np.arange(first, min(first + _PART, len(rows)))
            if part.is_file():
                parts.append(AttackedTexts.read(part))
            else:
                found, empty = _attack_part(
                    attack, classifier, chosen.take(some), rows=rows[first : first + _PART]
                )
                parts.append(found)
                nothing += empty
                if len(nothing) < len(parts):
                    found.write(part)
            advance(len(some))
        if nothing and len(nothing) == len(parts):
            raise nothing[0]
        AttackedTexts.joined(parts).write(whole)
        for part in folder.glob("part-*.parquet"):
            part.unlink()
    return whole


def _attack_part(
    attack: Attack, classifier: Classifier, texts: Split, *, rows: Sequence[int]
) -> tuple[AttackedTexts, list[NothingFound]]:
    """Attack some texts, and say if nothing was found."""
    nothing = list[NothingFound]()
    try:
        found = attack(texts.texts, texts.labels.tolist(), classifier)
    except NothingFound as error:
        nothing.append(error)
        found = error.texts
    if found.originals != texts.texts:
        raise TypeError(f"the attack {attack.name} gave other texts back than it was given")
    frame = found.to_frame().with_columns(row=np.array(rows, dtype=np.int64))
    return AttackedTexts.from_frame(frame), nothing


def _drawn(texts: int, limit: int | None, *, seed: int, number: int) -> list[int]:
    """All rows, or so many of them, others in each round."""
    if limit is None or limit >= texts:
        return list(range(texts))
    chosen: list[int] = np.random.default_rng([seed, number]).choice(texts, limit, replace=False).tolist()
    return sorted(chosen)


def _counted(texts: AttackedTexts) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in texts.counts().items())
    return f"{len(texts)} texts attacked, {counts}"
