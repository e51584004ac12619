from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.words import counterfitting
from heedful.data.words.counterfitting import PUBLISHED, counterfit, unit

NONE = np.zeros((0, 2), dtype=np.int64)


def pairs(*found: tuple[int, int]) -> np.ndarray:
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def by_loops(vectors, synonyms, antonyms, options):
    """The algorithm pair by pair, as the paper writes it."""
    current = {i: v / np.linalg.norm(v) for i, v in enumerate(vectors)}
    opposed = {(i, j) for a, b in antonyms.tolist() for i, j in ((a, b), (b, a)) if i != j}
    alike = {(i, j) for a, b in synonyms.tolist() for i, j in ((a, b), (b, a)) if i != j} - opposed
    first = {
        (i, j): 1 - current[i] @ current[j]
        for i in current
        for j in current
        if i != j and (i, j) not in opposed and current[i] @ current[j] > 1 - options.neighbour_distance
    }
    for _ in range(options.steps):
        moves: dict[int, list[np.ndarray]] = {i: [] for i in current}

        def gradient(i, j, now=current):
            return (now[i] @ now[j]) * now[i] - now[j]

        def distance(i, j, now=current):
            return 1 - now[i] @ now[j]

        for i, j in opposed:
            if distance(i, j) < options.antonym_margin:
                moves[i].append(options.antonym_rate * gradient(i, j))
        for i, j in alike:
            if distance(i, j) > options.synonym_margin:
                moves[i].append(-options.synonym_rate * gradient(i, j))
        for (i, j), least in first.items():
            if distance(i, j) > least + 1e-12:
                moves[i].append(-options.neighbour_rate * gradient(i, j))
        moved = {i: v + np.mean(moves[i], axis=0) if moves[i] else v for i, v in current.items()}
        current = {i: v / np.linalg.norm(v) for i, v in moved.items()}
    return np.array([current[i] for i in range(len(vectors))])


def test_one_step_by_hand():
    """u = (1, 0), v = (.6, .8): each moves by .1 (u·v) of itself less .1 of the other."""
    moved = counterfit(
        np.array([[1.0, 0.0], [0.6, 0.8]]),
        synonyms=NONE,
        antonyms=pairs((0, 1)),
        options=replace(PUBLISHED, steps=1),
    )
    u, v = np.array([1.0, -0.08]), np.array([0.536, 0.848])
    assert moved == pytest.approx(np.array([u / np.linalg.norm(u), v / np.linalg.norm(v)]))


def test_antonyms_are_pushed_to_the_margin_and_no_farther():
    moved = counterfit(
        np.array([[1.0, 0.1, 0.0], [1.0, -0.1, 0.0], [0.0, 0.0, 5.0]]),
        synonyms=NONE,
        antonyms=pairs((0, 1)),
        options=replace(PUBLISHED, steps=200),
    )
    # The last step that is taken is one from below the margin, by at most a tenth of a radian on either side.
    assert 1 <= 1 - moved[0] @ moved[1] < 1.2
    far = np.array([[1.0, 0.0], [-1.0, 0.5]])
    assert counterfit(far, synonyms=NONE, antonyms=pairs((0, 1))) == pytest.approx(unit(far), abs=0)


def test_synonyms_are_pulled_together_and_others_keep_every_bit():
    vectors = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.2, -1.0], [0.1, 0.1, 1.0]])
    moved = counterfit(vectors, synonyms=pairs((0, 1)), antonyms=NONE)
    assert moved[0] @ moved[1] > 0.9
    assert (moved[2:] == unit(vectors)[2:]).all()
    assert np.linalg.norm(moved, axis=1) == pytest.approx(1)


def test_neighbours_follow_a_word_that_is_moved():
    """2 stands beside 0, which antonym 1 pushes away."""
    vectors = np.array([[1.0, 0.0, 0.0], [0.9, 0.4, 0.0], [1.0, -0.3, 0.4]])
    given = {"synonyms": NONE, "antonyms": pairs((0, 1))}
    kept = counterfit(vectors, **given)
    alone = counterfit(vectors, **given, options=replace(PUBLISHED, neighbour_rate=0))
    assert kept[0] @ kept[2] > alone[0] @ alone[2]
    assert (alone[2] == unit(vectors)[2]).all() and not (kept[2] == alone[2]).all()


def test_antonyms_win_over_synonyms():
    vectors = np.array([[1.0, 0.1], [0.1, 1.0]])
    both = counterfit(vectors, synonyms=pairs((1, 0)), antonyms=pairs((0, 1)))
    assert (both == counterfit(vectors, synonyms=NONE, antonyms=pairs((0, 1)))).all()


places = st.tuples(st.integers(0, 6), st.integers(0, 6))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.lists(places, max_size=6), st.lists(places, max_size=6))
def test_it_is_what_loops_compute(seed, synonyms, antonyms):
    vectors = np.random.default_rng(seed).normal(0.6, 0.6, (7, 4))
    options = replace(PUBLISHED, steps=5)
    given_pairs = pairs(*synonyms), pairs(*antonyms)
    found = counterfit(vectors, synonyms=given_pairs[0], antonyms=given_pairs[1], options=options)
    assert found == pytest.approx(by_loops(vectors, *given_pairs, options), abs=1e-9)


def test_order_copies_and_blocks_change_nothing(monkeypatch):
    vectors = np.random.default_rng(0).normal(0.5, 0.5, (40, 6))
    near, far = (np.random.default_rng(seed).integers(0, 40, (12, 2)) for seed in (1, 2))
    once = counterfit(vectors, synonyms=near, antonyms=far)
    again = counterfit(vectors, synonyms=np.concatenate([near[::-1], near[:, ::-1]]), antonyms=far[::-1])
    assert (once == again).all()
    monkeypatch.setattr(counterfitting, "_SIMILARITIES", 100)
    monkeypatch.setattr(counterfitting, "_PAIRS", 3)
    assert counterfit(vectors, synonyms=near, antonyms=far) == pytest.approx(once, abs=1e-12)
