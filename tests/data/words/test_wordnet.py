from __future__ import annotations

import pickle

import pytest

from heedful.data.words.plain_pickle import read_plain_pickle
from heedful.data.words.tagger import Tagger, tagger, universal
from heedful.data.words.wordnet import WordNet, wordnet
from heedful.errors import BadInput

REMARK = "  1 a remark of two lines  \n  2 that begins with spaces  \n"


@pytest.fixture
def small(tmp_path):
    """Two meanings of a noun, and a verb with an irregular form."""
    first = len(REMARK)
    line = f"{first:08} 04 n 02 move 0 motion 0 000 | x\n"
    other = f"{first + len(line):08} 04 n 02 move 1 Moving_on 0 000 | y\n"
    (tmp_path / "data.noun").write_text(REMARK + line + other)
    (tmp_path / "index.noun").write_text(
        REMARK
        + f"a n 1 0 1 0 {first:08}\nmotion n 1 0 1 0 {first:08}\nmove n 2 0 2 1 {first:08} {first + len(line):08}\n"
    )
    (tmp_path / "data.adj").write_text("00000000 00 s 02 fast(a) 0 quick(ip) 0 000 | z\n")
    (tmp_path / "index.adj").write_text("fast a 1 0 1 0 00000000\n")
    (tmp_path / "data.verb").write_text("00000000 29 v 02 go 0 leave 0 000 | w\n")
    (tmp_path / "index.verb").write_text("go v 1 0 1 0 00000000\n")
    for name in ("data.adv", "index.adv", "noun.exc", "adj.exc", "adv.exc"):
        (tmp_path / name).write_text("")
    (tmp_path / "verb.exc").write_text("went go\n")
    return WordNet(tmp_path)


def test_meanings_forms_and_markers(small):
    assert list(small.synsets("Moves")) == [("move", "motion"), ("move", "Moving_on")]
    assert list(small.synsets("went")) == [("go", "leave")]
    assert list(small.synsets("faster")) == [("fast", "quick")]
    assert list(small.synsets("a")) == [("move", "motion")] and list(small.synsets("")) == []
    assert list(small.synsets("went", ("n",))) == []


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"index\.noun"):
        WordNet(tmp_path)


def test_plain_pickles_are_read_and_others_refused():
    content = ({"a": {"b": 1.5}}, {"c": "d"}, {"e"})
    # Version 2 as Python 2 wrote it: byte strings, which Python 3 writes otherwise.
    written = b"\x80\x02}(U\x01a}U\x01bG?\xf8\x00\x00\x00\x00\x00\x00"
    written = (
        written.replace(b"}U\x01b", b"}(U\x01b") + b"uu}(U\x01cU\x01duc__builtin__\nset\n](U\x01ee\x85R\x87."
    )
    assert read_plain_pickle(written) == content
    for protocol in (2, 3, 4):
        with pytest.raises((ValueError, IndexError)):
            read_plain_pickle(pickle.dumps(print, protocol=protocol))
    with pytest.raises(ValueError, match="import"):
        read_plain_pickle(b"\x80\x02cos\nsystem\nU\x04true\x85R.")


def test_a_tagger_by_hand():
    weights = {
        "bias": {"NN": 0.5},
        "i suffix ing": {"VBG": 1.0},
        "i-1 tag VBG": {"RB": 2.0},
        "i word well": {"NN": 1.0},
    }
    toy = Tagger(weights, {"the": "DT"}, {"NN", "VBG", "RB", "DT"})
    assert toy.tag(["the", "man", "running", "well"]) == ["DT", "NN", "VBG", "RB"]
    assert toy.tag_many([["the"], ["well"]]) == [["DT"], ["NN"]]
    assert [universal(tag) for tag in ("NNS", "VBG", "''", "TO")] == ["NOUN", "VERB", ".", "PRT"]


def test_the_real_ones(asset):
    asset("wordnet")
    lemmas = [lemma for synset in wordnet().synsets("movement") for lemma in synset]
    assert {"motion", "apparent_motion", "front", "effort"} <= set(lemmas)
    assert tagger().tag(["the", "movie", "was", "not", "running", "well"]) == [
        "DT",
        "NN",
        "VBD",
        "RB",
        "VBG",
        "RB",
    ]
