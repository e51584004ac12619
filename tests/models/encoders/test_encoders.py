"""Encoders against the library's own layers, and hierarchical networks against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from heedful.config import ModelOptions
from heedful.errors import BadInput
from heedful.models.encoders.encoder import ENCODERS, max_pool, mean_pool
from heedful.models.encoders.transformer import TransformerEncoder


def _ragged(lengths: list[int], tokens: int, size: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(len(lengths), tokens, size, generator=generator)
    return x, torch.arange(tokens)[None] < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("lengths", [[7, 7, 7], [7, 6, 5], [7, 1, 2]], ids=["even", "nearly", "ragged"])
@pytest.mark.parametrize(("name", "cell"), [("bilstm", nn.LSTM), ("bigru", nn.GRU)])
def test_two_directions_equal_the_bidirectional_layer_text_by_text(name, cell, lengths):
    encoder = ENCODERS.get(name)(ModelOptions(hidden=3), 4)
    reference = cell(4, 3, batch_first=True, bidirectional=True)
    weights = dict(encoder.forwards.state_dict())
    weights |= {f"{k}_reverse": v for k, v in encoder.backwards.state_dict().items()}
    reference.load_state_dict(weights)
    x, present = _ragged(lengths, 7)
    h = encoder(x, present)
    summary = encoder.summarise(h, present)
    for row, length in enumerate(lengths):
        expected, final = reference(x[row : row + 1, :length])
        torch.testing.assert_close(h[row, :length], expected[0])
        last = final[0] if isinstance(final, tuple) else final
        torch.testing.assert_close(summary[row], torch.cat([last[0, 0], last[1, 0]]))


def test_a_convolution_sees_its_window_and_nothing_else():
    encoder = ENCODERS.get("cnn")(ModelOptions(hidden=2, widths=(3,), activation="tanh"), 4)
    x, present = _ragged([6, 6], 6)
    moved = x.clone()
    moved[:, 0] += 1.0
    changed = (encoder(x, present) != encoder(moved, present)).any(-1)
    assert changed[:, :2].all()
    assert not changed[:, 2:].any()


@pytest.mark.parametrize("lengths", [[7, 7, 7], [7, 1, 2]], ids=["even", "ragged"])
def test_a_pointer_points_by_a_bilstm_and_speaks_by_the_word_alone(lengths):
    options = ModelOptions(hidden=3, activation="tanh")
    encoder = ENCODERS.get("pointer")(options, 4)
    bilstm, average = (ENCODERS.get(name)(options, 4) for name in ("bilstm", "average"))
    bilstm.load_state_dict(encoder.context.state_dict())
    average.load_state_dict({k: v for k, v in encoder.state_dict().items() if not k.startswith("context.")})
    x, present = _ragged(lengths, 7)
    assert torch.equal(encoder.keys(x, present), bilstm(x, present))
    assert torch.equal(encoder(x, present), average(x, present))
    assert (encoder.size, encoder.key_size) == (3, 6)


def test_a_word_says_the_same_in_every_context(toy_classifier, toy_split):
    """Deleting the others changes how much a word counts, and not what it says."""
    model = (classifier := toy_classifier(encoder="pointer")).model
    batch = classifier.batch(["a fine film", "a dull film"])
    states = model.encode(model.embed(batch), batch)
    assert torch.equal(states.h[0, [0, 2]], states.h[1, [0, 2]])
    assert not torch.equal(model.attend(states)[0], model.attend(states)[1])


def test_pooling_ignores_what_is_masked():
    h = torch.tensor([[[1.0, -5.0], [3.0, -7.0], [99.0, 99.0]]])
    mask = torch.tensor([[True, True, False]])
    assert mean_pool(h, mask).tolist() == [[2.0, -6.0]]
    assert max_pool(h, mask).tolist() == [[3.0, -5.0]]


def test_a_hierarchical_network_is_its_definition(toy_classifier, toy_split):
    """Sentence by sentence: encode words, attend to them, then encode and attend to the sentences."""
    classifier = toy_classifier(encoder="bigru", hierarchical=True, sentence_encoder="lstm")
    model = classifier.model
    instances = classifier.instances(toy_split())
    batch = instances.batch(np.arange(6))
    states = model.encode(model.embed(batch), batch)
    sentences = batch.tokens.sentence_of
    for row in range(6):
        embedded = model.embed(batch)[row]
        vectors, weights = [], []
        for number in range(int(sentences[row].max()) + 1):
            words = embedded[sentences[row] == number][None]
            present = torch.ones(words.shape[:2], dtype=torch.bool)
            h = model.encoder.words(words, present)
            w = torch.softmax(model.encoder.word_attention.score(h, None)[0, 0], dim=-1)
            weights.append(w)
            vectors.append(w @ h[0])
        sequence = torch.stack(vectors)[None]
        expected = model.encoder.sentences(sequence, torch.ones(sequence.shape[:2], dtype=torch.bool))[0]
        torch.testing.assert_close(states.h[row, : len(vectors)], expected)
        assert states.mask[row].sum() == len(vectors)
        torch.testing.assert_close(states.word_weights[row][batch.tokens.mask[row]], torch.cat(weights))


def test_every_encoder_is_found_by_its_name_a_family_by_any_of_its_names():
    assert {"hf:NAME-OR-PATH", "hierarchical", "bilstm"} <= set(ENCODERS)
    assert ENCODERS.get("hf:some/model") is ENCODERS.get("hf:another") is TransformerEncoder
    assert ENCODERS.get("hierarchical").unit == "sentence"
    with pytest.raises(BadInput, match="no encoder named 'hff:some/model'"):
        ENCODERS.get("hff:some/model")
