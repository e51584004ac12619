"""Real text, small but whole: what a user of the papers' datasets would notice first."""

from __future__ import annotations

import heedful
from heedful.runs import Run


def _test_metrics(model: object) -> dict[str, float]:
    return Run(model.run).metrics()["test"]  # type: ignore[attr-defined, no-any-return]


def test_sentiment_with_real_vectors(real_data, asset, tmp_path):
    asset("glove-840b-300d")
    model = heedful.train(
        "sst2", encoder="average", vectors="glove-840b-300d", epochs=3, runs=tmp_path, progress=False
    )
    assert _test_metrics(model)["f1"] > 0.78
    good, bad = model.predict(["a warm , funny , engaging film .", "a dull , lifeless mess ."])
    assert (good.label, bad.label) == ("positive", "negative")


def test_a_question_is_answered_and_attention_finds_its_words(real_data, tmp_path):
    model = heedful.train("babi_1", preset="jain-wallace", epochs=6, runs=tmp_path, progress=False)
    assert _test_metrics(model)["accuracy"] > 0.95
    story = "Mary moved to the garden. John went to the office."
    (answer,) = model.predict([story], ["Where is John?"])
    assert answer.label == "office"
    heaviest = max(answer.items, key=lambda item: item.weight)
    assert heaviest.start > story.index("John")


def test_sentences_are_items_in_a_hierarchical_network(real_data, tmp_path):
    model = heedful.train(
        "20news_sports",
        hierarchical=True,
        encoder="average",
        sentence_encoder="bigru",
        hidden=32,
        embedding_size=50,
        epochs=3,
        learning_rate=5e-3,
        runs=tmp_path,
        progress=False,
    )
    assert _test_metrics(model)["f1"] > 0.8
    text = "The goalie stopped every puck. I had lunch."
    (prediction,) = model.predict([text])
    assert [text[i.start : i.end] for i in prediction.items] == [
        "The goalie stopped every puck.",
        "I had lunch.",
    ]


def test_pairs_and_many_classes(real_data, tmp_path):
    model = heedful.train(
        "snli",
        encoder="cnn",
        hidden=32,
        embedding_size=50,
        limit=4000,
        epochs=2,
        runs=tmp_path,
        progress=False,
    )
    assert _test_metrics(model)["accuracy"] > 0.40
    assert len(model.predict(["a man eats"], ["somebody eats"])[0].probabilities) == 3
