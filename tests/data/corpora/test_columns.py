"""Which column is what, which rows cannot be used, and what a row may carry besides."""

import numpy as np
import pytest

from heedful.data.corpora.columns import read_split, read_texts
from heedful.data.corpora.evidence import rationale_spans
from heedful.data.corpora.labels import class_names, numbering
from heedful.errors import BadInput


def read(*rows, **options):
    return read_split(enumerate(rows, start=1), where="a.jsonl", **options)


def refuse(*rows, **options):
    with pytest.raises(BadInput) as caught:
        read(*rows, **options)
    message = str(caught.value)
    assert message.endswith(".") and "a.jsonl" in message
    return message


@pytest.mark.parametrize(
    ("row", "options", "text", "query", "task"),
    [
        ({"text": "t", "label": 1}, {}, "t", None, "classification"),
        ({"id": 7, "review": "t", "class": 1}, {}, "t", None, "classification"),
        ({"premise": "p", "hypothesis": "h", "label": 1}, {}, "p", "h", "pair"),
        ({"document": "d", "question": "q", "answer": 1}, {}, "d", "q", "qa"),
        ({"text": "t", "query": "q", "label": 1}, {}, "t", "q", "pair"),
        ({"review": "t", "query": "q", "label": 1}, {}, "t", None, "classification"),
        ({"review": "t", "query": "q", "label": 1}, {"needs_query": True}, "t", "q", "pair"),
        (
            {"text": "t", "body": "b", "label": 0, "star": 1},
            {"text_column": "body", "label_column": "star"},
            "b",
            None,
            "classification",
        ),
        ({"text": "t", "ask": "a", "label": 1}, {"query_column": "ask"}, "t", "a", "pair"),
    ],
)
def test_columns_are_the_users_choice_or_the_usual_ones(row, options, text, query, task):
    split, columns = read(row, **options)
    assert (split.texts, split.queries, split.spellings) == ([text], [query] if query else [], ["1"])
    assert columns.task == task


@pytest.mark.parametrize("option", ["text_column", "query_column", "label_column"])
def test_a_wrong_column_lists_those_there_are(option):
    message = refuse({"text": "t", "label": 1}, **{option: "body"})
    assert "no column 'body'" in message and "text, label" in message


@pytest.mark.parametrize(
    ("row", "options", "what"),
    [
        ({"words": "t", "label": 1}, {}, "text"),
        ({"text": "t", "grade": 1}, {}, "label"),
        ({"text": "t", "label": 1}, {"needs_query": True}, "query"),
    ],
)
def test_a_column_that_cannot_be_guessed_is_asked_for(row, options, what):
    message = refuse(row, **options)
    assert f"--{what}-column" in message and ", ".join(row) in message


GOOD = {"premise": "p", "hypothesis": "h", "label": "a"}


@pytest.mark.parametrize("empty", [None, "", " \n", float("nan")])
@pytest.mark.parametrize("column", GOOD)
def test_a_row_without_text_query_or_label_is_named_or_skipped(column, empty):
    bad = GOOD | {column: empty}
    message = refuse(GOOD, bad, GOOD)
    assert message.startswith(f"Row 2 of a.jsonl has no {column}:") and "--skip-bad-rows" in message
    split, _ = read(GOOD, bad, GOOD, skip_bad_rows=True)
    assert (len(split.texts), split.rows, split.skipped) == (2, [1, 3], 1)


def test_a_row_that_lacks_the_key_is_a_row_without():
    assert "Row 2 of a.jsonl has no text and no label" in refuse({"text": "t", "label": 1}, {"id": 1})


@pytest.mark.parametrize("strange", [["a", "b"], {"a": 1}, b"bytes"])
@pytest.mark.parametrize("column", ["text", "label"])
def test_lists_and_objects_are_no_text(column, strange):
    message = refuse({"text": "t", "label": 1} | {column: strange})
    assert f"Column '{column}' in row 1" in message


def test_no_row_and_no_usable_row_are_told_apart():
    assert "There is no row" in refuse()
    assert "No row of a.jsonl has both" in refuse({"text": "", "label": 1}, skip_bad_rows=True)


def test_lone_surrogates_are_replaced_one_for_one():
    split, _ = read({"text": "a\ud83db", "label": 1})
    assert split.texts == ["a\ufffdb"]


