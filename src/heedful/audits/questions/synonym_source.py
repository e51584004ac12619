"""Where synonyms come from by default: the vectors the model was trained with, or what is there without a download."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import models

from heedful.data.fetch import assets
from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.data.words.inflection import replaceable
from heedful.data.words.synonym_files import is_synonym_file, read_synonym_file
from heedful.data.words.synonyms import Replacements, find_synonyms, nearest
from heedful.errors import BadInput
from heedful.models.stages import Auditable, Opaque

_NONE = "There are no synonyms for word_stability: give vectors (heedful data list) or a file of synonyms with --synonyms."
_BEGINS = ("Ġ", "▁")  # how some tokenisers mark a piece that begins a word


class Synonyms(NamedTuple):
    """Words with their synonyms, whole words that the model knows (None: it reads pieces), and their origin in a sentence."""

    found: Replacements
    known: frozenset[str] | None
    origin: str


def synonyms_for(classifier: Auditable, words: Iterable[str], source: str | None) -> Synonyms:
    """Find the synonyms of words; a replacement is always one that the model can read as a whole word.

    A source that the user names may be fetched; others are only used if they are already there.
    """
    if isinstance(classifier.model, Opaque):
        return _for_any_reader(classifier, words, source)
    by_word = isinstance(classifier.vocabulary.tokenizer.model, models.WordLevel)
    spelled = classifier.vocabulary.words if by_word else _whole_words(classifier.vocabulary.words)
    known = [word for word in spelled if replaceable(word)]
    chosen = source or _at_hand(classifier)
    if chosen is not None:
        found = find_synonyms(chosen, words, known)
        return Synonyms(found, frozenset(known) if by_word else None, f"Synonyms come from {chosen}.")
    if not by_word:
        raise BadInput(_NONE)
    numbers = {word: number for number, word in enumerate(spelled)}
    wanted = sorted({lower for word in words if replaceable(word) and (lower := word.lower()) in numbers})
    matrix = _vectors(classifier, len(spelled))
    found = nearest(wanted, matrix[[numbers[w] for w in wanted]], known, matrix[[numbers[w] for w in known]])
    return Synonyms(
        found,
        frozenset(known),
        "Synonyms are the nearest words by the model's own embeddings, because there are no others: give --synonyms.",
    )


def _for_any_reader(classifier: Auditable, words: Iterable[str], source: str | None) -> Synonyms:
    """Find synonyms for a model that does not say which words it knows: among the words of its texts, or in a file."""
    chosen = source or _at_hand(classifier)
    if chosen is None:
        raise BadInput(_NONE)
    written = sorted(set(words))
    path = Path(chosen).expanduser()
    listed = chosen not in assets.assets() and path.is_file() and is_synonym_file(path)
    others = (
        [word for some in read_synonym_file(path).values() for word in some]
        if listed
        else [word.lower() for word in written]
    )
    known = [word for word in dict.fromkeys(others) if replaceable(word)]
    origin = (
        f"Synonyms come from {chosen}{'' if listed else ', among the words of these texts'}; whether the model knows them is not "
        f"known."
    )
    return Synonyms(find_synonyms(chosen, written, known), None, origin)


def _at_hand(classifier: Auditable) -> str | None:
    """Name the vectors that the model was trained with, or the first that were fetched before."""
    fetched = [
        name for name, asset in assets.assets().items() if asset.kind == "vectors" and assets.find(name)
    ]
    trained = None if classifier.trained is None else classifier.trained.vectors
    if trained is not None and (trained in fetched or Path(trained).expanduser().is_file()):
        return trained
    return fetched[0] if fetched else None


def _vectors(classifier: Auditable, words: int) -> np.ndarray:
    """Embed every word that the model knows, as if they were one text."""
    ids = torch.arange(words)[None]
    real = torch.ones_like(ids, dtype=torch.bool)
    tokens = Tokens(
        texts=[""],
        ids=ids,
        mask=real,
        present=real,
        offsets=torch.zeros(1, words, 2, dtype=torch.long),
        word_of=ids,
    )
    nothing = torch.zeros(1, dtype=torch.long)
    with torch.no_grad():
        embedded = classifier.model.embed(Batch(tokens, labels=nothing, rows=nothing))
    vectors: np.ndarray = embedded[0].float().numpy()
    return vectors


def _whole_words(pieces: list[str]) -> list[str]:
    """Return the pieces that are whole words, as they are written in a text."""
    if any(piece.startswith(_BEGINS) for piece in pieces):
        return [piece[1:] for piece in pieces if piece.startswith(_BEGINS)]
    return [piece for piece in pieces if not piece.startswith("##")]
