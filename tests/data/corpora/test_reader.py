"""A dataset loaded whole: all three splits, labels that mean the same in each, and clear refusals."""

import csv
import gzip
import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.config import DataOptions
from heedful.data.corpora.catalogue import card
from heedful.data.corpora.reader import carve, load_corpus
from heedful.data.corpus import Split
from heedful.errors import BadInput

TRAIN = [(f"text {i}", "pos" if i % 3 else "neg") for i in range(60)]
FEW = [("a", "pos"), ("b", "neg")]


def write(path, rows, columns=("text", "label")):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return str(path)


def load(dataset, **options):
    return load_corpus(DataOptions(dataset=str(dataset), **options))


def refuse(dataset, **options):
    with pytest.raises(BadInput) as caught:
        load(dataset, **options)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message


def test_one_file_becomes_three_splits(tmp_path):
    corpus = load(write(tmp_path / "reviews.csv", TRAIN))
    assert (corpus.name, corpus.task, corpus.labels) == ("reviews", "classification", ("neg", "pos"))
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 49, "test": 6, "dev": 5}
    read = {
        text: corpus.labels[label]
        for split in corpus.splits.values()
        for text, label in zip(split.texts, split.labels, strict=True)
    }
    assert read == dict(TRAIN)
    assert corpus.notes == (
        "test is 6 texts (10%) of train, carved out with seed 0.",
        "dev is 5 texts (9%) of train, carved out with seed 0.",
    )


def test_given_splits_are_kept_as_they_are(tmp_path):
    for split in ("train", "dev", "test"):
        write(tmp_path / "mine" / f"{split}.csv", [*TRAIN, (split, "neg")])
    corpus = load(tmp_path / "mine")
    assert {name: split.texts[-1] for name, split in corpus.splits.items()} == {
        "train": "train",
        "dev": "dev",
        "test": "test",
    }
    assert corpus.notes == ()


def test_files_for_dev_and_test_take_the_place_of_the_datasets_own(tmp_path):
    write(tmp_path / "mine" / "train.csv", TRAIN)
    write(tmp_path / "mine" / "test.csv", TRAIN)
    corpus = load(
        tmp_path / "mine",
        dev_file=write(tmp_path / "d.csv", [("d", "pos")]),
        test_file=write(tmp_path / "t.csv", [("t", "neg")]),
    )
    assert (corpus.splits["dev"].texts, corpus.splits["test"].texts) == (["d"], ["t"])
    assert len(corpus.splits["train"]) == len(TRAIN)


def test_many_classes_are_in_numeric_order(tmp_path):
    corpus = load(write(tmp_path / "a.csv", [(f"t{i}", i % 12) for i in range(120)]))
    assert corpus.labels == tuple(map(str, range(12)))
    test = corpus.splits["test"]
    assert all(int(text[1:]) % 12 == label for text, label in zip(test.texts, test.labels, strict=True))


def test_label_names_name_class_numbers_in_order(tmp_path):
    path = write(tmp_path / "a.csv", [(f"t{i}", i % 2) for i in range(40)])
    corpus = load(path, label_names="bad, good")
    assert corpus.labels == ("bad", "good")
    assert all(int(t[1:]) % 2 == y for t, y in zip(*_columns(corpus.splits["train"]), strict=True))


def _columns(split):
    return split.texts, split.labels.tolist()


def test_another_label_column_has_names_of_its_own(tmp_path):
    rows = [(f"t{i}", i % 2, "abc"[i % 3]) for i in range(60)]
    write(tmp_path / "mine" / "train.csv", rows, ("text", "label", "kind"))
    (tmp_path / "mine" / "meta.json").write_text('{"labels": ["negative", "positive"]}')
    assert load(tmp_path / "mine").labels == ("negative", "positive")
    assert load(tmp_path / "mine", label_column="kind").labels == ("a", "b", "c")


def test_class_numbers_mean_the_same_in_a_split_that_lacks_one(tmp_path):
    """Names that are numbers: the dev split alone could be read as stars, which train shows it is not."""
    write(tmp_path / "mine" / "train.csv", [(f"t{i}", i % 5) for i in range(50)])
    write(tmp_path / "mine" / "dev.csv", [("one", 1), ("four", 4)])
    write(tmp_path / "mine" / "test.csv", [("none", 0)])
    (tmp_path / "mine" / "meta.json").write_text(json.dumps({"labels": ["1", "2", "3", "4", "5"]}))
    assert load(tmp_path / "mine").splits["dev"].labels.tolist() == [1, 4]


