"""Lists of stop words: NLTK's, and TextFooler's own."""

from __future__ import annotations

from functools import cache
from importlib import resources

from heedful.data.words.wordnet import lexicon_folder
from heedful.errors import BadInput
from heedful.intake.files import read_text


@cache
def textfooler_stop_words() -> frozenset[str]:
    """Give the words that TextFooler never replaces."""
    text = resources.files(__package__).joinpath("textfooler_stop_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def nltk_stop_words() -> frozenset[str]:
    """Give NLTK's English stop words, which are fetched with WordNet."""
    path = lexicon_folder() / "corpora" / "stopwords" / "english"
    try:
        return frozenset(read_text(path).split())
    except (OSError, ValueError):
        raise BadInput(f"{path} cannot be read: delete its asset and run heedful data get wordnet.") from None
