"""Everything an attack may put in the place of words: whatever depends on the rest of a text does not count."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from heedful.attacks.attack import Attack
from heedful.attacks.candidates.listed import Listed
from heedful.attacks.candidates.masked_words import MaskedWords
from heedful.attacks.candidates.neighbours import WordSpace
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.constraint import ContextConstraint, TextConstraint
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.substitutes import WordSimilarity
from heedful.attacks.draft import Source
from heedful.attacks.reach import substitutes
from heedful.attacks.searches.genetic import Genetic
from heedful.attacks.searches.greedy import Greedy
from heedful.attacks.searches.improved_genetic import ImprovedGenetic


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


def test_the_original_decides_where_words_are_replaced_once_or_candidates_are_those_of_the_original(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("fine good\n", encoding="utf-8")
    listed, expected = Listed(path), MaskedWords(SimpleNamespace(mask="[MASK]"))
    once = (NoWordTwice(),)
    assert Attack(listed, once, Greedy()).by_original
    assert Attack(OfOriginal(expected), (), Genetic()).by_original
    assert not Attack(listed, (), ImprovedGenetic()).by_original  # iga: neighbours of neighbours
    assert not Attack(expected, once, Greedy()).by_original  # bae: what the text suggests by now


def test_constraints_that_look_at_what_stands_there_now_do_not_count():
    space = WordSpace(["fine", "good"], np.eye(2, dtype=np.float32))
    kept = [WordSimilarity(space, 0.5, to).by_original for to in ("original", "current")]
    assert kept == [True, False]
