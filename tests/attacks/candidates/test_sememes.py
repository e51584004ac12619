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
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path, content, says):
    path = tmp_path / "wrong.tsv"
    path.write_text(content)
    with pytest.raises(BadInput, match=says) as raised:
        list(read_sememe_file(path))
    assert "\n" not in str(raised.value)
