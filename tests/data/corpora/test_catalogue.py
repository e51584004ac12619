"""The catalogue: complete, consistent with itself, with the generators and with the files at hand."""

import json

import pytest
from pydantic import ValidationError

from heedful.data.corpora.catalogue import Card, card, cards
from heedful.data.corpora.synthetic import SYNTHETIC, generate
from heedful.errors import BadInput

NAMES = tuple(cards())
OF_PAPER = {
    "jain-wallace": {"sst2", "imdb", "adr_tweets", "20news_sports", "ag_news_binary", "mimic_diabetes"}
    | {"mimic_anemia", "cnn", "babi_1", "babi_2", "babi_3", "snli"},
    "serrano-smith": {"yahoo_answers", "imdb_rating", "amazon", "yelp"},
    "attefa": {"sst2", "imdb", "20news_sports", "ag_news_binary", "mimic_diabetes", "mimic_anemia"}
    | {name for name in SYNTHETIC if name.startswith("mock")},
    "seat": {"sst2", "tweeteval_emotion_binary", "tweeteval_hate", "mr", "rotten_tomatoes"},
    "flat": {"sst2", "imdb", "ag_news", "trec"},
}


@pytest.mark.parametrize("name", NAMES)
def test_every_card_says_what_a_user_needs(name):
    one = card(name)
    assert one.name == name
    for sentence in (one.preprocessing, one.how_to_get):
        assert sentence.strip().endswith("."), sentence
    assert one.title and one.origin
    assert len(set(one.labels)) == len(one.labels)
    assert one.labels or name == "cnn"
    if not one.synthetic:
        assert (
            f"$HEEDFUL_DATA/{one.folder or name}/" in one.how_to_get
            or f"heedful data get {name}" in one.how_to_get
        )
    if one.hub:
        assert "pip install 'heedful[hub]'" in one.how_to_get and one.hub in one.how_to_get
        assert one.hub_columns.keys() == {"text", "label"} | ({"query"} if one.task == "pair" else set())


@pytest.mark.parametrize("paper", OF_PAPER)
def test_every_dataset_of_a_paper_is_there(paper):
    found = {name for name, one in cards().items() if paper in one.papers}
    assert {name for name in found if not name.endswith("_generated")} == OF_PAPER[paper]


@pytest.mark.parametrize("name", [name for name in NAMES if cards()[name].folder])
def test_derived_datasets_agree_with_their_source(name):
    derived, source = card(name), card(card(name).folder)
    assert source.folder is None
    assert (derived.keep_labels is None) != (derived.label_column is None)
    if derived.keep_labels is not None:
        assert derived.labels == tuple(source.labels[i] for i in derived.keep_labels)
        assert (derived.hub, derived.hub_config) == (source.hub, source.hub_config)


def test_binary_news_is_world_against_business():
    assert card("ag_news_binary").labels == ("World", "Business")


def test_credentialed_data_is_explained():
    for name in ("mimic_diabetes", "mimic_anemia"):
        assert card(name).credentialed
        assert "PhysioNet" in card(name).how_to_get
    assert sum(one.credentialed for one in cards().values()) == 2


def test_synthetic_cards_are_exactly_the_generators():
    assert {name for name, one in cards().items() if one.synthetic} == set(SYNTHETIC)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_cards_describe_what_is_generated(name):
    corpus = generate(name)
    assert (card(name).task, card(name).labels) == (corpus.task, corpus.labels)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(BadInput, match=r"There is no dataset named 'ag_new': did you mean ag_news\?"):
        card("ag_new")


def test_a_card_with_an_unknown_field_is_refused():
    with pytest.raises(ValidationError, match="licence"):
        Card(**card("sst2").model_dump(), licence="none")


def test_cards_match_the_files_at_hand(real_data, absent):
    """Of the datasets that say what they are; some can be had by nobody, so that not every card has files."""
    described = {name: real_data / (one.folder or name) / "meta.json" for name, one in cards().items()}
    at_hand = {name: path for name, path in described.items() if path.is_file()}
    if not at_hand:
        absent("no dataset in HEEDFUL_DATA has a meta.json")
    for name, path in at_hand.items():
        one, meta = card(name), json.loads(path.read_text(encoding="utf-8"))
        assert one.task == meta["task"], name
        if one.label_column is None:
            kept = one.keep_labels or range(len(meta["labels"]))
            assert one.labels == tuple(meta["labels"][i] for i in kept), name
