from __future__ import annotations

import numpy as np

from heedful.attacks.candidates.neighbours import Neighbours, WordSpace, written_like
from heedful.attacks.constraints.stop_words import textfooler_stop_words
from heedful.attacks.constraints.substitutes import WordSimilarity
from heedful.attacks.draft import Draft, Source

SPACE = WordSpace(
    ["fine", "good", "cold", "u.s.", "okay"],
    np.array([[1, 0], [0.9, 0.1], [0, 1], [0.95, 0.05], [0.5, 0.5]], dtype=np.float32),
)


def test_neighbours_are_the_nearest_words_written_alike_and_single():
    draft = Draft(Source.cut("Fine FINE fine film"))
    found = Neighbours(SPACE, count=3).propose([(draft, place) for place in range(4)])
    assert found == [["Good", "Okay"], ["GOOD", "OKAY"], ["good", "okay"], []]


def test_the_cosine_is_to_the_original_word_and_words_without_a_vector_pass():
    draft = Draft(Source.cut("a fine film")).replaced(1, "cold")
    keep = WordSimilarity(SPACE, 0.8).keep
    assert keep(draft, 1, ["good", "okay", "Good", "unheard"]) == ["good", "Good", "unheard"]


def test_neighbours_against_brute_force():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(60, 5)).astype(np.float32)
    words = [chr(97 + i // 26) + chr(97 + i % 26) + "x" for i in range(60)]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    (found,) = Neighbours(WordSpace(words, vectors), count=7).propose([(Draft(Source.cut(words[3])), 0)])
    cosines = unit @ unit[3]
    expected = sorted((i for i in range(60) if i != 3), key=lambda i: -cosines[i])[:7]
    assert found == [words[i] for i in expected]


def test_case_is_kept():
    assert written_like("the", "OF") == "THE" and written_like("McDonald", "x9Y") == "McDonald"


def test_textfoolers_list_is_whole():
    words = textfooler_stop_words()
    assert len(words) == 266 and {"a", "yourselves", "couldn't", "should've"} <= words and "good" not in words
