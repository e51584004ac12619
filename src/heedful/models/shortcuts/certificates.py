"""Proofs that no combination of substitutes changes a decision: bounds sent through a model from words to logits.

States of words that are read by themselves are known for every substitute. A convolution adds what each word of a window says,
and the words are replaced independently of each other, so that its least and largest values before the activation are exact too:
sums of the least and largest that each place can say. From there on bounds are intervals (`measures/boxes.py`), sound and not tight.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.instances import Batch
from heedful.data.words.substitution import words_of
from heedful.measures.boxes import ROUNDING, Box, least_mean, through
from heedful.measures.erasure import classes
from heedful.models.decoders import LinearDecoder
from heedful.models.encoders.cnn import CNN
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.choices import Choices
from heedful.models.shortcuts.word_options import read_options


def certify_options(
    model: AttentionModel,
    batch: Batch,
    choices: Choices,
    decided: Int[Tensor, " batch"],
    *,
    pooling: str,
    slack: float,
) -> Bool[Tensor, " batch"]:
    """Certify texts whose words are read by themselves.

    The mean of one head is bounded exactly; several heads together, features together and max pooling are bounded one by one,
    as if each could have substitutes of its own.
    """
    read, there = read_options(model, batch, choices), choices.there
    exists = there.any(-1)  # [batch, words, options]
    query = read.states.query
    if pooling == "max":
        h = read.h().masked_fill(~there[..., None], -torch.inf).amax(3)  # [batch, words, options, size]
        low = h.masked_fill(~exists[..., None], torch.inf).amin(2)
        context = _most(Box(low, h.amax(2)), exists[:, :, 0])
        return _certify_context(model, batch, decided, context, query, slack=slack)
    # Each option is one mass, and the mean of its pieces by their masses.
    scores = read.scores.masked_fill(~there[..., None], -torch.inf)  # [batch, words, options, pieces, heads]
    masses = scores.logsumexp(3)
    inner = torch.softmax(scores.masked_fill(~exists[..., None, None], 0.0), dim=3)
    masses, by_head = masses.permute(0, 3, 1, 2), exists[:, None]  # [batch, heads, words, options]
    masses = masses.masked_fill(~by_head, 0.0)
    if not isinstance(model.decoder, LinearDecoder):
        values = torch.einsum("bwoph,bwopm->bhmwo", inner, read.h())
        sides = [
            sign * least_mean(masses[:, :, None].expand_as(values), sign * values, by_head[:, :, None])
            for sign in (1, -1)
        ]
        return _certify_context(model, batch, decided, Box(*sides), query, slack=slack)
    says, rest = classes(torch.einsum("bwoph,bwophk->bhwok", inner, read.says)), classes(read.rest)
    certified = torch.ones(len(decided), dtype=torch.bool)
    for other, rival in _rivals(decided, rest.shape[-1], batch):
        gap = _of(says, decided) - says[..., other]
        bias = _of(rest, decided) - rest[:, other]
        lowest = least_mean(masses, gap, by_head).sum(1) + bias
        size = gap.masked_fill(~by_head, 0.0).abs().flatten(2).amax(2).sum(1) + bias.abs()
        certified &= (lowest > (ROUNDING + slack) * size) | ~rival
    return certified | ~exists.flatten(1).any(1)


def certify_windows(
    model: AttentionModel,
    batch: Batch,
    choices: Choices,
    decided: Int[Tensor, " batch"],
    *,
    pooling: str,
    slack: float,
) -> Bool[Tensor, " batch"]:
    """Certify texts that a convolution reads; only for texts whose words and substitutes are one token each."""
    h, mask = _convolved(model, batch, choices), batch.tokens.mask
    query = None if batch.query is None else model.encode(model.embed(batch), batch).query
    if model.attention is None:
        context = _most(h, mask) if pooling == "max" else _mean(h, mask)
        return _certify_context(model, batch, decided, context, query, slack=slack)
    scores = model.attention.bound(h, query)
    masses = torch.stack(scores, dim=-1)  # [batch, heads, items, 2]
    real = mask[:, None, :, None].expand_as(masses)
    if not isinstance(model.decoder, LinearDecoder):
        sides = []
        for sign, side in ((1, h.low), (-1, h.high)):
            values = sign * side.mT[:, None, :, :, None].expand(*masses.shape[:2], -1, -1, 2)
            again = (part[:, :, None].expand_as(values) for part in (masses, real))
            log_masses, there = again
            sides.append(sign * least_mean(log_masses, values, there))
        return _certify_context(model, batch, decided, Box(*sides), query, slack=slack)
    weight, bias = _per_class(*model.decoder.for_query(query))
    heads = model.architecture.heads
    certified = torch.ones(len(decided), dtype=torch.bool)
    for other, rival in _rivals(decided, weight.shape[1], batch):
        towards = _row(weight, decided) - weight[:, other]  # [batch, heads · size]
        gap = _row(bias, decided) - bias[:, other]
        says = through(h, towards.view(len(towards), heads, -1), slack=slack)  # [batch, items, heads]
        values = says.low.mT[..., None].expand_as(masses)
        lowest = least_mean(masses, values, real).sum(1) + gap
        certified &= (lowest > (ROUNDING + slack) * gap.abs()) | ~rival
    return certified | ~mask.any(1)


def _certify_context(
    model: AttentionModel,
    batch: Batch,
    decided: Int[Tensor, " batch"],
    context: Box,
    query: Float[Tensor, "batch query_size"] | None,
    *,
    slack: float,
) -> Bool[Tensor, " batch"]:
    """Certify by bounds of the vectors [batch, heads, size], or [batch, size], that are decoded."""
    features = Box(*(side.flatten(1)[:, None] for side in context))
    decoder = model.decoder
    if isinstance(decoder, LinearDecoder):
        weight, bias = decoder.for_query(query)
    else:
        if query is not None:
            features = Box(*(torch.cat([side, query[:, None]], dim=-1) for side in features))
        inner = through(features, decoder.inner.weight, decoder.inner.bias)
        features = Box(inner.low.tanh(), inner.high.tanh())
        weight, bias = decoder.output.weight[None], decoder.output.bias[None]
    weight, bias = _per_class(weight, bias)
    certified = torch.ones(len(decided), dtype=torch.bool)
    for other, rival in _rivals(decided, weight.shape[1], batch):
        towards = (_row(weight, decided) - weight[:, other])[:, None]
        gap = (_row(bias, decided) - bias[:, other])[:, None, None]
        certified &= (through(features, towards, gap, slack=slack).low[:, 0, 0] > 0) | ~rival
    return certified | ~batch.tokens.mask.any(1)


def _convolved(model: AttentionModel, batch: Batch, choices: Choices) -> Box:
    """Bound the states of a convolution [batch, items, size], by the least and largest that each place of a window can say."""
    encoder, tokens = model.encoder, batch.tokens
    assert isinstance(encoder, CNN)
    word = words_of(tokens)
    options = choices.ids[:, :, 1:, 0].gather(1, _wide(word, choices.ids.shape[2] - 1))
    may = choices.there[:, :, 1:, 0].gather(1, _wide(word, options.shape[2])) & (word >= 0)[..., None]
    places = torch.cat([tokens.ids[..., None], torch.where(may, options, tokens.ids[..., None])], dim=2)
    distinct, of = torch.unique(places, return_inverse=True)
    vectors = model.vectors(distinct)
    present = tokens.present[..., None]
    sides = []
    for padded_convolution in encoder.convolutions:
        assert isinstance(padded_convolution, nn.Sequential)
        before, convolution = padded_convolution
        assert isinstance(before, nn.ConstantPad1d) and isinstance(convolution, nn.Conv1d)
        assert convolution.bias is not None
        weight = convolution.weight  # [hidden, dim, width]
        width = weight.shape[2]
        low = high = convolution.bias.expand(*word.shape, -1)
        wide = convolution.bias.abs().expand_as(low)
        for tap in range(width):
            says = vectors @ weight[:, :, tap].T  # [distinct, hidden]
            # By Cauchy and Schwarz no smaller than the sizes of what was added up.
            sizes = vectors.norm(dim=1)[of].amax(2, keepdim=True) * weight[:, :, tap].norm(dim=1)
            least, most = _extremes(says, of)
            shift = tap - before.padding[0]
            low = low + _shifted(least * present, shift)
            high = high + _shifted(most * present, shift)
            wide = wide + _shifted(sizes * present, shift)
        sides.append((encoder.activation(low - ROUNDING * wide), encoder.activation(high + ROUNDING * wide)))
    return Box(*(torch.cat(parts, dim=-1) for parts in zip(*sides, strict=True)))


def _extremes(
    says: Float[Tensor, "distinct hidden"], of: Int[Tensor, "batch tokens options"]
) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch tokens hidden"]]:
    """The least and the largest over the options, one option at a time to spare memory."""
    least = most = says[of[..., 0]]
    for option in of.unbind(2)[1:]:
        other = says[option]
        least, most = torch.minimum(least, other), torch.maximum(most, other)
    return least, most


def _shifted(values: Float[Tensor, "batch tokens hidden"], by: int) -> Float[Tensor, "batch tokens hidden"]:
    """Give every place what stands so far to its right, and nothing beyond the ends."""
    tokens = values.shape[1]
    if abs(by) >= tokens:
        return torch.zeros_like(values)
    kept = values[:, max(by, 0) : tokens + min(by, 0)]
    return nn.functional.pad(kept, (0, 0, max(-by, 0), max(by, 0)))


def _most(h: Box, mask: Bool[Tensor, "batch items"]) -> Box:
    """Largest of every feature over the items; zero where there are none."""
    sides = (side.masked_fill(~mask[..., None], -torch.inf).amax(1) for side in h)
    return Box(*(side.masked_fill(~mask.any(1, keepdim=True), 0.0) for side in sides))


def _mean(h: Box, mask: Bool[Tensor, "batch items"]) -> Box:
    weights = (mask / mask.sum(1, keepdim=True).clamp(min=1)).to(h.low.dtype)[:, None]
    mean = through(Box(h.low.mT, h.high.mT), weights)
    return Box(mean.low[..., 0], mean.high[..., 0])


def _rivals(
    decided: Int[Tensor, " batch"], count: int, batch: Batch
) -> Iterator[tuple[int, Bool[Tensor, " batch"]]]:
    """Give every class, and the texts in which it is a rival of the one decided on."""
    for other in range(count):
        rival = decided != other
        if batch.candidates is not None and count > 2:
            rival = rival & batch.candidates[:, other]
        yield other, rival


def _per_class(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of a decoder, one for each class: a binary one's stands against zero."""
    return classes(weight.mT).mT, classes(bias)


def _row(rows: Float[Tensor, "some classes *rest"], decided: Int[Tensor, " batch"]) -> Tensor:
    """The row of the class decided on, of each text; rows are given for each text, or once for all."""
    texts = torch.arange(len(decided)) if len(rows) > 1 else torch.zeros_like(decided)
    return rows[texts, decided]


def _of(says: Float[Tensor, "batch *rest classes"], decided: Int[Tensor, " batch"]) -> Tensor:
    index = decided.view(-1, *[1] * (says.ndim - 1)).expand(*says.shape[:-1], 1)
    return says.gather(-1, index)[..., 0]


def _wide(word: Int[Tensor, "batch tokens"], options: int) -> Int[Tensor, "batch tokens options"]:
    return word.clamp(min=0)[..., None].expand(-1, -1, options)
