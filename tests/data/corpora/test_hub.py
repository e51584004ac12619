"""The hub, played by a small module of the same name: nothing here needs a network or the extra."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from heedful.config import DataOptions
from heedful.data.corpora import hub
from heedful.data.corpora.catalogue import card
from heedful.data.corpora.hub import hub_rows, hub_splits
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.sources import find_source, hub_installed
from heedful.errors import BadInput


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    hub._load.cache_clear()
    yield
    hub._load.cache_clear()


@pytest.fixture
def serve(monkeypatch):
    """Make the hub hold these splits, or raise this error, whatever is asked for."""
    asked = []

    def install(content):
        def load_dataset(name, config=None):
            asked.append((name, config))
            if isinstance(content, Exception):
                raise content
            return content

        module = ModuleType("datasets")
        module.__spec__ = ModuleSpec("datasets", None)
        module.load_dataset = load_dataset
        monkeypatch.setitem(sys.modules, "datasets", module)
        return asked

    return install


PAIRS = [
    {"premise": f"premise {i}", "hypothesis": f"hypothesis {i}", "label": label}
    for i, label in enumerate([0, 1, 2, -1])
]
NEWS = [{"text": f"text {i}", "label": i % 4} for i in range(40)]


def test_columns_are_renamed_and_rows_without_agreement_are_dropped(serve):
    serve({"train": PAIRS})
    rows = list(hub_rows(card("snli"), "train"))
    assert rows[0] == (1, {"text": "premise 0", "query": "hypothesis 0", "label": 0})
    assert [row["label"] for _, row in rows] == [0, 1, 2]


def test_several_columns_are_joined_into_one_text(serve):
    row = {"question_title": "Why?", "question_content": None, "best_answer": "Because.", "topic": 4}
    serve({"train": [row]})
    assert list(hub_rows(card("yahoo_answers"), "train")) == [(1, {"text": "Why? Because.", "label": 4})]


def test_the_hubs_own_configuration_is_asked_for_once(serve):
    asked = serve({"train": NEWS, "validation": NEWS, "test": NEWS})
    assert hub_splits(card("tweeteval_emotion")) == ("train", "dev", "test")
    list(hub_rows(card("tweeteval_emotion"), "dev"))
    assert asked == [("cardiffnlp/tweet_eval", "emotion")]


def test_a_dataset_is_read_from_the_hub_where_no_folder_holds_it(serve):
    serve({"train": PAIRS * 30, "validation": PAIRS, "test": PAIRS})
    corpus = load_corpus(DataOptions(dataset="snli"))
    assert (corpus.task, corpus.labels) == ("pair", ("entailment", "neutral", "contradiction"))
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 90, "dev": 3, "test": 3}
    assert corpus.splits["test"].queries[2] == "hypothesis 2"


def test_some_classes_of_a_hub_dataset_are_kept_and_renumbered(serve):
    serve({"train": NEWS, "test": NEWS})
    corpus = load_corpus(DataOptions(dataset="ag_news_binary"))
    assert corpus.labels == ("World", "Business")
    test = corpus.splits["test"]
    assert dict(zip(test.texts[:3], test.labels.tolist(), strict=False)) == {
        "text 0": 0,
        "text 2": 1,
        "text 4": 0,
    }


def test_ratings_on_the_hub_are_class_numbers_though_their_names_are_numbers(serve):
    serve({"train": [{"text": f"text {i}", "label": i % 5} for i in range(40)], "test": NEWS})
    corpus = load_corpus(DataOptions(dataset="yelp"))
    assert corpus.splits["test"].labels[:4].tolist() == [0, 1, 2, 3]


def test_an_unreachable_hub_is_one_sentence(serve):
    serve(ConnectionError("Couldn't reach the hub\nTraceback: a very long story"))
    with pytest.raises(
        BadInput, match=r"^Cannot fetch SetFit/sst2 from the hub \(Couldn't reach the hub\): .*\.$"
    ):
        load_corpus(DataOptions(dataset="sst2"))


def test_an_error_without_a_message_is_named_by_its_kind(serve):
    serve(TimeoutError())
    with pytest.raises(BadInput, match=r"\(TimeoutError\)"):
        hub_splits(card("sst2"))


def test_columns_that_the_hub_has_renamed_are_told(serve):
    serve({"train": [{"sentence": "good", "label": 1}]})
    with pytest.raises(BadInput, match=r"no column 'text' in SetFit/sst2 .*sentence, label.*HEEDFUL_DATA"):
        list(hub_rows(card("sst2"), "train"))


def test_without_the_extra_a_dataset_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(BadInput, match=r"pip install 'heedful\[hub\]'\.$"):
        hub_splits(card("sst2"))
    monkeypatch.setattr("heedful.data.corpora.sources.hub_installed", lambda: False)
    with pytest.raises(BadInput, match=r"not at hand\. .*pip install 'heedful\[hub\]'"):
        find_source("sst2")


def test_the_extra_is_found_where_it_is_installed(serve):
    serve({})
    assert hub_installed()
