"""Mock corpora: the planted words, and nothing else, tell the label."""

from collections import Counter

import pytest

from heedful.data.corpora.synthetic import SYNTHETIC, generate
from heedful.data.corpora.synthetic.mock import FILLER, MOCK, mock_corpus
from heedful.data.corpora.synthetic.opinion_words import opinion_words
from heedful.errors import BadInput

SMALL = {"train": 300, "test": 60}


def planted(split):
    return [[text[a:b] for a, b in spans] for text, spans in zip(split.texts, split.evidence, strict=True)]


def positions(text):
    return [i for i, word in enumerate(text.split(" ")) if word != FILLER]


@pytest.mark.parametrize("name", MOCK)
def test_sizes_labels_and_lengths_are_those_of_the_paper(name):
    corpus = generate(name)
    assert (corpus.name, corpus.task, corpus.labels) == (name, "classification", ("negative", "positive"))
    assert {split: Counter(rows.labels.tolist()) for split, rows in corpus.splits.items()} == {
        "train": {0: 4000, 1: 4000},
        "test": {0: 500, 1: 500},
    }
    lengths = [len(text.split(" ")) for text in corpus.splits["train"].texts]
    assert (min(lengths), max(lengths)) == (50, 100)
    assert sum(lengths) / len(lengths) == pytest.approx(75, abs=1)


@pytest.mark.parametrize("name", MOCK)
def test_every_text_is_its_planted_words_and_filler(name):
    words = opinion_words()
    polarity = {0: set(words.negative), 1: set(words.positive)}
    split = generate(name).splits["test"]
    for text, label, found in zip(split.texts, split.labels.tolist(), planted(split), strict=True):
        assert [word for word in text.split(" ") if word != FILLER] == found
        assert set(found) <= polarity[label]


@pytest.mark.parametrize(
    ("informative", "expected"),
    [(1, lambda n: 1), (10, lambda n: 10), (0.25, lambda n: (n + 2) // 4), (1.0, lambda n: n)],
)
def test_as_many_words_are_planted_as_asked(informative, expected):
    split = mock_corpus(informative=informative, sizes=SMALL).splits["train"]
    counts = [len(spans) for spans in split.evidence]
    assert counts == [expected(len(text.split(" "))) for text in split.texts]


def test_same_seed_same_corpus_and_other_seed_another():
    first, again, other = generate("mock_5"), generate("mock_5"), generate("mock_5", seed=1)
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.splits["train"].evidence == again.splits["train"].evidence
    assert first.splits["train"].texts[:20] != other.splits["train"].texts[:20]
    assert first.splits["train"].texts[:1000] != first.splits["test"].texts


def test_placement_moves_the_same_words():
    expected = {
        "start": lambda n: list(range(5)),
        "middle": lambda n: list(range((n - 5) // 2, (n - 5) // 2 + 5)),
        "end": lambda n: list(range(n - 5, n)),
    }
    scattered = mock_corpus(informative=5, sizes=SMALL).splits["train"]
    for placement, where in expected.items():
        corpus = mock_corpus(informative=5, placement=placement, sizes=SMALL)
        assert corpus.name == f"mock_5_{placement}"
        assert planted(corpus.splits["train"]) == planted(scattered)
        for text in corpus.splits["train"].texts:
            assert positions(text) == where(len(text.split(" ")))


def test_scattered_words_reach_every_part_of_a_text():
    split = mock_corpus(informative=1, sizes={"train": 2000}).splits["train"]
    tenths = Counter(10 * positions(text)[0] // len(text.split(" ")) for text in split.texts)
    assert sorted(tenths) == list(range(10))
    assert min(tenths.values()) > 100


def test_corpora_that_differ_in_one_control_are_paired():
    any_, strong = (
        mock_corpus(informative=5, strength=s, sizes=SMALL).splits["train"] for s in ("any", "strong")
    )
    one = mock_corpus(informative=1, placement="end", sizes=SMALL).splits["train"]
    for other in (strong, one):
        assert other.labels.tolist() == any_.labels.tolist()
        assert [len(t.split(" ")) for t in other.texts] == [len(t.split(" ")) for t in any_.texts]


def test_strength_chooses_by_valence():
    valence = opinion_words().valence
    for strength, fits in (("strong", lambda v: v >= 2.5), ("weak", lambda v: 0 < v <= 1.5)):
        split = mock_corpus(informative=5, strength=strength, sizes=SMALL).splits["train"]
        for label, found in zip(split.labels.tolist(), planted(split), strict=True):
            assert all(fits(valence[word] * (1 if label else -1)) for word in found)


def test_packaged_list_is_of_a_good_size_and_says_so():
    words = opinion_words()
    assert min(len(words.negative), len(words.positive)) >= 140
    assert not set(words.negative) & set(words.positive)
    assert "packaged" in generate("mock_1").notes[0]


def test_a_users_lexicon_comes_first(monkeypatch, tmp_path):
    folder = tmp_path / "lexicon"
    folder.mkdir()
    (folder / "positive-words.txt").write_bytes(
        "; comment\n\ngood\nGreat\na+\nenvious\nna\xefve\n".encode("latin-1")
    )
    (folder / "negative-words.txt").write_text("bad\nenvious\nill-made\nawful\nodd\n")
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    words = opinion_words()
    assert (words.negative, words.positive) == (("awful", "bad", "odd"), ("good",))
    with pytest.raises(BadInput, match=r"vader_lexicon\.txt"):
        words.select("strong")

    (folder / "vader_lexicon.txt").write_text("good\t2.6\t1\t[]\nbad\t-1.2\t1\t[]\nawful\t-3.1\t1\t[]\n")
    words = opinion_words()
    assert words.select("strong") == (("awful",), ("good",))
    assert words.select("any") == (words.negative, words.positive)
    assert "user's lexicon" in mock_corpus(informative=1, sizes=SMALL).notes[0]


def test_the_downloaded_lexicon_comes_next(monkeypatch, tmp_path):
    folder = tmp_path / "assets" / "opinion-words"
    folder.mkdir(parents=True)
    (folder / "vader_lexicon.txt").write_text(":)\t2.0\t1\t[]\nlovely\t2.8\t1\t[]\npoor\t-2.1\t1\t[]\n")
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path))
    words = opinion_words()
    assert (words.negative, words.positive) == (("poor",), ("lovely",))
    assert "VADER" in words.source


@pytest.mark.parametrize("informative", [0, 51, 0.0, 1.5])
def test_impossible_amounts_are_refused(informative):
    with pytest.raises(BadInput, match="choose from"):
        mock_corpus(informative=informative, sizes=SMALL)


def test_an_unknown_name_gets_a_suggestion():
    assert "mock_10" in SYNTHETIC
    with pytest.raises(BadInput, match="did you mean mock_10"):
        generate("mock_10x")


def test_controls_may_stand_in_the_name():
    corpus = generate("mock_2_start")
    assert corpus.name == "mock_2_start"
    assert all(positions(text) == [0, 1] for text in corpus.splits["test"].texts)
    assert generate("mock_3q").splits["test"].texts == generate("mock_3q").splits["test"].texts
    with pytest.raises(BadInput, match="mock_1"):
        generate("mock_1_left")
    with pytest.raises(BadInput, match="choose from 1 to 50"):
        generate("mock_51")
