"""What published attacks are assembled of, found by the user's options or said to be missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from heedful.attacks.candidates.candidates import Candidates
from heedful.attacks.candidates.listed import Listed
from heedful.attacks.candidates.neighbours import Neighbours, WordSpace
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.places import ShareOfWords
from heedful.attacks.constraints.substitutes import WordSimilarity
from heedful.attacks.options import AttackOptions
from heedful.data.words.synonym_files import is_synonym_file, is_vector_file
from heedful.errors import BadInput

if TYPE_CHECKING:
    from heedful.attacks.constraints.fluency import LanguageModel
    from heedful.attacks.language_model import MaskedLanguageModel


def own_synonyms(options: AttackOptions) -> Candidates | None:
    """Give the substitutes of a user's own file, if there is one."""
    if options.synonyms is None:
        return None
    path = _file(options.synonyms)
    if is_vector_file(path):
        raise BadInput(
            f"{path} holds vectors and no synonyms: give it as vectors ({flags('vectors')}), or a file of synonyms."
        )
    return Listed(path, count=options.neighbours)


def near_words(
    options: AttackOptions, *, count: int, min_cosine: float, to: Literal["original", "current"] = "original"
) -> tuple[Candidates, tuple[Constraint, ...]]:
    """Give a word's neighbours in the user's space of vectors, and the cosine that is asked of them.

    A file that lists neighbours is taken as it is: there are no cosines in it.
    """
    if options.vectors is None:
        raise BadInput(
            f"The attack {options.recipe} takes substitutes from counter-fitted vectors: make them with heedful "
            f"data make counterfitted and give the file ({flags('vectors')}), or synonyms of your own ({flags('synonyms')})."
        )
    path = _file(options.vectors)
    count = options.neighbours or count
    if is_synonym_file(path):
        if not {".json"} & set(path.suffixes[-2:]):
            raise BadInput(
                f"{path} holds words and no vectors: give vectors, or the neighbours of each word in JSON, or synonyms as such "
                f"({flags('synonyms')})."
            )
        return Listed(path, count=count), ()
    space = WordSpace.read(path)
    least = min_cosine if options.min_cosine is None else options.min_cosine
    return Neighbours(space, count=count), (WordSimilarity(space, least, to),)


def substitutes(
    options: AttackOptions, *, count: int, min_cosine: float, to: Literal["original", "current"] = "original"
) -> tuple[Candidates, tuple[Constraint, ...]]:
    """Give the user's own synonyms, if there are any, else neighbours, and what is asked of them."""
    own = own_synonyms(options)
    return (own, ()) if own is not None else near_words(options, count=count, min_cosine=min_cosine, to=to)


def masked_language_model(options: AttackOptions, what_for: str) -> MaskedLanguageModel:
    """Load the user's masked language model."""
    from heedful.attacks.language_model import MaskedLanguageModel

    return MaskedLanguageModel.load(_language_model(options, what_for, such_as="bert-base-uncased"))


def language_model(options: AttackOptions, what_for: str) -> LanguageModel:
    """Load the user's language model, which may fill gaps or go on with a text."""
    from heedful.attacks.causal_language_model import CausalLanguageModel
    from heedful.attacks.language_model import MaskedLanguageModel
    from heedful.attacks.pretrained import is_masked

    name = _language_model(options, what_for, such_as="gpt2 or bert-base-uncased")
    masked = is_masked(
        name,
        what="a language model",
        hint="give the folder of one, or its name, such as gpt2 or bert-base-uncased",
    )
    return MaskedLanguageModel.load(name) if masked else CausalLanguageModel.load(name)


def similar_sentences(options: AttackOptions, *, least: float) -> tuple[Constraint, ...]:
    """Give the constraint that fifteen words around a substitute are like those of the original text, if it is asked."""
    if not options.similarity:
        return ()
    from heedful.attacks.constraints.sentence_similarity import SentenceSimilarity

    least = least if options.min_similarity is None else options.min_similarity
    return (SentenceSimilarity.load(options.sentence_encoder, least=least, window=15, to="original"),)


def sememes(options: AttackOptions) -> Candidates | None:
    """Give words with the same sememes by the user's file, if there is one."""
    if options.sememes is None:
        return None
    from heedful.attacks.candidates.sememes import SameSememes

    return SameSememes(_file(options.sememes))


def share_of_words(options: AttackOptions, usual: float | None = None) -> tuple[Constraint, ...]:
    """Give the constraint on how many words are replaced, if there is one."""
    share = usual if options.max_changed is None else options.max_changed
    return () if share is None else (ShareOfWords(share),)


def _language_model(options: AttackOptions, what_for: str, *, such_as: str) -> str:
    if options.language_model is None:
        raise BadInput(
            f"The attack {options.recipe} {what_for}: give one ({flags('language_model', 'FOLDER')}), such as {such_as}."
        )
    return options.language_model


def flags(option: str, kind: str = "FILE") -> str:
    """Name an option as it is given in Python, to heedful attack and to audits.

    >>> flags("vectors")
    'vectors, --vectors FILE, of audits --attack-vectors FILE'
    """
    flag = option.replace("_", "-")
    return f"{option}, --{flag} {kind}, of audits --attack-{flag} {kind}"


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_file():
        raise BadInput(f"There is no file {path}: check the path.")
    return path
