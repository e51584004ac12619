"""The model: four stages, and a forward pass that is their composition and nothing else."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from pydantic import ConfigDict, Field
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.errors import BadInput
from heedful.models.attention import Attention
from heedful.models.decoders import DECODERS, LinearDecoder, MLPDecoder
from heedful.models.encoders.encoder import ENCODERS, Encoder, max_pool, mean_pool
from heedful.models.encoders.pointer import recurrent_part
from heedful.models.shorter import (
    Moved,
    Reader,
    Robustness,
    Scaled,
    Substitutes,
    decode_each,
    decode_many,
    moved_without_each,
    noisy,
    read,
    reader,
    robustness,
    scaled,
    smooth,
)
from heedful.models.stages import Effects, Output, States, Unit, output_of, probabilities
from heedful.models.word_mask import GroupMask, WordMask, build_mask

__all__ = ["Architecture", "AttentionModel", "probabilities"]

_NUMBERS = 1 << 22
"""Numbers laid out at a time when many weights are decoded: 16 MB."""

_EXCLUDED = -1e9  # a class that is no candidate; finite, so that no audit meets an infinity


class Architecture(ModelOptions):
    """Everything that decides the shape of a model: the user's options, and what the data decided."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vocabulary_size: int
    classes: int = Field(ge=2)
    query: bool = False
    transformer: dict[str, Any] | None = None
    """Shape of a pretrained transformer, so that loading needs neither hub nor path."""


