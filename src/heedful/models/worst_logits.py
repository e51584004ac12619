"""What a model says at worst where each word's embedding may lie anywhere in a box: bounds that can be trained (Jia et al. 2019).

The boxes hold a word and all its substitutes, so that the bound holds for every combination of substitutes at once. It is sound,
much looser than a certificate (`shortcuts/certificates.py`), which looks at single substitutes, and cheap enough for every step.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.instances import Batch
from heedful.measures.boxes import Box, through
from heedful.measures.erasure import classes
from heedful.models.decoders import LinearDecoder
from heedful.models.encoders.average import Average
from heedful.models.encoders.cnn import CNN
from heedful.models.encoders.encoder import max_pool, mean_pool
from heedful.models.encoders.none import NoEncoder
from heedful.models.model import AttentionModel

ABLE = "the encoders cnn, average and none with --pooling max or mean and a linear decoder"


def can_be_bounded(model: AttentionModel) -> bool:
    """Whether the bound is known for such a model."""
    simple = type(model.encoder) in (CNN, Average, NoEncoder) and isinstance(model.decoder, LinearDecoder)
    return simple and model.attention is None and model.architecture.pooling in ("max", "mean")


def worst_logits(model: AttentionModel, batch: Batch, box: Box) -> Float[Tensor, "batch outputs"]:
    """Give logits under which the labels fare no better than for any embeddings [batch, tokens, dim] in the box.

    Each rival's lead over the label is the largest that the bounds allow, and cross-entropy of these logits is no less than that
    of any text in the box. No dropout: what is proven is proven of the model as it answers.
    """
    tokens = batch.tokens
    h = _states(model.encoder, box, tokens.present)
    pool = max_pool if model.architecture.pooling == "max" else mean_pool
    features = Box(*(pool(side, tokens.mask)[:, None] for side in h))  # [batch, 1, size]
    decoder = model.decoder
    assert isinstance(decoder, LinearDecoder)
    weight, bias = (part[0] for part in decoder.for_query(None))
    rows, biases = classes(weight.mT).mT, classes(bias[None])[0]  # one for each class
    towards = rows[None] - rows[batch.labels][:, None]  # [batch, classes, size]
    leads = through(features, towards, (biases[None] - biases[batch.labels][:, None])[:, None]).high[:, 0]
    return leads[:, 1:] - leads[:, :1] if weight.shape[0] == 1 else leads


def boxes_of(
    model: AttentionModel,
    ids: Int[Tensor, "batch tokens"],
    options: Int[Tensor, "words options"],
    *,
    share: float,
) -> Box:
    """Give the smallest boxes around each word and its substitutes, drawn in towards the word: `share` 0 is the word alone."""
    distinct, of = torch.unique(ids, return_inverse=True)
    own = model.vectors(distinct)
    vectors = model.vectors(options[distinct])  # [distinct, options, dim]
    low, high = (own + share * (side - own) for side in (vectors.amin(1), vectors.amax(1)))
    return Box(low[of], high[of])


def _states(encoder: nn.Module, box: Box, present: Bool[Tensor, "batch tokens"]) -> Box:
    match encoder:
        case Average():
            inner = through(box, encoder.projection.weight, encoder.projection.bias)
            return Box(encoder.activation(inner.low), encoder.activation(inner.high))
        case CNN():
            return _convolved(encoder, box, present)
        case _:
            return box


def _convolved(encoder: CNN, box: Box, present: Bool[Tensor, "batch tokens"]) -> Box:
    """The middle of a box through the filters, and its half width through their absolute values."""
    middle, width = ((side * present[..., None] / 2).mT for side in (box.low + box.high, box.high - box.low))
    lows, highs = [], []
    for padded in encoder.convolutions:
        assert isinstance(padded, nn.Sequential)
        before, convolution = padded
        assert isinstance(convolution, nn.Conv1d)
        centre = convolution(before(middle))
        reach = nn.functional.conv1d(before(width), convolution.weight.abs())
        lows.append(encoder.activation(centre - reach))
        highs.append(encoder.activation(centre + reach))
    return Box(torch.cat(lows, 1).mT, torch.cat(highs, 1).mT)