def test_support_sentences_and_rationales_become_spans():
    text = "Mary left. John slept. Mary sat."
    split, _ = read(
        {"text": text, "label": 1, "support": [2, 0]},
        {"text": text, "label": 1, "support": []},
        {"text": text, "label": 1, "rationale": [0, 0, 1, 1, 0, 1]},
    )
    found = [[text[start:end] for start, end in spans] for spans in split.evidence]
    assert found == [["Mary left.", "Mary sat."], [], ["John slept.", "sat."]]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"support": [3]}, "names sentence 3 and the text has 2"),
        ({"support": [-1]}, "names sentence -1"),
        ({"rationale": [1, 0]}, "marks 2 tokens and the text has 4"),
        ({"rationale": "1 0"}, "marks 2 tokens and the text has 4"),
        ({"rationale": [0, 1, 2, 0]}, "has a mark of 2"),
    ],
)
def test_evidence_that_does_not_fit_the_text_is_refused(extra, said):
    with pytest.raises(BadInput, match=f"row 1 {said}"):
        read({"text": "A b. C d.", "label": 1} | extra)


@pytest.mark.parametrize("other", [["because it is good"], "0 1 good", "1", None, [0.5, 0.5]])
def test_another_datasets_column_of_that_name_is_not_taken_for_evidence(other):
    split, _ = read({"text": "good film", "label": 1, "rationale": other})
    assert split.evidence == []


def test_sentences_named_in_a_string_are_not_taken_for_some_rows_alone():
    split, _ = read(*({"text": "A b. C d.", "label": 1, "support": s} for s in ("[0, 1]", "[2]")))
    assert split.evidence == []


@pytest.mark.parametrize("name", ["support", "candidates"])
@pytest.mark.parametrize("first", [True, False])
def test_evidence_and_candidates_are_in_all_rows_or_in_none(name, first):
    having = {"text": "A b.", "label": 0, name: [0]}
    lacking = {"text": "A b.", "label": 0}
    assert "Row 2" in refuse(*((having, lacking) if first else (lacking, having)))


def test_candidates_that_are_never_an_answer_are_no_classes():
    asked = {"document": "Mary met John.", "question": "Who?"}
    split, _ = read(
        asked | {"answer": "John", "candidates": ["Mary", "John"]},
        asked | {"answer": "Mary", "candidates": ["Sandra", "Mary"]},
    )
    names = class_names(split.spellings)
    numbered = split.number(numbering(names, set(split.spellings)), names)
    assert names == ("John", "Mary")
    assert numbered.candidates == [[1, 0], [1]]
    np.testing.assert_array_equal(numbered.labels, [0, 1])


def test_an_answer_must_be_among_its_candidates():
    row = {"document": "d", "question": "q", "answer": "John", "candidates": ["Mary"]}
    assert "row 1 of a.jsonl (John) is not among its candidates" in refuse(row)


def test_neighbouring_words_of_a_rationale_are_one_span():
    text = "a  very\tgood film"
    assert [text[a:b] for a, b in rationale_spans(text, [1, 0, 1, 1], row=1)] == ["a", "good film"]


@pytest.mark.parametrize("marked", [[0, 1], [False, True], [0.0, 1.0], "0 1", "[0, 1]", "0,1"])
def test_marks_are_read_as_files_hold_them(marked):
    split, _ = read({"text": "good film", "label": 1, "rationale": marked})
    assert split.evidence == [[(5, 9)]]


def test_texts_to_classify_need_no_label(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("text,question\none,two\nthree,four\n")
    assert read_texts(file, "text", None).texts == ["one", "three"]
    assert read_texts(file, "text", "question").queries == ["two", "four"]


def test_rationales_of_texts_without_labels_are_read_where_they_are_asked_for(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("text,rationale\ngood film,1 0\nbad film,[0 1]\n")
    assert read_texts(file, "text", None, evidence=True).evidence == [[(0, 4)], [(4, 8)]]
    file.write_text("text,rationale\ngood film,1 0 1\n")
    with pytest.raises(BadInput, match="marks 3 tokens"):
        read_texts(file, "text", None, evidence=True)
    assert read_texts(file, "text", None).evidence == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("body\na\n", "no column 'text' in .*columns are body"),
        ("text,id\na,1\n ,2\n", "Row 2 of .* has no text"),
        ("text\n", "There is no row"),
        ("", "There is no row"),
    ],
)
def test_texts_that_cannot_be_classified_are_refused(tmp_path, content, said):
    file = tmp_path / "a.csv"
    file.write_text(content)
    with pytest.raises(BadInput, match=said):
        read_texts(file, "text", None)
