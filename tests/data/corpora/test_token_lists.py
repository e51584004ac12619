"""Texts given as lists of tokens, with one mark for each: read, refused, trained on and audited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import heedful
from heedful.config import DataOptions
from heedful.data.corpora.columns import RawSplit, read_split, read_texts
from heedful.data.corpora.evidence import rationale_spans, token_spans
from heedful.data.corpora.reader import load_corpus
from heedful.errors import BadInput
from heedful.models.classifier import Classifier

Rows = list[dict[str, Any]]
ROWS: Rows = [
    {"tokens": ["A", "New York", "film", ",", "fine", "!"], "rationale": [0, 1, 0, 0, 1, 1], "label": "good"},
    {"tokens": ["dull"], "rationale": [1], "label": "bad"},
    {"tokens": ["", "so", " ", "thin\n", "plot"], "rationale": [1, 0, 0, 1, 1], "label": "bad"},
]
TEXTS = ["A New York film , fine !", "dull", " so   thin\n plot"]
MARKED = [["New York", "fine !"], ["dull"], ["", "thin\n plot"]]


def read(*rows: dict[str, Any], **options: Any) -> RawSplit:
    return read_split(enumerate(rows, start=1), where="a.jsonl", **options)[0]


def write(path: Path, rows: Rows) -> Path:
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def cut(texts: list[str], evidence: list[list[tuple[int, int]]]) -> list[list[str]]:
    return [[text[a:b] for a, b in spans] for text, spans in zip(texts, evidence, strict=True)]


@pytest.mark.parametrize("options", [{}, {"text_column": "tokens"}])
def test_a_text_is_its_tokens_with_spaces_between_and_marks_are_theirs(options: dict[str, Any]) -> None:
    split = read(*ROWS, **options)
    assert split.texts == TEXTS
    assert cut(split.texts, split.evidence) == MARKED


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("column", ["text", "tokens"])
def test_texts_without_labels_may_be_lists_too(tmp_path: Path, suffix: str, column: str) -> None:
    rows = [{name: row[name] for name in ("tokens", "rationale")} for row in ROWS]
    split = read_texts(write(tmp_path / f"a.{suffix}", rows), column, None, evidence=True)
    assert split.texts == TEXTS
    assert cut(split.texts, split.evidence) == MARKED


def test_a_column_of_whole_texts_comes_first_unless_tokens_are_named() -> None:
    row = {"text": "fine film", "tokens": ["a", "b", "c"], "label": 1}
    assert read(row | {"rationale": [1, 0]}).evidence == [[(0, 4)]]
    named = read(row | {"rationale": [0, 1, 1]}, text_column="tokens")
    assert (named.texts, named.evidence) == (["a b c"], [[(2, 5)]])


def test_tokens_need_no_rationale_and_lone_surrogates_keep_their_place() -> None:
    split = read({"tokens": ["a\ud83d", "b"], "label": 1})
    assert (split.texts, split.evidence) == (["a\ufffd b"], [])
    assert read({"tokens": ["a\ud83d", "b"], "label": 1, "rationale": [0, 1]}).evidence == [[(3, 4)]]


@pytest.mark.parametrize(
    "strange", ["two words", ["a", 1], ["a", None], [["a"]], {"a": 1}, b"bytes", 7, float("nan")]
)
def test_tokens_that_are_no_list_of_strings_are_refused_by_row(tmp_path: Path, strange: object) -> None:
    said = "Column 'tokens' in row 2 of .* does not hold a list of strings: give one string for every token"
    good = {"tokens": ["a"], "label": 1}
    with pytest.raises(BadInput, match=said):
        read(good, good | {"tokens": strange})
    if not isinstance(strange, bytes):
        with pytest.raises(BadInput, match=said):
            read_texts(write(tmp_path / "a.jsonl", [good, good | {"tokens": strange}]), "tokens", None)


@pytest.mark.parametrize(
    ("rationale", "said"),
    [
        ([1, 0], "The rationale in row 2 marks 2 tokens and its column tokens has 3"),
        ([1, 0, 0, 1], "The rationale in row 2 marks 4 tokens and its column tokens has 3"),
        ([], "The rationale in row 2 marks 0 tokens and its column tokens has 3"),
        ([1, 0, 2], "The rationale in row 2 has a mark of 2: give one 0 or 1 for every token of that column"),
    ],
)
def test_marks_that_do_not_fit_are_refused_by_row(rationale: list[int], said: str) -> None:
    """Between white space there are four tokens in the second row; in its list there are three."""
    bad = {"tokens": ["New York", "is", "big"], "rationale": rationale, "label": 0}
    with pytest.raises(BadInput, match=said):
        read(ROWS[0], bad)


@pytest.mark.parametrize("empty", [None, [], [""], [" ", "\n"]])
def test_a_row_without_tokens_is_named_or_skipped(tmp_path: Path, empty: list[str] | None) -> None:
    bad = {"tokens": empty, "label": "bad", "rationale": [0] * len(empty or ())}
    with pytest.raises(BadInput, match=r"Row 2 of a\.jsonl has no tokens.*--skip-bad-rows"):
        read(ROWS[0], bad)
    assert read(ROWS[0], bad, ROWS[1], skip_bad_rows=True).rows == [1, 3]
    with pytest.raises(BadInput, match=r"Row 2 of .* has no tokens"):
        read_texts(write(tmp_path / "a.jsonl", [ROWS[0], bad]), "text", None)


@given(st.lists(st.tuples(st.text(max_size=4), st.booleans()), min_size=1, max_size=8))
def test_every_span_cuts_out_its_token_and_marks_cover_what_is_marked(rows: list[tuple[str, bool]]) -> None:
    tokens, marks = [token for token, _ in rows], [int(marked) for _, marked in rows]
    text, places = " ".join(tokens), token_spans(tokens)
    assert [text[start:end] for start, end in places] == tokens
    spans = rationale_spans(text, marks, row=1, tokens=tokens)
    for (start, end), marked in zip(places, marks, strict=True):
        assert any(a <= start and end <= b for a, b in spans) or not marked
        assert marked or not any(a < end and start < b for a, b in spans)


def test_tokens_without_white_space_are_read_as_the_same_text_would_be() -> None:
    rows = [row for row in ROWS if all(token and not set(token) & set(" \n") for token in row["tokens"])]
    whole = [{**row, "text": " ".join(row["tokens"])} for row in rows]
    for row in whole:
        del row["tokens"]
    listed, plain = read(*rows), read(*whole)
    assert rows and (listed.texts, listed.evidence) == (plain.texts, plain.evidence)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_dataset_of_token_lists_is_trained_on_with_its_evidence(tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path / f"a.{suffix}", _reviews(40))
    corpus = load_corpus(DataOptions(dataset=str(file)))
    for split in corpus.splits.values():
        assert split.evidence is not None
        assert {marked for (marked,) in cut(split.texts, split.evidence)} <= {"not good", "very fine"}
    small = {"encoder": "average", "epochs": 1, "hidden": 4, "embedding_size": 4}
    model = heedful.train(str(file), runs=tmp_path / "runs", progress=False, **small)
    audited = heedful.audit(model, only="plausibility", keep=False, progress=False)
    assert audited.summaries["plausibility"].number("auprc").count == len(corpus.splits["test"])


def _reviews(count: int) -> Rows:
    """Rows whose one marked token holds a space."""
    return [
        {
            "tokens": ["the film", f"number {row} ,", ("not good", "very fine")[row % 2], "it is"],
            "rationale": [0, 0, 1, 0],
            "label": ("bad", "good")[row % 2],
        }
        for row in range(count)
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("labelled", [True, False])
def test_plausibility_finds_the_marked_tokens(
    toy_classifier: Callable[..., Classifier], tmp_path: Path, suffix: str, labelled: bool
) -> None:
    """Attention that sees only "warm" and "funny" agrees wholly with marks of a token that holds both."""
    classifier = toy_classifier(encoder="none", embedding_size=4)
    seen = classifier.batch(["warm funny"]).tokens.ids[0]
    with torch.no_grad():
        similarity = classifier.model.attention.similarity  # type: ignore[union-attr]
        similarity.project_state.weight.zero_()
        similarity.project_state.weight[0, 0] = 1.0
        similarity.vector.fill_(9.0)
        classifier.model.embedding.weight[:, 0] = 0.0
        classifier.model.embedding.weight[seen, 0] = 5.0
    rows: Rows = [
        {
            "tokens": ["the plot", *["a"] * row, "warm funny", "is", "thin, old"],
            "rationale": [0] * (row + 1) + [1, 0, 0],
        }
        | ({"label": f"class {row % 2}"} if labelled else {})
        for row in range(6)
    ]
    file = write(tmp_path / f"a.{suffix}", rows)
    found = heedful.audit(classifier, str(file), only="plausibility", progress=False)
    summary = found.summaries["plausibility"]
    assert summary.number("auprc").count == len(rows)
    assert summary.number("auprc").estimate == 1.0
    marked = found.to_frame().sort("row")
    for row, (text, starts, ends) in enumerate(marked.select("text", "starts", "ends").iter_rows()):
        items = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        assert [items[place] for place in found.frames["plausibility"]["marked"][row]] == ["warm", "funny"]
