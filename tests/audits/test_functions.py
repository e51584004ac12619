"""Audits of a model of which predictions alone are known, in Python; and of one of scikit-learn on real texts."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import heedful
from heedful.errors import BadInput

WORDS = {"great": 2.0, "warm": 1.0, "dull": -2.0, "slow": -1.0}
TEXTS = [
    f"film {i}, which was {'great' if i % 2 else 'dull'} and {'warm' if i % 3 else 'slow'}!"
    for i in range(120)
]
LABELS = [i % 2 for i in range(120)]


def votes(texts):
    sums = [sum(WORDS.get(word.strip(",!"), 0.0) for word in text.split()) for text in texts]
    return [[1 / (1 + math.exp(s)), 1 / (1 + math.exp(-s))] for s in sums]


def audit(**given):
    return heedful.audit(predict=votes, progress=False, **given)


def test_words_that_decide_are_found_and_others_are_not():
    spans = heedful.words(TEXTS)
    right = [[abs(WORDS.get(text[a:b], 0.0)) for a, b in row] for text, row in zip(TEXTS, spans, strict=True)]
    wrong = [[1.0 if score == 0 else 0.0 for score in row] for row in right]
    good, bad = (audit(texts=TEXTS, labels=LABELS, scores=scores) for scores in (right, wrong))
    assert (str(good.verdict), str(bad.verdict)) == ("show with caveat", "do not show")
    assert list(good.summaries) == ["sharpness", "agreement", "infidelity", "rationale"]
    assert good.summaries["agreement"].number("tau_loo").estimate > 0.9
    assert "embedding_stability cannot be asked here" in good.verdict.because[0]


def test_scores_by_place_are_the_scores_of_the_words_there():
    spans = heedful.words(TEXTS)
    by_word = [[abs(WORDS.get(t[a:b], 0.0)) for a, b in row] for t, row in zip(TEXTS, spans, strict=True)]
    # The first letter and the rest apart, as sub-words would be: they add up.
    by_place = [
        [piece for (a, b), s in zip(row, scores, strict=True) if s for piece in ((a, a + 1, s / 4), (a + 1, b, s * 3 / 4))]
        for row, scores in zip(spans, by_word, strict=True)
    ]  # fmt: skip
    one, other = (audit(texts=TEXTS, scores=scores, only=["infidelity"]) for scores in (by_word, by_place))
    assert one.summaries["infidelity"].numbers == other.summaries["infidelity"].numbers


def test_frames_and_lists_are_the_same_data():
    frame = pl.DataFrame({"text": TEXTS, "label": LABELS})
    one = heedful.audit(predict=votes, dataset=frame, only=["sharpness"], progress=False)
    other = audit(texts=TEXTS, labels=["b" if label else "a" for label in LABELS], label_names=["a", "b"], only=["sharpness"])  # fmt: skip
    assert one.about.performance == other.about.performance
    assert one.summaries["sharpness"].numbers[0] == other.summaries["sharpness"].numbers[0]


def test_batches_do_not_change_a_number():
    one, other = (audit(texts=TEXTS[:40], batch_size=size) for size in (64, 7))
    assert {n: s.numbers for n, s in one.summaries.items()} == {n: s.numbers for n, s in other.summaries.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"texts": TEXTS, "labels": LABELS[:3]}, "3 labels were given for 120 texts"),
        ({"texts": TEXTS, "labels": ["good"] * 120}, "Label 'good' in row 1"),
        ({"texts": TEXTS, "scores": [[1.0]] * 3}, "scores for 3 texts, and there are 120"),
        ({"texts": TEXTS, "scores": [[1.0]] * 120}, "Text 1 has 9 items and the list of scores gives it 1"),
        ({"texts": TEXTS, "scores": [[(0, 900, 1.0)]] * 120}, "gives a score from 0 to 900"),
        ({"texts": TEXTS, "scores": [["a"] * 9] * 120}, "no finite numbers"),
        ({"texts": TEXTS, "dataset": "sst2"}, "leave out dataset"),
        ({"texts": TEXTS, "model": "somewhere"}, "one of the two"),
        ({"texts": TEXTS, "source": "integrated_gradients"}, "needs more of a model than predictions"),
    ],
    ids=range(9),
)
def test_what_cannot_be_audited_is_said_in_a_sentence(given, says):
    with pytest.raises(BadInput, match=says):
        audit(**given)


@pytest.mark.real
def test_a_pipeline_of_scikit_learn_on_film_reviews(real_data):
    sklearn = pytest.importorskip("sklearn.feature_extraction.text")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from heedful.config import DataOptions
    from heedful.data.corpora.reader import load_corpus

    corpus = load_corpus(DataOptions(dataset="mr"))
    train, test = corpus.splits["train"], corpus.splits["test"]
    pipeline = make_pipeline(sklearn.TfidfVectorizer(), LogisticRegression(C=10))
    pipeline.fit(train.texts, np.array(corpus.labels)[train.labels])
    found, noise = (
        heedful.audit(
            predict=pipeline.predict_proba,
            texts=test.texts,
            labels=[corpus.labels[label] for label in test.labels],
            limit=250,
            source=source,
            progress=False,
        )
        for source in ("signed_leave_one_out", "random")
    )
    assert found.about.performance["accuracy"] > 0.7 and found.about.labels == corpus.labels
    assert (str(found.verdict), str(noise.verdict)) == ("show with caveat", "do not show")
