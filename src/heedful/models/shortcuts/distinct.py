"""Each distinct word of a batch encoded once, where an item's state depends on its own word alone.

Then score and logits are functions of a word, and a text is only a softmax over numbers looked up: a batch costs as
much as its vocabulary, not as much as its tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.data.instances import Batch
from heedful.models.decoders import LinearDecoder
from heedful.models.model import AttentionModel
from heedful.models.stages import Output


def serves(model: AttentionModel, batch: Batch) -> bool:
    """Whether words can be encoded once each, with the same result as every token by itself.

    A query makes the score of a word depend on more than the word, noise makes its embedding another in every
    place, and dropout and word masks in training draw anew for every token.
    """
    a = model.architecture
    draws = model.training and (a.word_mask == "word" or max(a.embedding_dropout, a.decoder_dropout) > 0)
    return (
        model.unit == "word"
        and not model.contextual
        and model.embedding is not None
        and model.has_attention
        and isinstance(model.decoder, LinearDecoder)
        and batch.query is None
        and batch.candidates is None
        and batch.tokens.shift is None
        and not draws
    )


def read_distinct(model: AttentionModel, batch: Batch) -> Output:
    """Give the output of a model on a batch, each distinct word encoded once."""
    assert isinstance(model.decoder, LinearDecoder)
    words, of = torch.unique(batch.tokens.ids, return_inverse=True)
    h = model.encoder(model.vectors(words)[None], torch.ones(1, len(words), dtype=torch.bool))
    scores: Tensor = model._attention().score(h, None)[0]  # [heads, words]
    says = model.decoder.slopes(h, None)[0]  # [heads, words, outputs]
    weights = model.normalise(scores[:, of].transpose(0, 1), batch.tokens.mask)
    return Output(torch.einsum("bhn,hbnk->bk", weights, says[:, of]) + model.decoder.output.bias, weights)
