"""The audited texts under attack: attacked once for all audits that ask, and kept with the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.attacks.attack import ATTACKS
from heedful.attacks.options import AttackOptions
from heedful.attacks.run_attack import attack, attack_identity
from heedful.audits.subject.subject import Subject
from heedful.checking import build
from heedful.config import AuditOptions
from heedful.errors import BadInput
from heedful.progress import Watcher

ATTACK_OPTIONS = (
    "attacks",
    "attack_vectors",
    "attack_synonyms",
    "attack_sememes",
    "attack_language_model",
    "attack_fluency",
    "attack_similarity",
    "known_words",
)
"""Options of audits that decide how texts are attacked."""


def check_attacks(options: AuditOptions, recipes: Sequence[str]) -> None:
    """Raise `BadInput` where an attack is not known, or what it needs is not at hand."""
    for recipe in recipes:
        ATTACKS.get(recipe)(build(AttackOptions, attack_options(options, recipe)))


def attacked_rows(subject: Subject, options: AuditOptions, recipe: str, watcher: Watcher) -> pl.DataFrame:
    """Attack the audited texts, or find what was attacked before: a row each, `row` as in the split.

    Without labels what the model decides is taken for right, so that no text is skipped.
    A text without a word cannot be changed.
    """
    if subject.classifier.task != "classification":
        raise BadInput(
            "Attacks read single texts, and this model reads each for a query: choose other audits."
        )
    split = subject.texts.instances.split
    rows = np.sort(np.concatenate(subject.texts.rows))
    texts = [split.texts[row] for row in rows]
    labels = split.labels[rows].tolist() if subject.texts.labelled else None
    asked = attack_options(options, recipe)
    name = attack_identity(subject.classifier, texts, labels, wordless=True, **asked)
    if name not in subject.attacks:
        home = subject.classifier.home
        slug = re.sub(r"[^a-z0-9_.-]+", "-", f"{recipe}-{subject.texts.name}".lower()).strip("-")
        found = attack(
            subject.classifier,
            texts,
            labels,
            data=subject.texts.name,
            folder=None if home is None else home / "attacks" / f"{slug}-{name}",
            wordless=True,
            watcher=watcher,
            **asked,
        ).to_frame()
        subject.attacks[name] = found.with_columns(row=pl.Series(rows, dtype=pl.Int64))
    return subject.attacks[name]


def attack_options(options: AuditOptions, recipe: str) -> dict[str, Any]:
    """Give the options of an attack as an audit was asked for it."""
    return {
        "recipe": recipe,
        "vectors": options.attack_vectors,
        "synonyms": options.attack_synonyms,
        "sememes": options.attack_sememes,
        "language_model": options.attack_language_model,
        "fluency": options.attack_fluency,
        "similarity": options.attack_similarity,
        "known_words": options.known_words,
    }