class AttentionModel(nn.Module):
    """embed → encode → attend → decode.

    Two classes share one logit and a sigmoid, as in the papers; more have one logit each and a softmax.
    """

    def __init__(self, architecture: Architecture, transformer: nn.Module | None = None) -> None:
        super().__init__()
        self.architecture = a = architecture
        kind = ENCODERS.get("hierarchical" if a.hierarchical else a.encoder)
        self.embedding: nn.Embedding | None = None
        self.query_encoder: Encoder | None = None
        if not kind.brings_embedding:
            self.embedding = nn.Embedding(a.vocabulary_size, a.embedding_size, padding_idx=0)
        self.encoder: Encoder = kind.build(a, a.transformer if transformer is None else transformer)
        if a.query and not kind.brings_embedding:
            reader = ENCODERS.get(a.encoder).query_encoder or a.encoder
            self.query_encoder = ENCODERS.get(reader)(a, a.embedding_size)
        size = self.encoder.size
        query_size = (self.query_encoder or self.encoder).size if a.query else None
        self.attention = Attention(a, self.encoder.key_size, query_size) if a.pooling == "attention" else None
        heads = a.heads if self.attention else 1
        outputs = 1 if a.classes == 2 else a.classes
        self.decoder: LinearDecoder | MLPDecoder = DECODERS[a.decoder](
            a.model_copy(update={"heads": heads}), size, query_size, outputs
        )
        self.embedding_dropout = nn.Dropout(a.embedding_dropout)
        self.decoder_dropout = nn.Dropout(a.decoder_dropout)
        # Last, because what is drawn before it must not depend on it.
        self.word_mask: WordMask | GroupMask | None = build_mask(a, self.table)

    @property
    def unit(self) -> Unit:
        """Words, or the sentences of a hierarchical network."""
        return self.encoder.unit

    @property
    def contextual(self) -> bool:
        """Whether an item's state depends on others."""
        return self.encoder.contextual

    @property
    def slow(self) -> bool:
        """Whether reading takes long: of transformers it does."""
        return self.encoder.slow

    @property
    def has_attention(self) -> bool:
        """Whether there is a heatmap."""
        return self.attention is not None

    def items(self, batch: Batch) -> Int[Tensor, " batch"]:
        """How many items each text has: words, or sentences for a hierarchical model."""
        tokens = batch.tokens
        if self.unit == "sentence":
            assert tokens.sentence_of is not None
            return tokens.sentence_of.amax(1) + 1
        return tokens.mask.sum(1)

    def embed(self, batch: Batch) -> Float[Tensor, "batch tokens dim"]:
        """Stage 1: a vector for every token, masked where the model has word masks; noise is added to that."""
        tokens = batch.tokens
        embedded = self.unmasked(tokens.ids)
        if self.word_mask is not None:
            masks = self.word_mask(embedded, tokens.ids).masked_fill(~tokens.mask, 1.0)  # [CLS] is no word
            embedded = embedded * masks[..., None]
        return embedded if tokens.shift is None else embedded + tokens.shift

    def importance(self, batch: Batch) -> Float[Tensor, "batch tokens"] | None:
        """How much of each word is let through, which depends on the word alone; None without word masks."""
        if self.word_mask is None:
            return None
        tokens = batch.tokens
        return self.word_mask.expected(self.unmasked(tokens.ids), tokens.ids).masked_fill(~tokens.mask, 0.0)

    def encode(self, embedded: Float[Tensor, "batch tokens dim"], batch: Batch) -> States:
        """Stage 2: a state for every item, and the query they are read for."""
        embedded = self.embedding_dropout(embedded)
        query = None if batch.query is None else self._encode_query(batch.query)
        h, mask, word_weights, keys = self.encoder.items(embedded, batch.tokens)
        return States(h, mask, query, batch.candidates, word_weights, rest=keys)

    def score(self, states: States) -> Float[Tensor, "batch heads items"]:
        """Stage 3a: how well each item fits, before normalising."""
        return self._attention().score(states.h if states.rest is None else states.rest, states.query)

    def normalise(
        self, scores: Float[Tensor, "batch heads items"], mask: Tensor
    ) -> Float[Tensor, "batch heads items"]:
        """Stage 3b: scores to weights."""
        return self._attention().normalise(scores, mask)

    def attend(self, states: States) -> Float[Tensor, "batch heads items"] | None:
        """Stage 3: the weights; None where the model pools without attention."""
        return self.normalise(self.score(states), states.mask) if self.has_attention else None

    def decode(
        self, states: States, weights: Float[Tensor, "batch heads items"] | None
    ) -> Float[Tensor, "batch outputs"]:
        """Stage 4: mix the states by any weights whatever, and give logits."""
        context = (
            self._pool(states)[:, None]
            if weights is None
            else torch.einsum("bhn,bnm->bhm", weights, states.h)
        )
        return self.decode_context(context, states.query, states.candidates)

    def decode_context(
        self,
        context: Float[Tensor, "batch heads size"],
        query: Float[Tensor, "batch query_size"] | None,
        candidates: Bool[Tensor, "batch classes"] | None,
    ) -> Float[Tensor, "batch outputs"]:
        """Give the logits of contexts that are already mixed: the second half of stage 4."""
        logits: Tensor = self.decoder(self.decoder_dropout(context), query)
        if candidates is not None and logits.shape[-1] > 1:
            logits = logits.masked_fill(~candidates, _EXCLUDED)
        return logits

    def forward(self, batch: Batch) -> Output:
        """All four stages."""
        return output_of(self, batch)

    def effects(self, states: States) -> Effects | None:
        """What weight on each item adds to the logits, and what the decoder says to the zero vector."""
        if not isinstance(self.decoder, LinearDecoder) or self.attention is None:
            return None
        of_item = self.decoder.slopes(states.h, states.query)
        nothing = states.h.new_zeros(len(states.h), of_item.shape[1], states.h.shape[-1])
        if states.candidates is not None and of_item.shape[-1] > 1:
            of_item = of_item.masked_fill(~states.candidates[:, None, None], 0.0)
        return Effects(of_item, self.decode_context(nothing, states.query, states.candidates))

    def exact(self) -> AttentionModel:
        """Copy in double precision.

        A contextual model shares its table of words, which is large, and converts what it gives; and its weights want no
        gradients, which the kernels of recurrent encoders would give all or none of.
        """
        if not self.contextual:
            return deepcopy(self).double().eval()
        copy = deepcopy(self, {id(self.embedding): None}).double().requires_grad_(False).eval()
        copy.embedding = self.embedding
        return copy

    @property
    def dtype(self) -> torch.dtype:
        """The precision that it reads in."""
        return self.decoder.output.weight.dtype

    @property
    def table(self) -> nn.Module:
        """The vectors of words, or of their pieces: the model's, or what its encoder brings."""
        table = self.embedding if self.encoder.embedding is None else self.encoder.embedding
        assert table is not None
        return table

    def vectors(self, ids: Int[Tensor, "*tokens"]) -> Float[Tensor, "*tokens dim"]:
        """Look up words, or pieces of them, by their numbers, as the model reads them: masked, if it has masks."""
        embedded = self.unmasked(ids)
        return embedded if self.word_mask is None else embedded * self.word_mask(embedded, ids)[..., None]

    def unmasked(self, ids: Int[Tensor, "*tokens"]) -> Float[Tensor, "*tokens dim"]:
        """Look them up as they stand in the table."""
        embedded: Tensor = self.table(ids)
        return embedded.to(self.dtype)

    def _encode_query(self, tokens: Tokens) -> Tensor:
        """Read a query; words are masked in what is read for it alone."""
        encoder = self.query_encoder or self.encoder
        embedded = self.unmasked(tokens.ids)
        if tokens.shift is not None:
            embedded = embedded + tokens.shift
        return encoder.summarise(encoder(self.embedding_dropout(embedded), tokens.present), tokens.present)

    def _pool(self, states: States) -> Tensor:
        match self.architecture.pooling:
            case "mean":
                return mean_pool(states.h, states.mask)
            case "max":
                return max_pool(states.h, states.mask)
            case "cls":
                return states.h[:, 0]
            case _:
                return self.encoder.summarise(states.h, states.mask)

    def _attention(self) -> Attention:
        if self.attention is None:
            raise BadInput(
                f"This model pools by {self.architecture.pooling} and has no attention: "
                f"train one with --pooling attention to ask about its weights."
            )
        return self.attention


