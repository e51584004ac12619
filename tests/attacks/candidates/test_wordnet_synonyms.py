"""Synonyms come in WordNet's order, each once, whatever the hash seed."""

from __future__ import annotations

import pytest

from heedful.attacks.candidates import wordnet
from heedful.attacks.draft import Draft, Source

MEANINGS = [
    ("fine", "good", "okay", "all_right", "sound"),
    ("Fine", "good", "well", "u.s.", "solid", "to do", "sterling", "great", "ok"),
]


@pytest.fixture
def synonyms(monkeypatch):
    class Small:
        def synsets(self, word, parts):
            return iter(MEANINGS if word.lower() == "fine" else ())

    monkeypatch.setattr(wordnet, "wordnet", Small)
    return wordnet.WordNetSynonyms()


def test_the_order_is_that_of_the_meanings_and_phrases_are_left_out(synonyms):
    draft = Draft(Source.cut("a fine film , Fine"))
    one, other, none = synonyms.propose([(draft, 1), (draft, 3), (draft, 2)])
    expected = ["good", "okay", "sound", "Fine", "well", "solid", "sterling", "great", "ok"]
    assert one == expected
    assert other == ["fine", *(word for word in expected if word != "Fine")]
    assert none == []
