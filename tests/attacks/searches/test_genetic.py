from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from heedful.attacks.constraints.places import NoStopWords, ShareOfWords
from heedful.attacks.draft import Draft, Source
from heedful.attacks.searches.genetic import Genetic, Member, crossed
from heedful.attacks.searches.improved_genetic import ImprovedGenetic
from heedful.attacks.searches.random_numbers import draw, selection_probabilities, text_generator

TEXTS = ["a fine film", "fine and good film", "a dull slow film", "a calm day", "fine fine fine film", "film"]
LABELS = [1, 1, 0, 1, 1, 1]
SEARCHES = [Genetic(population=8, generations=4), ImprovedGenetic(population=8, generations=4)]


def outcome(texts):
    return [(text.draft.text, text.status, text.queries, text.read) for text in texts]


def test_fitter_parents_are_preferred():
    # By hand: exp(3) / (exp(3) + exp(1/3)); TextAttack gives these two the other way round.
    expected = math.exp(3) / (math.exp(3) + math.exp(1 / 3))
    assert selection_probabilities([0.9, 0.1], 0.3).tolist() == pytest.approx([expected, 1 - expected])
    assert np.diff(selection_probabilities([0.1, 0.2, 0.7], 0.3)).min() > 0
    generator = np.random.default_rng(0)
    drawn = [draw(generator, [0, 1], [expected, 1 - expected]) for _ in range(2000)]
    assert np.mean(drawn) == pytest.approx(1 - expected, abs=0.02)


@pytest.mark.parametrize("search", [Genetic, ImprovedGenetic])
def test_children_have_their_words_of_the_fitter_parents(search):
    class Anything:
        def admits(self, draft):
            return True

    draft = Draft(Source.cut("one two three"))
    fit, unfit = (draft.with_words(dict.fromkeys(range(3), word)) for word in ("fit", "unfit"))
    members = [Member(unfit, 0.1, False, (1, 1, 1)), Member(fit, 0.9, False, (1, 1, 1))]
    children = search(population=400)._children(members, np.random.default_rng(0), Anything())
    words = [child.draft.word(position) for child in children for position in range(3)]
    assert words.count("fit") / len(words) > 0.9  # .935 is expected


def test_what_has_no_weight_is_never_drawn_and_without_weights_all_are():
    generator = np.random.default_rng(0)
    assert {draw(generator, [3, 5, 7, 9], [0, 1, 2, 0]) for _ in range(200)} == {5, 7}
    assert {draw(generator, [3, 5], [0.0, 0.0]) for _ in range(50)} == {3, 5}


def test_a_text_has_random_numbers_of_its_own():
    one, same, other = (Source.cut(text) for text in ("a film", "a film", "a day"))
    first = text_generator(0, one).random()
    assert text_generator(0, same).random() == first
    assert first not in (text_generator(0, other).random(), text_generator(1, one).random())


def test_a_child_has_each_word_of_one_parent_with_how_often_it_was_replaced():
    draft = Draft(Source.cut("one two three"))
    mother = Member(draft.replaced(0, "uno"), 0.1, False, (1, 0, 0))
    father = Member(draft.replaced(2, "tre").replaced(0, "un"), 0.2, False, (2, 0, 3))
    child = crossed(mother, father, [True, True, False])
    assert child.draft.text == "uno two tre" and child.times == (1, 0, 3)
    assert dict(crossed(mother, father, [True, False, True]).draft.new) == {0: "uno"}


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_batches_order_and_companions_change_nothing(run_search, search):
    expected = outcome(run_search(search, TEXTS, LABELS))
    assert outcome(run_search(search, TEXTS, LABELS, together=1)) == expected
    assert outcome(run_search(search, TEXTS[::-1], LABELS[::-1]))[::-1] == expected


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_never_better_than_all_combinations_and_as_good_on_short_texts(run_search, search, votes, synonyms):
    for text in run_search(search, TEXTS, LABELS):
        if text.status == "skipped":
            continue
        choices = [[word, *synonyms.get(word, [])] for word in text.source.words]
        best = max(1 - votes([" ".join(some)])[0][text.label] for some in itertools.product(*choices))
        assert 1 - text.after[text.label] <= best + 1e-9
        if text.status == "failed":
            assert 1 - text.after[text.label] == pytest.approx(best)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_bounds_hold_through_crossover(run_search, search):
    texts = ["fine good slow film fine good dull film film fine"]
    for share, most in ((0.1, 1), (0.3, 3)):
        (text,) = run_search(search, texts, [1], ShareOfWords(share))
        assert 0 < len(text.draft.new) <= most
    (text,) = run_search(search, texts, [1], NoStopWords(frozenset({"fine"})))
    assert all(text.source.words[position] != "fine" for position in text.draft.new)


def test_a_text_without_candidates_stays(run_search):
    (text,) = run_search(Genetic(), ["a calm day"], [1])
    assert (text.status, text.draft.text, text.queries) == ("failed", "a calm day", 1)


def reading(asked, votes):
    def victim(texts):
        asked.extend(texts)
        return votes(texts)

    return victim


def test_word_0_is_a_word_like_any_other_in_the_first_population(run_search, votes):
    asked: list[str] = []
    # No generation: what is read is the text, and each word's substitutes alone.
    (text,) = run_search(
        ImprovedGenetic(generations=0), ["fine and good film"], [1], victim=reading(asked, votes)
    )
    replaced = [
        [
            place
            for place, (a, b) in enumerate(zip(one.split(), ["fine", "and", "good", "film"], strict=True))
            if a != b
        ]
        for one in asked
    ]
    assert sorted(map(tuple, replaced)) == [(), (0,), (0,), (0,), (2,), (2,), (3,), (3,)]
    assert text.draft.text == "okay and good film"


def test_a_word_is_replaced_as_often_as_it_may(run_search, votes):
    chain = {"one": ["two"], "two": ["three"], "three": ["four"], "four": ["five"]}
    strength = {"one": 0.9, "two": 0.8, "three": 0.7, "four": 0.6, "five": 0.55}

    class Current:
        def propose(self, places):
            return [chain.get(draft.word(position), []) for draft, position in places]

    from heedful.attacks.attack import Attack
    from heedful.attacks.driver import Driver
    from heedful.attacks.space import SearchSpace
    from heedful.attacks.victim import FunctionVictim

    def victim(texts):
        return [[1 - strength[text], strength[text]] for text in texts]

    for times, expected in ((1, "two"), (3, "four"), (5, "five")):
        attack = Attack(Current(), (), ImprovedGenetic(population=4, most_times=times), lazy=False)
        done: list = []
        Driver(attack, FunctionVictim(victim), SearchSpace(attack)).run(
            [(0, Source.cut("one"), 1)], done=done.append
        )
        assert done[0].draft.text == expected
