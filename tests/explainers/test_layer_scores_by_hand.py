"""Scores of all layers, computed again from a BERT's own modules alone: what the library reports, and what its layers do."""

from __future__ import annotations

import pytest
import torch
from tests.models.huggingface.conftest import TEXTS, make_classifier

from heedful.explainers.explainer import EXPLAINERS


@pytest.fixture(scope="module")
def made():
    return make_classifier("Bert", attn_implementation="eager")


def each_text(made):
    """Token ids of each text alone, which of them are words, and its scores by an explainer."""
    batch = made.batch(TEXTS)
    for row in range(len(TEXTS)):
        real = batch.tokens.present[row]
        yield row, batch.tokens.ids[row][real][None], batch.tokens.mask[row][real]


def scores(made, name):
    return EXPLAINERS.get(name)(made.model, made.batch(TEXTS), seed=0).detach()


def attentions(module, ids):
    """Weights of all layers as the library reports them, and the slope of the decided class's probability by each."""
    found = module(ids, output_attentions=True)
    probability = found.logits.softmax(-1).max(-1).values
    slopes = torch.autograd.grad(probability.sum(), found.attentions, allow_unused=True)
    return [a.detach()[0] for a in found.attentions], [s[0] for s in slopes]


def differentiable(module):
    for weight in module.parameters():
        weight.requires_grad_()
    return module


def test_gradient_rollout(made):
    """R ← R + Ā R, Ā the mean over heads of the positive part of gradient × attention; the row of [CLS] is read."""
    found = scores(made, "gradient_rollout")
    for row, ids, words in each_text(made):
        relevance = torch.eye(ids.shape[1])
        for weights, slope in zip(*attentions(differentiable(made.model.network.module), ids), strict=True):
            relevance = relevance + (weights * slope).clamp(min=0).mean(0) @ relevance
        torch.testing.assert_close(found[row, : len(words)], relevance[0] * words, rtol=1e-4, atol=1e-6)


def test_attention_gradient(made):
    found = scores(made, "attention_gradient")
    for row, ids, words in each_text(made):
        weights, slopes = attentions(differentiable(made.model.network.module), ids)
        expected = (weights[-1] * slopes[-1])[:, 0].mean(0) * words
        kept = found[row, : len(words)]
        torch.testing.assert_close(
            kept / kept.abs().sum(), expected / expected.abs().sum(), rtol=1e-4, atol=1e-6
        )


@torch.no_grad()
def test_value_zeroing(made):
    """A layer is run again with one token's value zero; how far every vector turns is its share, rolled out over the layers."""
    module, found = made.model.network.module, scores(made, "value_zeroing")
    for row, ids, words in each_text(made):
        vectors, flow = module.bert.embeddings(ids), torch.eye(ids.shape[1])
        for layer in module.bert.encoder.layer:
            whole, turned = layer(vectors), []
            for token in range(ids.shape[1]):

                def without(part, given, value, token=token):
                    value = value.clone()
                    value[:, token] = 0
                    return value

                hook = layer.attention.self.value.register_forward_hook(without)
                turned.append(1 - torch.cosine_similarity(layer(vectors), whole, dim=-1)[0])
                hook.remove()
            shares = torch.stack(turned, -1)
            flow = shares / shares.sum(-1, keepdim=True) @ flow
            vectors = whole
        torch.testing.assert_close(found[row, : len(words)], flow[0] * words, rtol=1e-3, atol=1e-5)


@torch.no_grad()
def test_knockout(made):
    """How far the prediction moves where no layer may attend to a word; its pieces share that."""
    module, found = made.model.network.module, scores(made, "knockout")
    batch = made.batch(TEXTS)
    for row, ids, words in each_text(made):
        whole = module(ids).logits.softmax(-1)[0]
        numbers = batch.tokens.word_of[row][batch.tokens.present[row]]
        for token in words.nonzero()[:, 0].tolist():
            pieces = (numbers == numbers[token]) & words
            left = module(ids, attention_mask=(~pieces).long()[None]).logits.softmax(-1)[0]
            together = found[row, : len(words)][pieces].sum()
            torch.testing.assert_close(together, (whole - left).abs().sum() / 2, rtol=1e-3, atol=1e-5)