def test_pairs_and_questions_keep_their_queries(tmp_path):
    rows = [(f"d{i}", f"q{i}", "ab"[i % 2]) for i in range(40)]
    for columns, task in (
        (("premise", "hypothesis", "label"), "pair"),
        (("document", "question", "answer"), "qa"),
    ):
        corpus = load(write(tmp_path / "a.csv", rows, columns))
        assert corpus.task == task
        for split in corpus.splits.values():
            assert [text[1:] for text in split.texts] == [query[1:] for query in split.queries]


def test_a_description_tells_the_task_where_columns_do_not(tmp_path):
    write(
        tmp_path / "mine" / "train.csv",
        [(f"d{i}", "q", "ab"[i % 2]) for i in range(40)],
        ("text", "query", "label"),
    )
    (tmp_path / "mine" / "meta.json").write_text('{"task": "qa"}')
    assert load(tmp_path / "mine").task == "qa"


def test_candidates_follow_their_rows_through_the_carving(tmp_path):
    path = tmp_path / "qa.jsonl"
    rows = [
        {"document": f"d{i}", "question": "q", "answer": "abc"[i % 3], "candidates": ["abc"[i % 3], "a"]}
        for i in range(60)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    for split in load(path).splits.values():
        assert split.candidates == [[label, 0] for label in split.labels]


def test_skipped_rows_are_counted_by_split(tmp_path):
    write(tmp_path / "mine" / "train.csv", [*TRAIN, ("", "pos"), ("no label", "")])
    write(tmp_path / "mine" / "test.csv", [*TRAIN, ("", "")])
    notes = load(tmp_path / "mine", skip_bad_rows=True).notes
    assert notes[:2] == (
        "Rows without text or label that were left out of train: 2.",
        "Rows without text or label that were left out of test: 1.",
    )
    assert "Row 61" in refuse(tmp_path / "mine")


def test_a_limit_samples_train_only_with_its_classes_in_proportion(tmp_path):
    path = write(tmp_path / "a.csv", TRAIN)
    whole, sample = load(path), load(path, limit=12)
    assert np.bincount(sample.splits["train"].labels).tolist() == [4, 8]
    assert set(sample.splits["train"].texts) < set(whole.splits["train"].texts)
    assert sample.splits["test"].texts == whole.splits["test"].texts
    assert "train is a sample of 12 texts, drawn with seed 0." in sample.notes


def test_a_limit_that_leaves_a_class_out_says_so(tmp_path):
    assert "raise --limit" in refuse(write(tmp_path / "a.csv", TRAIN), limit=1)


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([("a", "pos"), ("b", "pos")], {}, r"same label \(pos\): .*two classes"),
        ([], {}, "There is no row in"),
        (FEW, {}, r"too few different texts \(2\) .* --dev-file and --test-file"),
        ([*FEW, ("c", "pos")], {}, "too few"),
        ([("same", "pos"), ("same", "neg")] * 20, {}, r"too few different texts \(1\)"),
        (TRAIN, {"text_column": "body"}, "no column 'body' in .*: its columns are text, label"),
        (TRAIN, {"label_names": "good,bad"}, r"'neg' in row 1 .*\(good, bad\).*--label-names"),
        (TRAIN, {"label_names": "pos"}, "--label-names .*two or more"),
        (TRAIN, {"label_names": "pos,pos"}, "--label-names .*all different"),
        (TRAIN, {"label_names": "neg,neutral,pos"}, "3 names in --label-names and only the labels neg, pos"),
        (TRAIN, {"dev_file": "nowhere.csv"}, "There is no file nowhere.csv"),
        (TRAIN, {"test_file": "."}, "is a folder"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, rows, options, said):
    assert re.search(said, refuse(write(tmp_path / "a.csv", rows), **options))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_an_empty_file_is_refused(tmp_path, name):
    (tmp_path / name).touch()
    assert "There is no row in" in refuse(tmp_path / name)


def test_an_empty_split_is_refused_by_name(tmp_path):
    write(tmp_path / "mine" / "train.csv", TRAIN)
    write(tmp_path / "mine" / "dev.csv", [])
    assert f"There is no row in {tmp_path / 'mine' / 'dev.csv'}" in refuse(tmp_path / "mine")


def test_a_label_that_train_never_shows_is_refused(tmp_path):
    write(tmp_path / "mine" / "train.csv", TRAIN)
    write(tmp_path / "mine" / "test.csv", [("a", "pos"), ("b", "mixed")])
    assert re.search(r"Label 'mixed' in row 2 of .*test\.csv .*\(neg, pos\)", refuse(tmp_path / "mine"))
    (tmp_path / "mine" / "meta.json").write_text('{"labels": ["neg", "mixed", "pos"]}')
    assert "'mixed' is never in train and in test (texts: 1): add texts" in refuse(tmp_path / "mine")


def test_a_dataset_without_train_is_refused(tmp_path):
    write(tmp_path / "mine" / "test.csv", TRAIN)
    assert "has no training split: put a train file beside test" in refuse(tmp_path / "mine")


def test_splits_must_agree_on_having_queries(tmp_path):
    pairs = write(
        tmp_path / "a.csv",
        [(f"p{i}", "h", "ab"[i % 2]) for i in range(40)],
        ("premise", "hypothesis", "label"),
    )
    alone = write(tmp_path / "b.csv", [("p", "a")])
    assert "the other has none" in refuse(pairs, test_file=alone)


def test_the_whole_dataset_is_needed_to_choose_classes_from(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    write(tmp_path / "ag_news" / "train.csv", [(f"t{i}", i % 2) for i in range(40)])
    (tmp_path / "ag_news" / "meta.json").write_text('{"labels": ["World", "Business"]}')
    assert "the whole dataset" in refuse("ag_news_binary")


def test_kept_classes_can_be_renamed(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    write(tmp_path / "ag_news" / "train.csv", [(f"t{i}", i % 4) for i in range(80)])
    corpus = load("ag_news_binary", label_names="world,money")
    assert corpus.labels == ("world", "money")
    assert {int(t[1:]) % 4: y for t, y in zip(*_columns(corpus.splits["train"]), strict=True)} == {0: 0, 2: 1}


@pytest.mark.parametrize("option", [{"dev_file": "a.csv"}, {"text_column": "body"}, {"label_names": "a,b"}])
def test_a_generated_corpus_has_nothing_to_choose(option):
    assert "generated whole: leave out --" in refuse("mock_1", **option)


def test_the_fingerprint_follows_the_content(tmp_path):
    first, again = (load(write(tmp_path / name / "a.csv", TRAIN)) for name in ("1", "2"))
    changed = load(write(tmp_path / "3" / "a.csv", [("text zero", "neg"), *TRAIN[1:]]))
    moved = load(tmp_path / "1" / "a.csv", split_seed=1)
    assert first.fingerprint == again.fingerprint
    assert len({first.fingerprint, changed.fingerprint, moved.fingerprint}) == 3


def split_of(texts, labels):
    return Split(
        list(texts), np.array(labels, dtype=np.int64), evidence=[[(0, i)] for i in range(len(labels))]
    )


def rows_of(split):
    return sorted(zip(split.texts, split.labels.tolist(), (e[0][1] for e in split.evidence), strict=True))


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(0, 2)), min_size=4, max_size=60),
    st.floats(0.01, 0.9),
    st.integers(0, 3),
)
def test_carving_loses_no_row_and_parts_no_copies(rows, fraction, seed):
    train = split_of(*zip(*rows, strict=True))
    try:
        rest, carved = carve(train, fraction, seed=seed)
    except BadInput:
        assert len(set(train.texts)) <= 3  # one that stays for each class
        return
    assert sorted(rows_of(rest) + rows_of(carved)) == rows_of(train)
    assert len(rest) and len(carved)
    assert not set(rest.texts) & set(carved.texts)


