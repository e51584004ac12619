"""Which words of English are forms of one word, and which say little by themselves: a rule, not a dictionary."""

from __future__ import annotations

_SUFFIXES = ("'s", "’s", "s", "es", "ed", "ing", "ly", "er", "est", "ers", "ings", "n", "en", "y", "'", "’")
_LEAST = 2  # letters that must be left of a word without its suffix
_LETTERS = 3  # of a word that may be replaced

FUNCTION_WORDS = frozenset(
    """
    about above after again against all also although and another any anybody anyone anything are because been
    before being below between both but can cannot could did does doing down during each either ever every
    everybody everyone everything few for from had has have having her here hers herself him himself his how
    however into its itself just may might more most much must myself neither never nobody none nor not nothing
    now off once one only other others ought our ours ourselves out over own per quite rather same several shall
    she should since some somebody someone something still such than that the their theirs them themselves then
    there these they this those though through thus too toward towards two under unless until upon very was
    were what whatever when where whether which while who whoever whom whose why will with within without would
    yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 a list of quoted words is longer than the page
)
"""English words with a grammatical job: replaced only where a text has no others."""


def stems(word: str) -> set[str]:
    """Give what may be the stem of a word: itself, and what is left without each usual ending, spelled the same way.

    Endings are s, es, ed, ing, ly, er, est, n, en, y, and plurals and genitives of them. A doubled last consonant counts once,
    a last i as y, and a last e not at all, so that the forms of stop, try and make meet. Irregular forms (went,
    better) are not known.

    >>> sorted(stems("stopping")), sorted(stems("tries"))
    (['stop', 'stopping'], ['tries', 'try'])
    """
    word = word.casefold()
    cut = {word.removesuffix(suffix) for suffix in _SUFFIXES if len(word) - len(suffix) >= _LEAST}
    return {_spelled(form) for form in cut | {word}}


def inflected(word: str, other: str) -> bool:
    """Whether two words are the same, or differ by inflection alone.

    >>> inflected("Movie", "movies"), inflected("runner", "running"), inflected("warm", "cold")
    (True, True, False)
    """
    return not stems(word).isdisjoint(stems(other))


def replaceable(word: str) -> bool:
    """Whether a word may be replaced, or replace another: three letters at least, and nothing but letters.

    >>> replaceable("film"), replaceable("it"), replaceable("1984"), replaceable("well-made")
    (True, False, False, False)
    """
    return len(word) >= _LETTERS and word.isalpha()


def _spelled(stem: str) -> str:
    short = stem.rstrip("e") or stem
    if len(short) > _LEAST and short[-1] == short[-2]:
        short = short[:-1]
    return short[:-1] + "y" if short.endswith("i") else short
