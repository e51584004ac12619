from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from heedful.attacks.candidates.edits import Edit, mergeable
from heedful.attacks.cut import one_word, word_spans
from heedful.attacks.draft import Draft, Source
from heedful.data.words.substitution import Change, aligned

TEXTS = st.text(st.sampled_from("ab'-_*@ .,!é\n`"), max_size=30)
WORDS = st.sampled_from(["", "good", "well-made", "it's"])


@given(TEXTS)
def test_words_are_runs_without_signs_at_their_ends(text):
    words = [text[start:end] for start, end in word_spans(text)]
    # As TextAttack says it: cut at white space, strip, find runs, strip.
    expected = []
    for chunk in text.split():
        runs = re.findall(r"[\w'\-_*@`×˗]+", chunk.strip("'-_*@"))
        expected += [run.strip("'-_*@") for run in runs if run.strip("'-_*@")]
    assert words == expected


@given(TEXTS, st.data())
def test_a_text_is_rebuilt_by_offsets_and_nothing_else_changes(text, data):
    source = Source.cut(text)
    new = {
        position: data.draw(WORDS.filter(bool)) for position in range(len(source)) if data.draw(st.booleans())
    }
    rebuilt, stretches = Draft(source, new).rebuilt()
    places = {stretch.position: stretch.new_span for stretch in stretches}
    at = at_new = 0
    for position in sorted(new):
        (start, end), (new_start, new_end) = source.spans[position], places[position]
        assert rebuilt[new_start:new_end] == new[position]
        assert text[at:start] == rebuilt[at_new:new_start]
        at, at_new = end, new_end
    assert text[at:] == rebuilt[at_new:]


def test_a_deleted_word_takes_one_space_along():
    source = Source.cut("a fine film .")
    texts = [Draft(source).replaced(position, "").text for position in range(3)]
    assert texts == ["fine film .", "a film .", "a fine ."]


def test_changes_name_both_places_and_leave_out_what_stayed():
    draft = Draft(Source.cut("a fine film")).replaced(0, "one").replaced(2, "film").replaced(1, "good")
    (first, second) = draft.changes()
    assert first == (0, "a", "one", (0, 1), (0, 3))
    assert second == (1, "fine", "good", (2, 6), (4, 8))
    assert draft.base is not None and draft.base.text == "one fine film"


def test_a_word_put_in_is_a_change_of_nothing():
    draft = Draft(Source.cut("a fine film .")).replaced(2, "film good").replaced(0, "one")
    assert draft.text == "one fine film good ."
    assert draft.changes() == [(0, "a", "one", (0, 1), (0, 3)), (2, "", " good", (11, 11), (13, 18))]


def test_two_merged_words_are_one_change():
    draft = Draft(Source.cut("a very fine film .")).merged(1, "good")
    assert draft.text == "a good film ."
    assert draft.changes() == [(1, "very fine", "good", (2, 11), (2, 6))]
    assert [draft.place(position) for position in (0, 1, 3)] == [0, 1, 2]


@given(st.lists(st.sampled_from(["a", "very", "fine", ",", "film"]), min_size=1, max_size=8), st.data())
def test_edits_keep_every_other_character_and_words_are_found_by_offsets(pieces, data):
    draft = Draft(Source.cut(" ".join(pieces)))
    text = draft.source.text
    for position in range(len(draft.source)):
        kinds = ["none", "replace", "insert"] + ["merge"] * mergeable(draft, position)
        kind = data.draw(st.sampled_from(kinds))
        if kind != "none" and position not in draft.new and position + (kind == "merge") not in draft.new:
            draft = Edit(kind, "good").apply(draft, position)
    at = at_new = 0
    for change in draft.changes():
        assert text[slice(*change.span)] == change.old and draft.text[slice(*change.new_span)] == change.new
        assert text[at : change.span[0]] == draft.text[at_new : change.new_span[0]]
        at, at_new = change.span[1], change.new_span[1]
    assert text[at:] == draft.text[at_new:]
    # Words that nobody touched are found again, and stand where `place` says.
    before, after = draft.source.spans, word_spans(draft.text)
    changes = [Change(change.span, change.new_span) for change in draft.changes()]
    found = aligned(before, after, changes)
    for position in range(len(draft.source)):
        if position not in draft.new:
            assert found[position] == draft.place(position)


def test_one_word_is_one_word():
    assert [one_word(word) for word in ("self-made", "Dr.", "A.E.", "", "x y")] == [
        True,
        True,
        False,
        False,
        False,
    ]