@read.register(AttentionModel)
def _read(model: AttentionModel, batch: Batch) -> Output:
    from heedful.models.shortcuts.distinct import read_distinct, serves

    return read_distinct(model, batch) if serves(model, batch) else model(batch)


@decode_many.register(AttentionModel)
def _decode_many(
    model: AttentionModel, states: States, weights: Float[Tensor, "batch variants heads items"]
) -> Float[Tensor, "batch variants outputs"]:
    """Mix the states for a block of variants at a time."""
    h = states.h
    size = max(1, _NUMBERS // (len(h) * weights.shape[2] * max(h.shape[1:])))
    blocks = weights.split(size, dim=1)  # type: ignore[no-untyped-call]
    mixed = (torch.einsum("bvhn,bnm->bvhm", block, h) for block in blocks)
    return torch.cat([decode_contexts(model, states, contexts) for contexts in mixed], dim=1)


@decode_each.register(AttentionModel)
def _decode_each(model: AttentionModel, states: States, heads: int) -> Float[Tensor, "batch items outputs"]:
    """What an item alone leaves of the mixture is its state."""
    return decode_contexts(model, states, states.h[:, :, None].expand(-1, -1, heads, -1))


def decode_contexts(
    model: AttentionModel, states: States, contexts: Float[Tensor, "batch variants heads size"]
) -> Float[Tensor, "batch variants outputs"]:
    """Give the logits of many contexts for each instance."""
    batch, variants = contexts.shape[:2]
    query, candidates = (
        None if field is None else field.repeat_interleave(variants, dim=0)
        for field in (states.query, states.candidates)
    )
    return model.decode_context(contexts.flatten(0, 1), query, candidates).view(batch, variants, -1)


@scaled.register(AttentionModel)
def _scaled(model: AttentionModel, batch: Batch) -> Scaled:
    from heedful.models.shortcuts.scaled import scaled_recurrent

    recurrent = recurrent_part(model.encoder)
    return (
        scaled.dispatch(object)(model, batch)
        if recurrent is None
        else scaled_recurrent(model, recurrent, batch)
    )


@noisy.register(AttentionModel)
def _noisy(model: AttentionModel, batch: Batch, noise: Float[Tensor, "batch tokens dim"]) -> Scaled | None:
    from heedful.models.shortcuts.scaled import scaled_recurrent

    recurrent = recurrent_part(model.encoder)
    if recurrent is None:
        return None
    with torch.no_grad():
        return torch.no_grad()(scaled_recurrent(model, recurrent, batch, noise))


@smooth.register(AttentionModel)
def _smooth(model: AttentionModel) -> bool:
    a = model.architecture
    return model.encoder.smooth and a.pooling in ("attention", "mean") and a.normaliser == "softmax"


@moved_without_each.register(AttentionModel)
def _moved_without_each(model: AttentionModel, batch: Batch) -> Moved | None:
    from heedful.models.shortcuts.leave_one_out import moved

    return moved(model, batch)


@robustness.register(AttentionModel)
def _robustness(
    model: AttentionModel, batch: Batch, substitutes: Substitutes, *, slack: float = 0.0
) -> Robustness | None:
    from heedful.models.shortcuts.robustness import robust

    return robust(model, batch, substitutes, slack=slack)


@reader.register(AttentionModel)
def _reader(model: AttentionModel) -> Reader | None:
    from heedful.models.shortcuts.attended_prefixes import AttendedReader
    from heedful.models.shortcuts.prefixes import PooledReader
    from heedful.models.shortcuts.windows import WindowReader

    kinds: tuple[Any, ...] = (PooledReader, AttendedReader, WindowReader)
    plain = model.embedding is not None and not model.architecture.query
    return next((kind(model) for kind in kinds if plain and kind.serves(model)), None)
