"""Weights of words become weights of heads and pieces, and lose nothing on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.explorer.given_weights import by_heads, decide
from heedful.explorer.shelf import Opened
from heedful.explorer.text_reading import read_text

TEXT = "a fine film. It holds up well!"


@pytest.fixture(scope="module")
def reading(request: pytest.FixtureRequest) -> Any:
    make = request.getfixturevalue("toy_classifier_module")
    classifier = make(heads=3, decoder="mlp", encoder="bilstm")
    return read_text(Opened(classifier, classifier.model), TEXT, None)


@pytest.fixture(scope="module")
def toy_classifier_module() -> Any:
    from heedful.config import ModelOptions
    from heedful.data.words.vocabulary import Vocabulary
    from heedful.models.classifier import Classifier
    from heedful.models.model import Architecture, AttentionModel

    def make(**options: Any) -> Classifier:
        torch.manual_seed(1)
        shape = ModelOptions(**{"hidden": 5, "embedding_size": 6, **options})
        words = Vocabulary.learn([TEXT])
        model = AttentionModel(
            Architecture(**shape.model_dump(), vocabulary_size=len(words), classes=2)
        ).eval()
        return Classifier(model, words, ("no", "yes"))

    return make


def in_pieces(reading: Any) -> Any:
    """The same text, whose items are taken for pieces of three words."""
    from dataclasses import replace

    items = reading.word_of.shape[0]
    word_of = torch.arange(items) * 3 // items
    spans = [(0, 1), (1, 2), (2, 3)]
    return replace(reading, word_of=word_of, spans=spans)


weights_of_words = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-12, 1e9, allow_subnormal=False)), min_size=9, max_size=9
).filter(any)


@settings(max_examples=60)
@given(weights_of_words, st.booleans())
def test_heads_have_distributions_whose_words_are_as_given(
    reading: Any, given_weights: list[float], alike: bool
) -> None:
    assert len(reading.spans) == 9
    heads = by_heads(reading, given_weights, alike=alike)
    assert heads.shape == reading.reading.weights[0].shape
    assert heads.sum(-1).tolist() == pytest.approx([1.0] * 3)
    assert float(heads.min()) >= 0
    zero = [i for i, weight in enumerate(given_weights) if weight == 0]
    assert torch.all(heads[:, zero] == 0)
    if alike:
        wanted = np.array(given_weights) / np.sum(given_weights)
        assert np.allclose(heads.numpy(), wanted, atol=1e-9)


def test_pieces_share_a_words_weight_as_they_do_in_the_model(reading: Any) -> None:
    pieces = in_pieces(reading)
    heads = by_heads(pieces, [0.5, 0.25, 0.25], alike=True)
    assert torch.allclose(
        pieces.by_word(heads), torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64).expand(3, 3)
    )
    own = reading.reading.weights[0].double()
    first = pieces.word_of == 0
    assert torch.allclose(
        heads[:, first] / heads[:, first].sum(-1, keepdim=True),
        own[:, first] / own[:, first].sum(-1, keepdim=True),
    )


def test_own_weights_move_nothing_with_heads_and_pieces(reading: Any) -> None:
    pieces = in_pieces(reading)
    mean = pieces.by_word(reading.reading.weights[0].double().mean(0)).tolist()
    moved = decide(pieces, by_heads(pieces, mean, alike=False))
    assert moved.probabilities == pytest.approx(reading.probabilities, abs=1e-6)
    assert moved.change == pytest.approx(0, abs=1e-6)


def test_heads_keep_their_patterns_and_have_the_given_mean(reading: Any) -> None:
    own = reading.by_word(reading.reading.weights[0].double())
    wanted = own.mean(0).clone()
    wanted[2] += 0.5
    wanted /= wanted.sum()
    heads = by_heads(reading, wanted.tolist(), alike=False)
    assert torch.allclose(heads.mean(0), wanted, atol=1e-8)
    # What tells two heads apart in two words is as it was: the scaling is of whole words and whole heads.
    for a, b in ((0, 1), (3, 5)):
        before = own[0, a] * own[1, b] / (own[0, b] * own[1, a])
        after = heads[0, a] * heads[1, b] / (heads[0, b] * heads[1, a])
        assert float(after) == pytest.approx(float(before), rel=1e-6)
