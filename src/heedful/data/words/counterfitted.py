"""Counter-fitted vectors from any vectors and lists of synonyms and antonyms, written to a file that attacks read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from heedful.data.words.counterfitting import Vectors, counterfit, unit
from heedful.data.words.space_quality import SpaceQuality, space_quality
from heedful.data.words.vector_files import read_vector_file
from heedful.data.words.vectors import locate_vectors
from heedful.data.words.word_pairs import find_lexicon, known_pairs, read_simlex, read_word_pairs
from heedful.data.words.wordnet import wordnet
from heedful.errors import BadInput
from heedful.progress import QUIET, Watcher
from heedful.storage import write_bytes

MOST_WORDS = 100_000
"""All words are compared with all others: a hundred thousand take minutes, and two million would take days."""
_SIMLEX = "SimLex-999.txt"


class Constraints(NamedTuple):
    """Files of synonyms and antonyms, and whether WordNet's antonyms are added."""

    synonyms: tuple[Path, ...] = ()
    antonyms: tuple[Path, ...] = ()
    wordnet: bool = True


class Counterfitted(NamedTuple):
    """What was made, and how good it is."""

    path: Path
    words: int
    synonyms: int
    """Pairs, both words of which have vectors, as `antonyms`."""
    antonyms: int
    simlex_pairs: int
    before: SpaceQuality
    after: SpaceQuality


def lexicon_constraints(*, with_wordnet: bool = True) -> Constraints:
    """Give the authors' lists in the folder lexicon of $HEEDFUL_DATA, as far as they are there."""
    synonyms, antonyms = (
        tuple(path for name in names if (path := find_lexicon(name)) is not None)
        for names in (("ppdb_synonyms.txt",), ("ppdb_antonyms.txt", "wordnet_antonyms.txt"))
    )
    return Constraints(synonyms, antonyms, with_wordnet)


def make_counterfitted(
    source: str,
    output: Path,
    *,
    constraints: Constraints,
    simlex: Path | None = None,
    most_words: int = MOST_WORDS,
    watcher: Watcher = QUIET,
) -> Counterfitted:
    """Counter-fit vectors, measure them before and after, and write them to an .npz with `words` and `vectors`.

    `source` names vectors that can be fetched, or a file; its first words are taken, `most_words` at most. SimLex-999 is looked
    for in the folder lexicon of $HEEDFUL_DATA if no file is given.
    """
    if output.suffix != ".npz":
        raise BadInput(f"{output} must end in .npz: choose such a name for the vectors.")
    if output.is_dir():
        raise BadInput(f"{output} is a folder: choose a file for the vectors.")
    # Small files first: what is wrong with them is said before vectors are read.
    synonyms, antonyms = _read(constraints.synonyms), _read(constraints.antonyms)
    if constraints.wordnet:
        antonyms += wordnet().antonyms()
    if not synonyms and not antonyms:
        raise BadInput("There are no synonyms and no antonyms: give a file of either, or allow WordNet's.")
    path = locate_vectors(source, watcher=watcher)
    with watcher.status("Reading vectors"):
        rows, matrix = read_vector_file(path, None, first=most_words)
    near, opposed = known_pairs(synonyms, rows), known_pairs(antonyms, rows)
    if not len(near) and not len(opposed):
        raise BadInput(
            f"The vectors {source} have both words of no pair of synonyms or antonyms: are they for another language?"
        )
    simlex = simlex or find_lexicon(_SIMLEX)
    scored = None if simlex is None else read_simlex(simlex, rows)
    fitted = counterfit(matrix, synonyms=near, antonyms=opposed, watcher=watcher)
    with watcher.status("Measuring vectors before and after"):
        before, after = (
            space_quality(vectors, antonyms=opposed, simlex=scored) for vectors in (unit(matrix), fitted)
        )
    write_bytes(output, _packed(list(rows), fitted))
    pairs = [len(np.unique(np.sort(found, axis=1), axis=0)) for found in (near, opposed)]
    return Counterfitted(
        output, len(rows), pairs[0], pairs[1], 0 if scored is None else len(scored.scores), before, after
    )


def _read(paths: Sequence[Path]) -> list[tuple[str, str]]:
    return [pair for path in paths for pair in read_word_pairs(path)]


def _packed(words: list[str], vectors: Vectors) -> bytes:
    content = io.BytesIO()
    np.savez(content, words=np.array(words, dtype=np.str_), vectors=vectors.astype(np.float32))
    return content.getvalue()
