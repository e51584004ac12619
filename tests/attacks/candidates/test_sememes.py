from __future__ import annotations

import gzip
import json

import pytest

from heedful.attacks.candidates.sememes import Meaning, SameSememes, read_sememe_file
from heedful.attacks.draft import Draft, Source
from heedful.errors import BadInput

ROWS = [
    ("film", "noun", ["shows", "art"]),
    ("movie", "n", ["art", "shows"]),
    ("film", "verb", ["record"]),
    ("tape", "v", ["record"]),
    ("cinema", "noun", ["place"]),
    ("the", "det", ["function"]),
]


def lines(path):
    path.write_text("# words\n" + "".join(f"{word}\t{part}\t{','.join(some)}\n" for word, part, some in ROWS))
    return path


def json_file(path):
    table: dict[str, list] = {}
    for word, part, some in ROWS:
        table.setdefault(word, []).append([part, some])
    path.write_bytes(gzip.compress(json.dumps(table).encode()))
    return path


def test_lines_and_json_hold_the_same(tmp_path):
    one = set(read_sememe_file(lines(tmp_path / "hownet.tsv")))
    assert one == set(read_sememe_file(json_file(tmp_path / "hownet.json.gz")))
    assert ("film", Meaning("VERB", frozenset({"record"}))) in one and len(one) == 5


def test_senses_by_the_names_of_openhownet(tmp_path):
    # As that library gives them: sememes in two languages, words of several words, senses that lack something.
    senses = [
        {"No": "1", "en_word": "apple", "en_grammar": "noun", "sememes": ["fruit|水果"]},
        {
            "No": "2",
            "en_word": "orchard apple tree",
            "en_grammar": "noun",
            "sememes": ["tree|树", "fruit|水果"],
        },
        {"No": "3", "en_word": "pear", "en_grammar": "noun", "sememes": ["fruit|水果"]},
        {"No": "4", "en_word": "", "en_grammar": "", "sememes": ["fruit|水果"]},
        {"No": "5", "en_word": "of", "en_grammar": "prep", "sememes": []},
    ]
    path = tmp_path / "hownet.json"
    path.write_text(json.dumps(senses, ensure_ascii=False), encoding="utf-8")
    fruit = Meaning("NOUN", frozenset({"fruit|水果"}))
    found = list(read_sememe_file(path))
    assert [one for one in found if one[1] == fruit] == [("apple", fruit), ("pear", fruit)]
    assert len(found) == 3


def test_same_sememes_and_part_of_speech(tmp_path, monkeypatch):
    class Tagger:
        def tag(self, words):
            return ["VB" if place and words[place - 1] == "to" else "NN" for place in range(len(words))]

    monkeypatch.setattr("heedful.attacks.candidates.sememes.tagger", Tagger)
    found = SameSememes(lines(tmp_path / "hownet.tsv"))
    draft = Draft(Source.cut("a Film to film"))
    assert found.propose([(draft, position) for position in range(4)]) == [[], ["Movie"], [], ["tape"]]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("film\tnoun\n", "Line 1 of .* has 2 columns"),
        ("film\tnoun\t , \n", "lacks a word or its sememes"),
        ("the\tdet\tfunction\n", "no noun"),
        ("", "no noun"),
        ("{", "not JSON"),
        ('{"film": ["art"]}', "no list of meanings for 'film'"),
        ('{"film": [["noun", [1]]]}', "no list of meanings for 'film'"),
        ('{"film": [["noun", []]]}', "no noun"),
        ("[[1]]", "Meaning 1 of .* lacks en_word, en_grammar or a list of sememes"),
        ('[{"word": "film"}]', "Meaning 1 of .* lacks en_word"),
        ('[{"en_word": "film", "en_grammar": "noun", "sememes": "art"}]', "Meaning 1 of .* lacks en_word"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path, content, says):
    path = tmp_path / "wrong.tsv"
    path.write_text(content)
    with pytest.raises(BadInput, match=says) as raised:
        list(read_sememe_file(path))
    assert "\n" not in str(raised.value)
