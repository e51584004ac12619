from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from heedful.attacks.constraints.places import ShareOfWords
from heedful.attacks.searches import particle_swarm
from heedful.attacks.searches.particle_swarm import (
    ParticleSwarm,
    move_probabilities,
    next_velocity,
    turned,
)

TEXTS = ["a fine film", "fine and good film", "a dull slow film", "a calm day", "fine fine fine film", "film"]
LABELS = [1, 1, 0, 1, 1, 1]
SEARCH = ParticleSwarm(particles=8, iterations=4)


def outcome(texts):
    return [(text.draft.text, text.status, text.queries, text.read) for text in texts]


def test_the_faster_a_particle_the_more_probably_it_takes_the_bests_word():
    # TextAttack turns this round, so that particles stay where they differ from the best.
    probabilities = move_probabilities(np.array([-3.0, 0.0, 3.0]))
    assert probabilities.tolist() == pytest.approx([1 / (1 + math.exp(3)), 0.5, 1 / (1 + math.exp(-3))])
    words, best = ("same", "other"), ("same", "best")
    velocity = next_velocity(np.zeros(2), words, (best, best), inertia=0.8, most=3.0)
    assert velocity.tolist() == pytest.approx([-1.2, 1.2])
    assert turned(words, best, move_probabilities(velocity), np.array([0.5, 0.5])) == best
    assert turned(words, best, np.zeros(2), np.zeros(2)) == words
    assert turned(words, best, np.ones(2), np.full(2, 0.999)) == best


def test_particles_turn_where_they_differ_from_the_best(run_search, monkeypatch):
    asked = {True: [], False: []}

    def watched(words, towards, probabilities, numbers):
        for word, other, probability in zip(words, towards, probabilities, strict=True):
            asked[word != other].append(probability)
        return turned(words, towards, probabilities, numbers)

    monkeypatch.setattr(particle_swarm, "turned", watched)
    texts = ["a fine , good and calm film : fine , good , calm", "fine fine fine good good calm film"]
    run_search(ParticleSwarm(particles=20, iterations=8), texts, [1, 1])
    assert len(asked[True]) > 50 and np.mean(asked[True]) > np.mean(asked[False]) + 0.1


def test_velocities_are_bounded():
    velocity = np.array([3.0, -3.0])
    for _ in range(5):
        velocity = next_velocity(velocity, ("a", "b"), [("x", "b")] * 2, inertia=0.2, most=3.0)
        assert np.abs(velocity).max() <= 3.0


def test_batches_order_and_companions_change_nothing(run_search):
    expected = outcome(run_search(SEARCH, TEXTS, LABELS))
    assert outcome(run_search(SEARCH, TEXTS, LABELS, together=1)) == expected
    assert outcome(run_search(SEARCH, TEXTS[::-1], LABELS[::-1]))[::-1] == expected


def test_never_better_than_all_combinations(run_search, votes, synonyms):
    for text in run_search(SEARCH, TEXTS, LABELS):
        choices = [[word, *synonyms.get(word, [])] for word in text.source.words]
        best = max(1 - votes([" ".join(some)])[0][text.label] for some in itertools.product(*choices))
        assert 1 - text.after[text.label] <= best + 1e-9
        if text.status == "failed" and text.draft.new:
            assert text.after[text.label] < text.before[text.label]


def test_particles_mutate_until_half_of_the_text_is_replaced(run_search):
    # Nothing here ever reaches the goal: mutation stops at a share of one half, and moves alone go beyond it.
    strength = {f"w{n}": 1.0 for n in range(8)}
    synonyms = {word: [word + "x"] for word in strength}

    def victim(texts):
        return [[0.04 * text.count("x"), 1 - 0.04 * text.count("x")] for text in texts]

    one = ParticleSwarm(particles=1, iterations=30)
    (text,) = run_search(one, [" ".join(strength)], [1], victim=victim, synonyms=synonyms)
    assert len(text.draft.new) == 4  # its own best and the best of all are itself


def test_the_share_of_words_is_kept(run_search):
    (text,) = run_search(SEARCH, ["fine good slow film fine good dull film"], [1], ShareOfWords(0.25))
    assert 0 < len(text.draft.new) <= 2
    (text,) = run_search(SEARCH, ["film " * 10], [1], ShareOfWords(0.2))
    assert len(text.draft.new) == 2  # nor do moves towards others that replaced other words go beyond it


def test_a_text_without_candidates_stays(run_search):
    (text,) = run_search(SEARCH, ["a calm day"], [1])
    assert (text.status, text.draft.text, text.queries) == ("failed", "a calm day", 1)
