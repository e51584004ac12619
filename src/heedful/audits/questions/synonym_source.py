"""Where synonyms come from when nobody says: what the model was trained with, or what is at hand without a download."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tokenizers import models

from heedful.data.fetch import assets
from heedful.data.words.inflection import replaceable
from heedful.data.words.synonyms import Found, find_synonyms, nearest
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.runs import Run

_BEGINS = ("Ġ", "▁")  # how some tokenisers mark a piece that begins a word


class Synonyms(NamedTuple):
    """Words with their synonyms, whole words that the model knows (None: it reads pieces), and the source in words."""

    found: Found
    known: frozenset[str] | None
    told: str


def synonyms_for(classifier: Classifier, words: Iterable[str], source: str | None) -> Synonyms:
    """Find the synonyms of words; a replacement is always one that the model can read as a whole word.

    A source that the user gives may be fetched; the others are only taken where they are at hand.
    """
    by_word = isinstance(classifier.vocabulary.tokenizer.model, models.WordLevel)
    spelled = classifier.vocabulary.words if by_word else _whole_words(classifier.vocabulary.words)
    known = [word for word in spelled if replaceable(word)]
    chosen = source or _at_hand(classifier)
    if chosen is not None:
        found = find_synonyms(chosen, words, known)
        return Synonyms(found, frozenset(known) if by_word else None, f"Synonyms come from {chosen}.")
    if classifier.model.embedding is None:
        raise BadInput(
            "There are no synonyms at hand for word_stability: give vectors (heedful data list) or a file of synonyms "
            "with --synonyms."
        )
    numbers = {word: number for number, word in enumerate(spelled)}
    wanted = sorted({lower for word in words if replaceable(word) and (lower := word.lower()) in numbers})
    matrix = classifier.model.embedding.weight.detach().float().numpy()
    found = nearest(wanted, matrix[[numbers[w] for w in wanted]], known, matrix[[numbers[w] for w in known]])
    return Synonyms(
        found,
        frozenset(known),
        "Synonyms are the nearest words by the model's own embeddings, for want of others: give --synonyms.",
    )


def _at_hand(classifier: Classifier) -> str | None:
    """Name the vectors that the model was trained with, or the first that were fetched before."""
    fetched = [
        name for name, asset in assets.assets().items() if asset.kind == "vectors" and assets.find(name)
    ]
    trained = None
    if classifier.run is not None and (classifier.run / "config.yaml").is_file():
        trained = Run(classifier.run).config().get("vectors")
    if trained is not None and (trained in fetched or Path(trained).expanduser().is_file()):
        return str(trained)
    return fetched[0] if fetched else None


def _whole_words(pieces: list[str]) -> list[str]:
    """Give the pieces that may stand as a word of their own, as they are written in a text."""
    if any(piece.startswith(_BEGINS) for piece in pieces):
        return [piece[1:] for piece in pieces if piece.startswith(_BEGINS)]
    return [piece for piece in pieces if not piece.startswith("##")]
