from __future__ import annotations

import itertools

import pytest

from heedful.attacks.constraints.places import NoStopWords, ShareOfWords
from heedful.attacks.draft import Source
from heedful.attacks.driver import Driver
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import FunctionVictim

TEXTS = ["a fine film", "fine and good film", "a dull slow film", "a calm day", "fine fine fine film", "film"]
LABELS = [1, 1, 0, 1, 1, 1]


class Likeness:
    """Likes short words best, and refuses some."""

    def __init__(self, *, refused=()):
        self.refused, self.asked = refused, 0

    def compare(self, drafts):
        self.asked += len(drafts)
        words = [draft.word(draft.position) for draft in drafts]
        return [None if word in self.refused else 1 / (1 + len(word)) for word in words]


def run(attack, votes, texts=TEXTS, labels=LABELS, **options):
    found = {}
    cut = [
        (number, Source.cut(text), label)
        for number, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    driver = Driver(attack, FunctionVictim(votes), SearchSpace(attack), **options)
    driver.run(cut, done=lambda text: found.__setitem__(text.number, text))
    return [found[number] for number in range(len(texts))]


def test_by_hand(toy_attack, votes):
    # fine and good and film: 2 + 1 + 0.3. Without fine the score is highest, then without good, then without film.
    (text,) = run(toy_attack(), votes, ["fine and good film"], [1])
    assert text.draft.text == "okay and okay movie" and text.status == "failed"
    # The text, four words without, three for fine, two for good (of which one is worse), two for film
    assert text.queries == 1 + 4 + 3 + 2 + 2
    assert text.before[1] > text.after[1] > 0.5


def test_a_failed_attack_keeps_its_best_text_and_says_failed(toy_attack, votes):
    for text in run(toy_attack(), votes):
        if text.status == "failed" and text.draft.new:
            assert text.after[text.label] < text.before[text.label]
        assert (text.status == "successful") == (
            text.after.argmax() != text.label and text.status != "skipped"
        )


def test_a_text_that_is_wrong_before_is_skipped_unchanged(toy_attack, votes):
    (text,) = run(toy_attack(), votes, ["a dull film"], [1])
    assert (text.status, text.draft.text, text.queries) == ("skipped", "a dull film", 1)


def test_word_0_is_a_word_like_any_other(toy_attack, votes):
    (text,) = run(toy_attack(), votes, ["slow film"], [0])
    assert text.draft.new[0] == "calm" and text.status == "successful"


def test_ties_go_to_the_first_by_its_text(toy_attack, votes):
    attack = toy_attack(synonyms={"slow": ["zero", "naught", "null"]})
    (text,) = run(attack, votes, ["slow film"], [0])
    assert text.draft.text == "naught film"


@pytest.mark.parametrize("importance", ["deletion", "unknown", "saliency"])
def test_neither_order_nor_companions_change_a_result(toy_attack, votes, importance):
    attack = toy_attack(importance=importance)
    expected = [(t.draft.text, t.status, t.queries, t.read) for t in run(attack, votes)]
    for together in (1, 2):
        assert expected == [
            (t.draft.text, t.status, t.queries, t.read) for t in run(attack, votes, together=together)
        ]
    turned = run(attack, votes, TEXTS[::-1], LABELS[::-1])
    assert expected == [(t.draft.text, t.status, t.queries, t.read) for t in turned][::-1]


@pytest.mark.parametrize("refused", [(), ("okay",), ("calm",), ("okay", "good", "calm"), ("movie",)])
@pytest.mark.parametrize("importance", ["deletion", "saliency"])
def test_lazy_constraints_change_no_outcome_and_ask_less(toy_attack, votes, refused, importance):
    late, early = Likeness(refused=refused), Likeness(refused=refused)
    lazy = run(toy_attack(late, importance=importance), votes)
    eager = run(toy_attack(early, importance=importance, lazy=False), votes)
    assert [(t.draft.text, t.status) for t in lazy] == [(t.draft.text, t.status) for t in eager]
    assert late.asked <= early.asked
    assert all(one.queries >= other.queries for one, other in zip(lazy, eager, strict=True))


def test_of_what_succeeds_the_most_similar_is_taken(toy_attack, votes):
    attack = toy_attack(Likeness(), synonyms={"fine": ["dull", "dreadful", "bad"]})
    words = {"dull": -2.0, "dreadful": -9.0, "bad": -3.0}

    def victim(texts):
        from math import exp

        ps = [1 / (1 + exp(-sum(words.get(word, 0.2) for word in text.split()))) for text in texts]
        return [[1 - p, p] for p in ps]

    (text,) = run(attack, victim, ["a fine film"], [1])
    assert text.draft.text == "a bad film" and text.status == "successful"


def test_more_classes_than_two(toy_attack):
    # A lower probability of the true class need not make another win: the best by score is taken, as it is.
    table = {"one": (0.6, 0.4, 0.0), "two": (0.4, 0.3, 0.3), "six": (0.45, 0.55, 0.0)}

    def victim(texts):
        return [table[next((w for w in text.split() if w in table), "one")] for text in texts]

    (text,) = run(toy_attack(synonyms={"one": ["two", "six"]}), victim, ["the one"], [0])
    assert text.draft.text == "the two" and text.status == "failed"


def test_stop_words_and_the_share_of_words_are_kept(toy_attack, votes):
    (text,) = run(toy_attack(NoStopWords(frozenset({"fine"}))), votes, ["fine and good film"], [1])
    assert sorted(text.draft.new) == [2, 3]
    for share, most in ((0.01, 1), (0.5, 2), (0.51, 3)):
        (text,) = run(toy_attack(ShareOfWords(share)), votes, ["fine and good film"], [1])
        assert len(text.draft.new) == min(most, 3)


def test_no_attack_is_better_than_the_best_of_all_combinations(toy_attack, votes):
    attack = toy_attack()
    for text in run(attack, votes):
        words = text.source.words
        choices = [[word, *attack.candidates.synonyms.get(word, [])] for word in words]
        best = max(1 - votes([" ".join(some)])[0][text.label] for some in itertools.product(*choices))
        assert 1 - text.after[text.label] <= best + 1e-9
