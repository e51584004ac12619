"""Everything an attack may put in the place of words: whatever depends on the rest of a text does not count."""

from __future__ import annotations

from heedful.attacks.constraints.constraint import ContextConstraint, TextConstraint
from heedful.attacks.constraints.places import NoStopWords
from heedful.attacks.draft import Source
from heedful.attacks.reach import substitutes


class Nothing:
    """Refuses every text."""

    def compare(self, drafts):
        return [None] * len(drafts)


class NothingFits:
    """Refuses every word where it stands."""

    def keep_each(self, places, words):
        return [[] for _ in words]


def test_every_word_has_its_substitutes_and_stop_words_none(toy_attack):
    assert isinstance(Nothing(), TextConstraint) and isinstance(NothingFits(), ContextConstraint)
    attack = toy_attack(NoStopWords(frozenset({"film"})), Nothing(), NothingFits())
    (found,) = substitutes(attack, [Source.cut("a fine film")])
    assert found == [[], ["fair", "good", "okay"], []]
