"""Datasets are found by path, then by name; what cannot be found comes with a way to have it."""

import json
import re

import pytest

from heedful.data.corpora.catalogue import card, cards
from heedful.data.corpora.sources import at_hand, find_source
from heedful.errors import BadInput

ROWS = "text,label\ngood,1\nbad,0\n"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """A data folder and a working folder that are empty, and no hub."""
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("heedful.data.corpora.sources.hub_installed", lambda: False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def fill(folder, *names, meta=None):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(ROWS)
    if meta is not None:
        (folder / "meta.json").write_text(meta if isinstance(meta, str) else json.dumps(meta))
    return folder


def refuse(dataset):
    with pytest.raises(BadInput) as caught:
        find_source(str(dataset))
    message = str(caught.value)
    assert message.endswith((".", "?")) and "\n" not in message
    return message


def test_a_file_is_a_training_split(tmp_path):
    file = fill(tmp_path, "my.reviews.csv") / "my.reviews.csv"
    source = find_source(str(file))
    assert (source.name, source.files) == ("my", {"train": file})
    assert [row["text"] for _, row in source.rows("train")] == ["good", "bad"]


@pytest.mark.parametrize("dev", ["dev.csv", "valid.csv", "validation.csv", "val.csv"])
def test_a_folder_holds_splits(tmp_path, dev):
    fill(tmp_path / "reviews", "train.csv", dev, "test.csv", "notes.txt")
    source = find_source(str(tmp_path / "reviews"))
    assert source.name == "reviews"
    assert source.splits == ("train", "dev", "test")
    assert source.files["dev"].name == dev


def test_a_name_is_looked_up_in_the_data_folder_before_the_working_folder(tmp_path):
    own = fill(tmp_path / "here" / "reviews", "train.csv")
    assert find_source("reviews").files["train"].resolve().parent == own
    data = fill(tmp_path / "data" / "reviews", "train.csv")
    assert find_source("reviews").files["train"].parent == data


def test_downloads_are_found_in_the_cache(tmp_path):
    assert not at_hand(card("sst2"))
    fill(tmp_path / "cache" / "data" / "sst2", "train.csv")
    assert at_hand(card("sst2"))
    assert find_source("sst2").card == card("sst2")


@pytest.mark.parametrize(
    ("name", "meta", "labels"),
    [
        ("sst2", {"labels": ["bad", "good"]}, ("bad", "good")),
        ("sst2", None, ("negative", "positive")),
        ("ag_news_binary", None, ("World", "Sports", "Business", "Sci/Tech")),
        ("imdb_rating", {"labels": ["negative", "positive"]}, card("imdb_rating").labels),
        ("mine", {"labels": [0, 1]}, ("0", "1")),
        ("mine", None, ()),
    ],
)
def test_labels_come_from_the_folder_or_from_the_catalogue(tmp_path, name, meta, labels):
    folder = cards()[name].folder if name in cards() else None
    fill(tmp_path / "data" / (folder or name), "train.csv", meta=meta)
    assert find_source(name).labels == labels


def test_a_misspelt_name_is_set_right():
    assert refuse("sst22") == "There is no dataset named 'sst22': did you mean sst2?"
    assert "did you mean sst2?" in refuse("SST2")
    assert "choose one of" in refuse("zzzzzz")


@pytest.mark.parametrize("name", ["sst2", "mimic_anemia", "imdb_rating"])
def test_a_known_dataset_that_is_not_here_says_how_to_get_it(name):
    message = refuse(name)
    assert card(name).title in message and card(name).how_to_get in message


def test_a_folder_that_only_shares_the_name_of_a_dataset_is_not_taken_for_it(tmp_path):
    (tmp_path / "here" / "sst2").mkdir()
    assert card("sst2").how_to_get in refuse("sst2")


@pytest.mark.parametrize("path", ["nothing.csv", "nothing.txt", "no/such/folder", "/nowhere", "./sst2"])
def test_a_path_that_is_not_there_is_not_taken_for_a_name(path):
    assert refuse(path).startswith(f"There is no file or folder {path}:")


@pytest.mark.parametrize("path", ["~nobody-of-this-name/a.csv", "a" * 5000])
def test_a_path_that_cannot_be_looked_up_is_refused(path):
    assert refuse(path).startswith("Cannot look for")


def test_a_file_of_unknown_format_is_refused(tmp_path):
    fill(tmp_path, "reviews.xlsx")
    assert re.search(r"Cannot tell the format of .*reviews\.xlsx: .*\.csv", refuse(tmp_path / "reviews.xlsx"))


def test_a_folder_without_splits_is_refused(tmp_path):
    fill(tmp_path / "reviews", "reviews.csv")
    assert "no train, dev or test file in" in refuse(tmp_path / "reviews")


def test_two_files_for_one_split_are_refused(tmp_path):
    fill(tmp_path / "reviews", "train.csv", "train.tsv")
    assert "(train.csv, train.tsv): remove one." in refuse(tmp_path / "reviews")


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("{broken", "Cannot read"),
        ("[" * 100_000, "Cannot read"),
        ("[1]", "must hold a JSON object"),
        ({"labels": "negative, positive"}, "labels .* must be a list"),
        ({"labels": ["a", "a"]}, "all different"),
        ({"task": "translation"}, "classification, pair, qa, not 'translation'"),
    ],
)
def test_a_damaged_description_is_refused(tmp_path, meta, said):
    folder = fill(tmp_path / "reviews", "train.csv", meta=meta)
    message = refuse(folder)
    assert "meta.json" in message and re.search(said, message)


def test_a_description_that_is_not_utf8_is_refused(tmp_path):
    folder = fill(tmp_path / "reviews", "train.csv")
    (folder / "meta.json").write_bytes(b'{"labels": ["\xff", "b"]}')
    assert "Cannot read" in refuse(folder)


def test_ratings_are_at_hand_only_where_the_files_have_them(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "imdb").mkdir()
    file = tmp_path / "imdb" / "train.csv"
    file.write_text("text,label\na,0\n")
    assert (at_hand(card("imdb")), at_hand(card("imdb_rating"))) == (True, False)
    file.write_text("text,label,rating\na,0,3\n")
    assert at_hand(card("imdb_rating"))
