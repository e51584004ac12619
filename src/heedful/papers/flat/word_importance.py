"""What a model has learnt of single words: their global importance, how often they are seen and how often replaced."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Float, Int
from scipy import stats

from heedful.attacks.attack import ATTACKS
from heedful.attacks.candidates.edits import Edits
from heedful.attacks.draft import Draft, Source
from heedful.attacks.options import AttackOptions
from heedful.audits.running.result import read_findings
from heedful.checking import build
from heedful.data.attacked import AttackedTexts
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.papers.results import MeasuredRun

SAMPLED, SYNONYMS = 1000, 10
"""Words of Figure 5, and how many synonyms of each."""
_SPECIAL = 2  # padding and the unknown word come first
_DIGITS = 6


WORDS, GAPS = "words", "gaps"
"""What is kept of a run's words: their numbers, and the gaps of Figure 5. The words themselves are not."""


class WordCounts(NamedTuple):
    """The words of a vocabulary: their importance, and how often training texts hold and attacks replace them."""

    words: list[str]
    """Empty where only their numbers were kept."""
    importance: Float[np.ndarray, " words"]
    frequency: Int[np.ndarray, " words"]
    substitutions: Int[np.ndarray, " words"]


class Pearson(NamedTuple):
    """A correlation over some words."""

    r: float
    p_value: float
    words: int


def word_counts(run: MeasuredRun) -> WordCounts | None:
    """Read the words of a run; None without word masks, without attacked texts, or of sub-words."""
    if (kept := run.frames.get(WORDS)) is None:
        return _word_counts(run.folder)
    columns = (kept[name].to_numpy() for name in WordCounts._fields[1:])
    return WordCounts([], *columns)


def kept_words(run: MeasuredRun) -> dict[str, pl.DataFrame]:
    """Give what is to be kept of a run's words."""
    found = {}
    if (counts := word_counts(run)) is not None:
        numbers = {name: getattr(counts, name) for name in WordCounts._fields[1:]}
        found[WORDS] = pl.DataFrame(numbers).with_columns(_short("importance"))
    if (gaps := synonym_gaps(run)) is not None:
        found[GAPS] = pl.DataFrame({"gap": gaps}).with_columns(_short("gap"))
    return found


def _short(column: str) -> pl.Expr:
    return pl.col(column).round_sig_figs(_DIGITS).cast(pl.Float32)


def correlations(counts: WordCounts) -> dict[str, Pearson]:
    """Give the pairs of Table 9: with substitutions over words that were replaced, as the paper's p-values show."""
    seen, replaced = counts.frequency > 0, counts.substitutions > 0
    return {
        "importance, frequency": _pearson(counts.importance, counts.frequency, seen),
        "importance, substitutions": _pearson(counts.importance, counts.substitutions, replaced),
        "frequency, substitutions": _pearson(counts.frequency, counts.substitutions, replaced),
    }


def synonym_gaps(run: MeasuredRun) -> Float[np.ndarray, " words"] | None:
    """|φ of a word − φ of a synonym|, averaged over its synonyms, for words drawn at random; None where it cannot be told.

    Synonyms are what the attack of the run's audit would put in a word's place; its audit says which and from where.
    """
    if (kept := run.frames.get(GAPS)) is not None:
        return kept["gap"].to_numpy().astype(np.float64)
    counts = word_counts(run)
    if counts is None or run.audited is None:
        return None
    asked = read_findings(run.audited)[
        0
    ].options  # with paths, while what names the folder are digests of the files
    listed = _synonyms(
        tuple(counts.words), asked["attacks"][0], asked["attack_vectors"], asked["attack_synonyms"]
    )
    if listed is None:
        return None
    gaps = [
        float(np.abs(counts.importance[place] - counts.importance[list(others)]).mean())
        for place, others in listed
    ]
    return np.array(gaps)


@lru_cache(maxsize=16)
def classifier_of(folder: Path) -> Classifier | None:
    """Load the model of a run; None where it is not there."""
    try:
        return Classifier.from_pretrained(folder)
    except BadInput:
        return None


@lru_cache(maxsize=64)
def _word_counts(folder: Path) -> WordCounts | None:
    classifier, attacked = classifier_of(folder), folder / "attacked.parquet"
    if classifier is None or not attacked.is_file() or classifier.vocabulary.unknown is None:
        return None
    vocabulary, importance = classifier.vocabulary, classifier.word_importance()
    if importance is None:
        return None
    texts = AttackedTexts.read(attacked)
    frequency = np.bincount(vocabulary.encode(texts.originals).ids, minlength=len(vocabulary))
    replaced = [
        original[start:end]
        for original, changes in zip(texts.originals, texts.changes, strict=True)
        for (start, end), _ in changes
    ]
    substitutions = np.bincount(vocabulary.encode(replaced).ids.astype(np.int64), minlength=len(vocabulary))
    rest = slice(_SPECIAL, None)
    return WordCounts(vocabulary.words[rest], importance[rest], frequency[rest], substitutions[rest])


@lru_cache(maxsize=4)
def _synonyms(
    words: tuple[str, ...], attack: str, vectors: str | None, synonyms: str | None
) -> list[tuple[int, tuple[int, ...]]] | None:
    """Draw words that have known synonyms: the place of each and those of its first synonyms."""
    given: dict[str, Any] = {"recipe": attack, "similarity": False, "vectors": vectors, "synonyms": synonyms}
    try:
        candidates = ATTACKS.get(attack)(build(AttackOptions, given)).candidates
    except BadInput:
        return None
    if isinstance(candidates, Edits):  # it replaces no word by a synonym
        return None
    places = {word: place for place, word in enumerate(words)}
    drawn = np.random.default_rng(0).permutation(len(words)).tolist()
    found: list[tuple[int, tuple[int, ...]]] = []
    for first in range(0, len(drawn), SAMPLED):
        some = [(place, Source.cut(words[place])) for place in drawn[first : first + SAMPLED]]
        whole = [(place, source) for place, source in some if list(source.words) == [words[place]]]
        proposed = candidates.propose([(Draft(source), 0) for _, source in whole])
        for (place, _), each in zip(whole, proposed, strict=True):
            others = [places[word] for word in dict.fromkeys(each) if word in places][:SYNONYMS]
            if others:
                found.append((place, tuple(others)))
        if len(found) >= SAMPLED:
            break
    return found[:SAMPLED] or None


def _pearson(x: np.ndarray, y: np.ndarray, where: np.ndarray) -> Pearson:
    a, b = x[where].astype(np.float64), y[where].astype(np.float64)
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Pearson(np.nan, np.nan, len(a))
    found = stats.pearsonr(a, b)
    return Pearson(float(found.statistic), float(found.pvalue), len(a))