@given(st.lists(st.integers(0, 4), min_size=7, max_size=200), st.floats(0.05, 0.5), st.integers(0, 3))
def test_carving_keeps_every_class_in_train_and_its_share(labels, fraction, seed):
    train = split_of(map(str, range(len(labels))), labels)
    rest, carved = carve(train, fraction, seed=seed)
    assert set(rest.labels) == set(labels)
    share = len(carved) / len(train)
    for label, count in Counter(labels).items():
        # One text of each class stays, and steps need not fall on the borders of a class.
        assert abs((carved.labels == label).sum() - share * count) <= 3


def test_carving_is_a_matter_of_the_seed():
    train = split_of(map(str, range(100)), [i % 2 for i in range(100)])
    first, again, other = (carve(train, 0.2, seed=seed)[1].texts for seed in (0, 0, 1))
    assert first == again != other
    assert len(first) == 20


def test_copies_do_not_swell_the_carved_split():
    """Three hypotheses for each premise: a tenth of the premises is a tenth of the rows."""
    train = split_of([str(i // 3) for i in range(300)], [i % 3 for i in range(300)])
    assert len(carve(train, 0.1, seed=0)[1]) == 30


@pytest.fixture
def real(real_data, absent):
    """Give a function that loads a real dataset."""

    def load_real(name, **options):
        folder = card(name).folder or name
        if not (real_data / folder).is_dir():
            absent(f"there is no {folder} in HEEDFUL_DATA")
        return load(name, **options)

    return load_real


@pytest.mark.parametrize(
    ("name", "task", "labels", "counts"),
    [
        ("sst2", "classification", ("negative", "positive"), (6920, 872, 1821)),
        ("ag_news_binary", "classification", ("World", "Business"), (5081 + 3447, 442 + 300, 3800)),
        ("snli", "pair", ("entailment", "neutral", "contradiction"), (19605, 2200, 9824)),
        (
            "babi_1",
            "qa",
            ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office"),
            (9000, 1000, 1000),
        ),
        ("eraser_movies", "classification", ("NEG", "POS"), (1600, 200, 199)),
    ],
)
def test_real_datasets_have_their_published_size(real, name, task, labels, counts):
    corpus = real(name)
    assert (corpus.task, corpus.labels) == (task, labels)
    assert tuple(len(corpus.splits[split]) for split in ("train", "dev", "test")) == counts
    assert corpus.notes == ()
    if name == "ag_news_binary":
        assert np.bincount(corpus.splits["train"].labels).tolist() == [5081, 3447]
    assert (corpus.splits["dev"].queries is None) == (task == "classification")
    if name == "eraser_movies":
        test = corpus.splits["test"]
        marked = [sum(end - start for start, end in spans) for spans in test.evidence]
        assert all(0 < part < len(text) for part, text in zip(marked, test.texts, strict=True))
        assert 0.25 < sum(marked) / sum(map(len, test.texts)) < 0.35  # 30 % of the words


def test_the_evidence_of_babi_is_its_supporting_sentences(real, real_data):
    test = real("babi_1").splits["test"]
    with gzip.open(real_data / "babi_1" / "test.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    for text, spans, row in zip(test.texts, test.evidence, rows, strict=True):
        sentences = [f"{part}." for part in row["document"].rstrip(".").split(". ")]
        assert [text[start:end] for start, end in spans] == [sentences[i] for i in row["support"]]
        assert all(row["answer"] in text[start:end] for start, end in spans)


def test_ratings_of_imdb_are_named_by_their_stars(real):
    corpus = real("imdb_rating", limit=100)
    assert corpus.labels == ("1", "2", "3", "4", "7", "8", "9", "10")
    assert (len(corpus.splits["train"]), len(corpus.splits["test"])) == (100, 25_000)


def test_trec_lacks_dev_which_is_carved(real):
    corpus = real("trec")
    sizes = {name: len(split) for name, split in corpus.splits.items()}
    assert (sizes["train"] + sizes["dev"], sizes["test"]) == (5452, 500)
    assert 500 < sizes["dev"] < 600
    assert not set(corpus.splits["train"].texts) & set(corpus.splits["dev"].texts)
    assert corpus.notes == ("dev is 544 texts (10%) of train, carved out with seed 0.",)


def test_a_text_with_very_many_copies_stays_in_train():
    texts = ["yes"] * 500 + [f"text {i}" for i in range(500)]
    train, carved = carve(Split(texts, np.arange(1000) % 2), 0.1, seed=0)
    assert "yes" not in carved.texts
    assert len(carved) == 50
    assert len(train) + len(carved) == 1000
