"""Substitutes of a file: all that is listed, and nothing is lost for its letters."""

from __future__ import annotations

import json

import pytest

from heedful.attacks.candidates.listed import Listed
from heedful.attacks.draft import Draft, Source
from heedful.data.words.synonym_files import read_synonym_file

WORDS = {"doctor": ["Dr.", "md", "it's", "well-known", "two words"], "old": ["up"]}


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_short_words_apostrophes_hyphens_and_abbreviations_stay(tmp_path, kind):
    path = tmp_path / f"words.{kind}"
    lines = [f"{word}, {', '.join(w for w in some if ' ' not in w)}" for word, some in WORDS.items()]
    path.write_text(json.dumps(WORDS) if kind == "json" else "\n".join(lines), encoding="utf-8")
    draft = Draft(Source.cut("an old doctor"))
    assert Listed(path).propose([(draft, 2), (draft, 1)]) == [["dr.", "md", "it's", "well-known"], ["up"]]
    assert read_synonym_file(path) == {"doctor": [], "old": []}  # where a text must keep its number of words
