"""Attack texts by the name of an attack."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.attack_result import About, AttackResult
from heedful.attacks.attacked_part import Assembled, Elsewhere, Part, PartDone, known_words_of
from heedful.attacks.classifier_victim import ClassifierVictim
from heedful.attacks.constraints.substitutes import KnownWords
from heedful.attacks.draft import Draft, Source
from heedful.attacks.driver import TOGETHER
from heedful.attacks.kept_rows import Kept
from heedful.attacks.options import AttackOptions
from heedful.attacks.victim import FunctionVictim, OpaqueVictim, Victim
from heedful.checking import build
from heedful.data.words.text import clean_text
from heedful.errors import BadInput
from heedful.intake.arguments import as_texts
from heedful.models.answers import SAME, Reads
from heedful.models.stages import Auditable, Opaque
from heedful.progress import QUIET, Watcher
from heedful.runs import identity

_ASKED_AGAIN = 8
"""Kept texts that a function is asked for again before what was kept of it is taken."""


class NoCandidates(BadInput):
    """There is nothing to replace any word by; the rows are as they would be kept, had that been expected."""

    def __init__(self, message: str, frame: pl.DataFrame) -> None:
        super().__init__(message)
        self.frame = frame


def attack(
    model: Auditable | Victim | Reads,
    texts: Sequence[str],
    labels: Sequence[int | str] | None = None,
    *,
    data: str = "texts",
    folder: Path | None = None,
    assembled: Attack | None = None,
    together: int = TOGETHER,
    wordless: bool = False,
    elsewhere: Elsewhere | None = None,
    watcher: Watcher = QUIET,
    **options: Any,
) -> AttackResult:
    """Attack every text that the model classifies as its label says; without labels, as the model itself does.

    `options` are the fields of `AttackOptions`, and `assembled` is what was made of them before, if it was. In a folder,
    texts that are done are written as they come, and an attack that was interrupted goes on. With `wordless`, a text
    without a word fails, or is skipped; otherwise it is refused. `elsewhere` attacks parts in other places, if any do.
    """
    chosen = build(AttackOptions, options)
    victim, name = victim_of(model)
    sources, numbers = _checked(victim, texts, labels, chosen.limit, wordless=wordless)
    more = (known_words_of(victim),) if chosen.known_words else ()
    if type(victim) is FunctionVictim:
        victim.check([source.text for source in sources])
    make = ATTACKS.get(chosen.recipe) if assembled is None else lambda _: assembled
    about = About(
        model=name,
        labels=victim.labels,
        data=data,
        recipe=chosen.recipe,
        options=chosen.model_dump(mode="json", exclude_defaults=True),
        identity=_identity(victim, sources, numbers, chosen, labelled=labels is not None),
        texts=len(sources),
        labelled=labels is not None,
    )
    kept = Kept(folder, about)
    if folder is None:
        return _run(victim, sources, numbers, chosen, make(chosen), more, kept, together, elsewhere, watcher)
    stale = not _answers_still(victim, kept)
    if not stale and (finished := kept.finished) is not None:
        watcher.say(f"This attack is complete: {folder}")
        return finished
    ready = make(chosen)  # before anything is written: what is missing is said first
    with kept.alone(busy=lambda: _refuse(folder)):
        if stale:
            watcher.say(f"{name} answers otherwise than when {folder} was written: the attack begins again.")
            kept.forget()
        kept.find()
        return _run(victim, sources, numbers, chosen, ready, more, kept, together, elsewhere, watcher)


def attack_identity(
    model: Auditable | Victim | Reads,
    texts: Sequence[str],
    labels: Sequence[int | str] | None = None,
    *,
    wordless: bool = False,
    **options: Any,
) -> str:
    """Name an attack by what decides its outcome: the same for the same victim, texts, labels and options."""
    chosen = build(AttackOptions, options)
    victim, _ = victim_of(model)
    sources, numbers = _checked(victim, texts, labels, chosen.limit, wordless=wordless)
    return _identity(victim, sources, numbers, chosen, labelled=labels is not None)


def victim_of(model: Auditable | Victim | Reads) -> tuple[Victim, str]:
    """Make a victim of a classifier, or of a function from texts to probabilities, and say what it is called."""
    if isinstance(model, str | Path):
        raise BadInput("A model is needed, not its name: load it with heedful.load.")
    if isinstance(model, Victim):
        return model, type(model).__name__
    if hasattr(model, "vocabulary") and hasattr(model, "instances"):
        classifier = cast(Auditable, model)
        opaque = isinstance(classifier.model, Opaque)
        return OpaqueVictim(classifier) if opaque else ClassifierVictim(classifier), classifier.name
    if callable(model):
        victim = FunctionVictim(model)
        return victim, victim.fingerprint()
    raise BadInput(
        "A model is a classifier of heedful's, or a function from a list of texts to probabilities."
    )


def _run(
    victim: Victim,
    sources: Sequence[Source],
    labels: Sequence[int],
    options: AttackOptions,
    assembled: Attack,
    more: Sequence[KnownWords],
    kept: Kept,
    together: int,
    elsewhere: Elsewhere | None,
    watcher: Watcher,
) -> AttackResult:
    mine = Assembled(victim, assembled, more, together)
    attacked, found, proposed = 0, len(kept.done), False
    todo = [row for row in range(len(sources)) if row not in kept.done]
    parts = [
        Part(rows, [sources[row] for row in rows], [labels[row] for row in rows])
        for first in range(0, len(todo), TOGETHER)
        if (rows := todo[first : first + TOGETHER])
    ]
    with watcher.bar(f"Attacking by {options.recipe}", len(sources)) as advance:
        advance(found)

        def keep(done: PartDone) -> None:
            nonlocal attacked, proposed
            attacked, proposed = attacked + done.attacked, proposed or done.proposed
            kept.put(done.frame, write=proposed)
            if isinstance(victim, FunctionVictim):
                kept.remember(victim.known_by.said)

        def keep_other(done: PartDone) -> None:
            keep(done)
            advance(len(done.frame))

        if elsewhere is not None:
            elsewhere(parts, keep_other)
        else:
            for part in parts:
                mine.do(part, keep, advance)
    if attacked and not proposed and not found:
        raise NoCandidates(
            f"The attack {options.recipe} finds no candidate for any word of these {len(sources)} texts: "
            f"give vectors or synonyms of their language.",
            kept.together(),
        )
    return kept.end()


def _answers_still(victim: Victim, kept: Kept) -> bool:
    """Whether a function says of texts that were attacked what it said then; a classifier is known by its weights."""
    if isinstance(victim, ClassifierVictim) or not len(rows := kept.some_rows(_ASKED_AGAIN)):
        return True
    known = kept.said()
    texts = [*known, *rows["original"], *rows["attacked"]]
    before = [*known.values(), *rows["probabilities"].to_list(), *rows["probabilities_after"].to_list()]
    after = victim.read(victim.keys([Draft(Source.cut(text)) for text in texts]))
    if {len(row) for row in before} != {after.shape[1]}:
        return False
    return bool((np.abs(after - np.array(before)) <= SAME).all())


def _checked(
    victim: Victim, texts: Sequence[str], labels: Any, limit: int | None, *, wordless: bool
) -> tuple[list[Source], list[int]]:
    """Cut the texts into words, and number their labels; or say what is wrong with them."""
    given = as_texts(texts)
    sources = [Source.cut(clean_text(text)) for text in given[:limit]]
    if not sources:
        raise BadInput("There is no text to attack: give one at least.")
    for number, source in enumerate(sources, start=1):
        if not source.words and not wordless:
            raise BadInput(f"Text {number} has no word that could be replaced: leave it out.")
    return sources, _label_numbers(victim, sources, labels, texts=len(given))


def _label_numbers(victim: Victim, sources: Sequence[Source], labels: Any, *, texts: int) -> list[int]:
    """Give each text's class as a number; without labels, what the model says."""
    probabilities = victim.read(victim.keys([Draft(source) for source in sources]))
    if labels is None:
        return [int(number) for number in probabilities.argmax(-1)]
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise BadInput("A list of labels is needed, and this is none: give one for each text.")
    given = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if len(given) != texts:
        raise BadInput(f"{len(given)} labels were given for {texts} texts: give one each.")
    names = {name: number for number, name in enumerate(victim.labels or ())}
    numbers = []
    for label in given[: len(sources)]:
        number = names.get(label) if names and isinstance(label, str) else _whole(label)
        if number is None or not 0 <= number < probabilities.shape[1]:
            classes = ", ".join(names) if names else f"0 to {probabilities.shape[1] - 1}"
            raise BadInput(f"There is no class {label!r}: the model's are {classes}.")
        numbers.append(number)
    return numbers


def _whole(label: Any) -> int | None:
    """Give a label as a whole number, if it is one, or spells one."""
    if isinstance(label, str):
        return int(label) if label.isascii() and label.isdecimal() else None
    try:
        return int(label) if label == int(label) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _identity(
    victim: Victim,
    sources: Sequence[Source],
    labels: Sequence[int],
    options: AttackOptions,
    *,
    labelled: bool,
) -> str:
    values = options.deciding()
    if not labelled:  # the same rows, and other words about them
        values["labelled"] = False
    texts = hashlib.sha256("\0".join(source.text for source in sources).encode()).hexdigest()
    answers = hashlib.sha256(np.array(labels, dtype="<i8").tobytes()).hexdigest()
    return identity(
        {
            **values,
            "recipe": options.recipe,
            "victim": victim.fingerprint(),
            "texts": texts,
            "labels": answers,
        }
    )


def _refuse(folder: Path) -> None:
    raise BadInput(f"Another process is attacking in {folder}: wait for it or stop it.")
