"""Pairs of texts are read as one sequence: the network's own numbers, and the words of both texts as items."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch

import heedful
from heedful.data.pairs import BETWEEN, encode_pairs
from heedful.errors import BadInput
from heedful.models.stages import output_of

FIRSTS = [
    "The film is warm and funny.",
    "Good plot",
    "Nobody should sit through this dull story about a dog!",
]
SECONDS = ["far better than anyone expected", "a fine film, and no dog", "dull"]


def own_logits(module, tokenizer, first, second):
    """What a user of transformers gets."""
    given = tokenizer(first, second, return_tensors="pt", truncation=True)
    takes = inspect.signature(module.forward).parameters
    with torch.no_grad():
        return module(**{name: value for name, value in given.items() if name in takes}).logits


def test_pairs_get_the_networks_own_logits(kind, classifier, tokenizer):
    read = classifier(kind)
    module = read.model.network.module
    rules = tokenizer(special=bool(read.vocabulary.tokenizer.num_special_tokens_to_add(True)))
    found = read.predict(FIRSTS, SECONDS)
    for prediction, first, second in zip(found, FIRSTS, SECONDS, strict=True):
        wanted = own_logits(module, rules, first, second).softmax(-1)[0]
        ours = torch.tensor(list(prediction.probabilities.values()))
        assert ours.numpy() == pytest.approx(wanted.numpy(), abs=1e-5)


def test_types_reach_the_network(classifier):
    read = classifier("Bert")
    read.model.network.typed = True  # as with a tokenizer that names type ids among its outputs
    batch = read.instances(split_of(FIRSTS, SECONDS)).batch(np.arange(3))
    with torch.no_grad():
        told = read.model.logits(batch)
        read.model.network.typed = False
        untold = read.model.logits(read.instances(split_of(FIRSTS, SECONDS)).batch(np.arange(3)))
    assert not torch.allclose(told, untold, atol=1e-3)


def test_items_are_the_words_of_both_texts(classifier):
    prediction = classifier("Bert").predict(FIRSTS[:1], SECONDS[:1])[0]
    assert prediction.text == FIRSTS[0] + BETWEEN + SECONDS[0]
    shown = [prediction.text[item.start : item.end] for item in prediction.items]
    assert shown == [*FIRSTS[0].removesuffix(".").split(), ".", *SECONDS[0].split()]
    assert sum(item.weight for item in prediction.items) == pytest.approx(1, abs=1e-5)


def test_a_deleted_word_goes_with_all_its_pieces_and_takes_its_type_along(classifier):
    read = classifier("Bert")
    read.model.network.typed = True
    batch = read.instances(split_of(FIRSTS[:1], SECONDS[:1])).batch(np.arange(1))
    scores = heedful.explain(read, FIRSTS[:1], "leave_one_out", queries=SECONDS[:1])[0].items
    tokens, network = batch.tokens, read.model.network
    assert len(scores) < int(tokens.mask.sum())  # some word has several pieces
    with torch.no_grad(), network.ready():
        before = output_of(read.model, batch).logits.softmax(-1)[0]
        for number, item in enumerate(scores):
            stays = (tokens.word_of[0] != number) & tokens.present[0]
            ids, types = tokens.ids[:, stays], tokens.type_of[:, stays]
            after = network(ids, torch.ones_like(ids, dtype=torch.bool), types).softmax(-1)[0]
            moved = 0.5 * (after - before).abs().sum()
            assert item.weight == pytest.approx(float(moved), abs=1e-5)


def test_long_pairs_lose_the_end_of_the_longer_text(classifier, tokenizer):
    read = classifier("Bert")
    long = " ".join(["film"] * 100)
    found = encode_pairs([long, "film"], ["a dog", "a dog"], read.vocabulary, typed=True)
    assert found.cut == 1
    theirs = tokenizer()(long, "a dog", truncation=True)["input_ids"]
    assert found.ids[: found.rows[1]].tolist() == theirs


def test_an_empty_second_text_leaves_the_first(classifier):
    read = classifier("Bert")
    tokens = encode_pairs(["good film"], [""], read.vocabulary, typed=True)
    assert tokens.ids.tolist() == [2, *read.vocabulary.encode(["good film"]).ids.tolist()[1:-1], 3, 3]
    assert tokens.word_of.tolist() == [-1, 0, 1, -1, -1]


def test_pairs_are_audited_and_what_replaces_words_is_refused(classifier):
    read = classifier("Bert")
    pairs = [(first, second) for first in FIRSTS for second in SECONDS] * 4
    audit = heedful.audit(read, pairs, progress=False)
    assert {"rationale", "permutation", "agreement"} <= set(audit.summaries)
    refused = audit.refused()
    for name in ("robustness", "consistency", "word_stability"):
        assert refused[name] == "it replaces words of single texts, and these are pairs"
    with pytest.raises(BadInput, match="these are pairs"):
        heedful.audit(read, pairs, only=["robustness"], progress=False)


def test_the_same_pairs_from_a_frame(classifier):
    import polars as pl

    read = classifier("DistilBert")
    frame = pl.DataFrame({"premise": FIRSTS * 3, "hypothesis": SECONDS * 3})
    one = heedful.audit(read, frame, only=["sharpness"], progress=False)
    two = heedful.audit(
        read, list(zip(FIRSTS * 3, SECONDS * 3, strict=True)), only=["sharpness"], progress=False
    )
    assert one.to_frame().equals(two.to_frame())


def test_queries_must_be_as_many_as_texts(classifier):
    with pytest.raises(BadInput, match="1 queries were given for 3 texts: give one each"):
        classifier("Bert").predict(FIRSTS, SECONDS[:1])


def split_of(firsts, seconds):
    from heedful.data.corpus import Split

    return Split(list(firsts), np.zeros(len(firsts), dtype=np.int64), list(seconds))
