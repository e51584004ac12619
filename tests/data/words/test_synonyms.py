"""Synonyms: which words are forms of one another, which is nearest, and what a bad file says."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.tokens import Tokens
from heedful.data.words.inflection import inflected, replaceable
from heedful.data.words.substitution import recased, replace_words, word_spans, words_of
from heedful.data.words.synonym_files import is_synonym_file, read_synonym_file
from heedful.data.words.synonyms import find_synonyms, nearest
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput

FORMS = [
    ("film", "films"),
    ("Film", "FILM"),
    ("movie", "movies"),
    ("box", "boxes"),
    ("glass", "glasses"),
    ("try", "tries"),
    ("try", "trying"),
    ("stop", "stopped"),
    ("run", "running"),
    ("runner", "runs"),
    ("make", "making"),
    ("nice", "nicer"),
    ("nicest", "nicely"),
    ("happy", "happier"),
    ("happily", "happiest"),
    ("agree", "agreed"),
    ("use", "used"),
    ("dog", "dog's"),
    ("interest", "interesting"),
    ("take", "taken"),
    ("blow", "blown"),
    ("others", "other"),
    ("see", "seeing"),
]
OTHERS = [
    ("film", "movie"),
    ("good", "great"),
    ("bad", "sad"),
    ("warm", "cold"),
    ("king", "kind"),
    ("best", "beast"),
    ("plot", "story"),
    ("dull", "dumb"),
    ("funny", "sunny"),
    ("actor", "actress"),
    ("went", "go"),
]


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_forms_of_one_word(one, other):
    assert inflected(one, other) and inflected(other, one)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_words(one, other):
    assert not inflected(one, other) and not inflected(other, one)


@given(st.text("abeinsyrtgléß", max_size=12))
def test_every_word_is_a_form_of_itself_in_any_case(word):
    assert inflected(word, word) and inflected(word, word.upper())


def test_what_may_be_replaced():
    assert [w for w in ("it", "the", "naïve", "3rd", "a-b", "don't", "#top", "") if replaceable(w)] == [
        "the",
        "naïve",
    ]


def brute_force(words, vectors, candidates, others):
    found = {}
    for word, v in zip(words, vectors, strict=True):
        ranked = sorted(
            (-(v @ o) / np.linalg.norm(v) / np.linalg.norm(o), place) for place, o in enumerate(others)
        )
        chosen = [candidates[place] for _, place in ranked if not inflected(word, candidates[place])]
        if chosen:
            found[word] = chosen[0]
    return found


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_the_nearest_word_is_nearest_and_no_form_of_the_word(seed):
    rng = np.random.default_rng(seed)
    words = ["film", "warm", "plot", "make"]
    candidates = ["films", "movie", "warmly", "warm", "hot", "plots", "story", "making", "plotted", "build"]
    vectors, others = (rng.normal(size=(n, 3)).astype(np.float32) for n in (len(words), len(candidates)))
    found = nearest(words, vectors, candidates, others)
    assert found == brute_force(words, vectors.astype(float), candidates, others.astype(float))


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    words = [a + b + "x" for a in "abcdefgh" for b in "klmnop"]
    vectors = rng.normal(size=(len(words), 5)).astype(np.float32)
    whole = nearest(words, vectors, words, vectors)
    monkeypatch.setattr("heedful.data.words.synonyms._SIMILARITIES", 3 * len(words))
    assert nearest(words, vectors, words, vectors) == whole
    assert all(word != synonym for word, synonym in whole.items())


def test_only_forms_of_the_word_are_no_synonyms():
    vectors = np.ones((1, 2), dtype=np.float32)
    assert nearest(["film"], vectors, ["films", "filming"], np.ones((2, 2), dtype=np.float32)) == {}
    assert nearest(["film"], vectors, [], np.ones((0, 2), dtype=np.float32)) == {}


def test_a_file_of_synonyms_in_every_form(tmp_path):
    path = tmp_path / "synonyms.txt"
    path.write_text(
        "\ufeff# made by hand\n\nGood fine, great\nfilm\tmovie\tpicture # the best\nbad,poor,so-so\nfilm flick\n",
        encoding="utf-8",
    )
    assert read_synonym_file(path) == {
        "good": ["fine", "great"],
        "film": ["movie", "picture", "flick"],
        "bad": ["poor"],  # "so-so" would become several words
    }


def packed(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def test_synonyms_may_be_json_and_packed(tmp_path):
    listed = {"Film": ["movie", "motion picture", "U2"], "br": []}
    plain = tmp_path / "neighbours.json"
    plain.write_text(json.dumps(listed))
    expected = {"film": ["movie"], "br": []}
    assert read_synonym_file(plain) == expected
    assert read_synonym_file(packed(tmp_path / "neighbours.json.gz", json.dumps(listed))) == expected
    lines = packed(tmp_path / "synonyms.txt.gz", "film movie\n")
    assert is_synonym_file(lines) and read_synonym_file(lines) == {"film": ["movie"]}
    assert not is_synonym_file(packed(tmp_path / "vectors.txt.gz", "film 0.1 0.2\n"))
    assert find_synonyms(str(plain), ["film"], ["movie"]) == {"film": "movie"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "is not JSON"),
        ('["film"]', "holds no JSON object"),
        ('{"film": "movie"}', "has no list of words for 'film'"),
        ('{"film": [1]}', "has no list of words for 'film'"),
        ("{}", "holds no synonyms"),
    ],
)
def test_bad_json_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "synonyms.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=said):
        find_synonyms(str(path), ["film"], ["movie"])


def test_a_broken_archive_is_one_sentence(tmp_path):
    whole = packed(tmp_path / "synonyms.txt.gz", "film movie\n" * 1000).read_bytes()
    for content in (b"film movie", whole[:-20]):
        (tmp_path / "broken.txt.gz").write_bytes(content)
        with pytest.raises(BadInput, match="Cannot read the synonyms"):
            find_synonyms(str(tmp_path / "broken.txt.gz"), ["film"], ["movie"])


def test_synonyms_are_words_that_the_model_knows_and_no_forms(tmp_path):
    path = tmp_path / "synonyms.txt"
    path.write_text("film films movie flick\nwarm warmer\nbad poor\n")
    known = ["films", "flick", "warmer", "POOR"]
    assert find_synonyms(str(path), ["Film", "warm", "bad", "plot"], known) == {
        "film": "flick",
        "bad": "POOR",
    }


BAD = {
    "no synonym": (b"film movie\nplot\n", "Line 2 of .* has no synonym for 'plot'"),
    "empty": (b"# nothing\n", "holds no synonyms"),
    "not UTF-8": (b"film \xff\xfe\n", "give a text file in UTF-8"),
    "other words": (b"haus heim\n", "has no synonym for any of the 2 words"),
    "only forms": (b"film films\nplot plots plotted\n", "has no synonym for any of the 2 words"),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "synonyms.txt"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said) as refused:
        find_synonyms(str(path), ["film", "plot"], ["movie", "films", "plots", "plotted", "heim"])
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


def test_no_such_file_or_vectors(tmp_path):
    for missing in (tmp_path / "none.txt", tmp_path / "none.vec"):
        with pytest.raises(BadInput, match=f"There is no file {missing} of synonyms or vectors"):
            find_synonyms(str(missing), ["film"], ["movie"])
    with pytest.raises(BadInput, match="gluve"):
        find_synonyms("gluve", ["film"], ["movie"])


VECTORS = "film 1 0 0\nfilms 1 0 0\nmovie 0.9 0.1 0\ncold 0 1 0\n"


@pytest.mark.parametrize("header", ["", "4 3\n"])
def test_vectors_are_told_from_synonyms(tmp_path, header):
    path = tmp_path / "vectors.txt"
    path.write_text(header + VECTORS)
    assert not is_synonym_file(path)
    found = find_synonyms(
        str(path), ["FILM", "cold", "unseen"], ["films", "movie", "film", "cold", "unknown"]
    )
    assert found == {"film": "movie", "cold": "movie"}
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("film movie\n")
    assert is_synonym_file(synonyms)


def test_replaced_words_leave_the_rest_as_it_is():
    text = "A FINE film, isn't it? 😀 Fine."
    tokens = Vocabulary.learn([text]).encode([text]).pad(np.array([0]), [text])
    (spans,) = word_spans(tokens)
    fine = [place for place, (a, b) in enumerate(spans) if text[a:b].lower() == "fine"]
    new = {place: recased("good", text[slice(*spans[place])]) for place in fine}
    changed, moved = replace_words(text, spans, new | {2: "movie"})
    assert changed == "A GOOD movie, isn't it? 😀 Good."
    for place, (a, b) in enumerate(moved):
        old = text[slice(*spans[place])]
        assert changed[a:b] == {**new, 2: "movie"}.get(place, old)


def test_words_of_pieces_are_numbered_without_gaps():
    tokens = Tokens(
        texts=["a filmmaker  left", "left"],
        ids=torch.zeros(2, 6, dtype=torch.long),
        mask=torch.tensor([[0, 1, 1, 1, 1, 0], [0, 1, 0, 0, 0, 0]]).bool(),
        present=torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]]).bool(),
        offsets=torch.tensor(
            [[[0, 0], [0, 1], [1, 6], [6, 11], [11, 17], [0, 0]], [[0, 0], [0, 4]] + [[0, 0]] * 4]
        ),
        word_of=torch.tensor([[-1, 0, 2, 2, 5, -1], [-1, 3, -1, -1, -1, -1]]),
    )
    assert words_of(tokens).tolist() == [[-1, 0, 1, 1, 2, -1], [-1, 0, -1, -1, -1, -1]]
    assert word_spans(tokens) == [[(0, 1), (2, 11), (13, 17)], [(0, 4)]]
