from __future__ import annotations

import polars as pl
import pytest

from heedful.data.corpora.given import GivenRows, as_data
from heedful.errors import BadInput

ROWS = [{"text": "fine", "label": 1}, {"text": "dull", "label": 0}]


class PandasLike:
    """What a frame of pandas can do, as far as it is used."""

    columns = ("text", "label")

    def to_dict(self, how):
        assert how == "records"
        return ROWS


class Feature:
    names = ("negative", "positive")


class DatasetLike:
    """What a Dataset can do, as far as it is used."""

    def __init__(self):
        self.column_names = ["text", "label"]
        self.features = {"text": None, "label": Feature()}

    def __iter__(self):
        return iter(ROWS)


@pytest.mark.parametrize(
    "data",
    [pl.DataFrame(ROWS), PandasLike(), ROWS, {"text": ["fine", "dull"], "label": [1, 0]}],
    ids=["polars", "pandas", "rows", "columns"],
)
def test_all_of_them_are_the_same_rows(data):
    assert as_data(data).rows == ROWS
    assert list(as_data(data).numbered()) == [(1, ROWS[0]), (2, ROWS[1])]


def test_a_dataset_names_its_classes():
    assert [row["label"] for row in as_data(DatasetLike()).rows] == ["positive", "negative"]


def test_texts_get_their_labels():
    assert as_data(("fine", "dull"), ["good", "bad"]).rows[1] == {"text": "dull", "label": "bad"}
    assert as_data(["fine"]) == GivenRows("a list of texts", [{"text": "fine"}])


def test_names_and_files_stay_what_they_are(tmp_path):
    assert as_data("sst2") == "sst2" and as_data(tmp_path) == str(tmp_path) and as_data(None) is None


@pytest.mark.parametrize(
    ("data", "labels", "says"),
    [
        (["fine", 3], None, "Text 2 is a int"),
        (["fine"], [1, 0], "2 labels were given for 1 texts"),
        ("sst2", [1], "A list of texts is needed beside labels"),
        ({"train": DatasetLike(), "test": DatasetLike()}, None, "several splits .train, test."),
        ({"text": ["fine"], "label": [1, 0]}, None, "not equally long .text 1, label 2."),
        (7, None, "this is a int"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(data, labels, says):
    with pytest.raises(BadInput, match=says):
        as_data(data, labels)
