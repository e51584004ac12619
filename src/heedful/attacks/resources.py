"""What published attacks are assembled of, found by the user's options or said to be missing."""

from __future__ import annotations

from pathlib import Path

from heedful.attacks.candidates.candidates import Candidates
from heedful.attacks.candidates.listed import Listed
from heedful.attacks.candidates.neighbours import Neighbours, WordSpace
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.places import ShareOfWords
from heedful.attacks.constraints.words import WordSimilarity
from heedful.attacks.options import AttackOptions
from heedful.data.words.synonym_files import is_synonym_file
from heedful.errors import BadInput


def own_synonyms(options: AttackOptions) -> Candidates | None:
    """Give the substitutes of a user's own file, if there is one."""
    return None if options.synonyms is None else Listed(_file(options.synonyms), count=options.neighbours)


def near_words(
    options: AttackOptions, *, count: int, min_cosine: float
) -> tuple[Candidates, tuple[Constraint, ...]]:
    """Give a word's neighbours in the user's space of vectors, and the cosine that is asked of them.

    A file that lists neighbours is taken as it is: there are no cosines in it.
    """
    if options.vectors is None:
        raise BadInput(
            f"The attack {options.recipe} takes substitutes from counter-fitted vectors: make them with heedful "
            f"data make counterfitted and give the file (vectors, --vectors FILE), or synonyms of your own (synonyms, --synonyms FILE)."
        )
    path = _file(options.vectors)
    count = options.neighbours or count
    if is_synonym_file(path):
        return Listed(path, count=count), ()
    space = WordSpace.read(path)
    least = min_cosine if options.min_cosine is None else options.min_cosine
    return Neighbours(space, count=count), (WordSimilarity(space, least),)


def share_of_words(options: AttackOptions, usual: float | None = None) -> tuple[Constraint, ...]:
    """Give the constraint on how many words are replaced, if there is one."""
    share = usual if options.max_changed is None else options.max_changed
    return () if share is None else (ShareOfWords(share),)


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_file():
        raise BadInput(f"There is no file {path}: check the path.")
    return path
