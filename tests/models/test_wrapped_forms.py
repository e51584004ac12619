"""Forms that people give to modules of their own: queries that are learnt, pooling by the largest, answers in other wrappings."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.models.huggingface.conftest import TEXTS, VOCABULARY, make_tokenizer
from torch import nn

from heedful.data.corpus import Split
from heedful.errors import BadInput
from heedful.models.wrapped import wrap

SIZE = 16


class Tables(nn.Module):
    """Vectors of words and places, and a head."""

    def __init__(self):
        super().__init__()
        self.table, self.places = nn.Embedding(len(VOCABULARY), SIZE), nn.Embedding(80, SIZE)
        self.head = nn.Linear(SIZE, 2)
        self.build()

    def look_up(self, ids):
        return self.table(ids) + self.places(torch.arange(ids.shape[1]))


class LearntQuery(Tables):
    """One query that is learnt reads each text."""

    def build(self):
        self.attention = nn.MultiheadAttention(SIZE, 4, batch_first=True)
        self.query = nn.Parameter(torch.randn(1, 1, SIZE))

    def forward(self, input_ids, attention_mask):
        states = self.look_up(input_ids)
        query = self.query.expand(len(states), -1, -1)
        return self.head(self.attention(query, states, states, key_padding_mask=attention_mask == 0)[0][:, 0])


class KeptWeights(Tables):
    """Keeps the weights that torch's module gives, as people do for their heatmaps."""

    def build(self):
        self.attention = nn.MultiheadAttention(SIZE, 4, batch_first=True)

    def forward(self, input_ids, attention_mask):
        states = self.look_up(input_ids)
        mixed, weights = self.attention(states, states, states, key_padding_mask=attention_mask == 0)
        self.heatmap = weights.detach()[:, 0]
        return self.head(mixed[:, 0])


class ByHand(Tables):
    """Attention of one head that is written out."""

    def build(self):
        self.query, self.key = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def attend(self, states, attention_mask):
        scores = self.query(states) @ self.key(states).transpose(1, 2)
        return torch.softmax(scores.masked_fill(attention_mask[:, None] == 0, -1e9), -1)

    def forward(self, input_ids, attention_mask):
        states = self.look_up(input_ids)
        return self.head((self.attend(states, attention_mask) @ states)[:, 0])


class Largest(ByHand):
    """The largest of all states, number by number."""

    def forward(self, input_ids, attention_mask):
        states = self.look_up(input_ids)
        return self.pooled(self.attend(states, attention_mask) @ states, attention_mask)

    def pooled(self, mixed, attention_mask):
        return self.head(mixed.masked_fill(attention_mask[..., None] == 0, -1e9).amax(1))


class LookedUpTwice(ByHand):
    """Adds the words' own vectors once more."""

    def forward(self, input_ids, attention_mask):
        return super().forward(input_ids, attention_mask) + self.head(self.table(input_ids)[:, 0])


class Named(ByHand):
    """Gives a dictionary."""

    def forward(self, input_ids, attention_mask):
        return {"logits": super().forward(input_ids, attention_mask)}


class OneNumber(ByHand):
    """Gives one number for each text, without an axis for outputs."""

    def forward(self, input_ids, attention_mask):
        return super().forward(input_ids, attention_mask)[:, 1]


class MaskedAfter(ByHand):
    """Hides padding after the softmax, so that padding has a share of what the softmax gives."""

    def attend(self, states, attention_mask):
        weights = torch.softmax(self.query(states) @ self.key(states).transpose(1, 2), -1)
        weights = weights * attention_mask[:, None]
        return weights / weights.sum(-1, keepdim=True)


class OtherNumbers(ByHand):
    """Looks up other numbers than those of the tokens."""

    def forward(self, input_ids, attention_mask):
        return super().forward(input_ids + 1, attention_mask)


class TwoTables(ByHand):
    """Looks tokens up in two tables."""

    def build(self):
        super().build()
        self.other = nn.Embedding(len(VOCABULARY), SIZE)

    def look_up(self, ids):
        return self.table(ids) + self.other(ids)


@pytest.fixture
def make():
    def build(kind):
        torch.manual_seed(0)
        return kind()

    return build


@pytest.fixture
def split():
    return Split(list(TEXTS), np.array([0, 1, 0, 1]))


KINDS = [LearntQuery, KeptWeights, Largest, LookedUpTwice, Named, OneNumber, MaskedAfter]


@pytest.mark.parametrize("kind", KINDS)
def test_they_keep_the_contract(kind, make, split, hold_to_contract):
    made = wrap(make(kind), make_tokenizer())
    hold_to_contract(made.model, made.instances(split))


def test_a_learnt_query_gives_the_weights(make):
    module = make(LearntQuery).eval()
    made = wrap(module, make_tokenizer())
    batch = made.batch(TEXTS)
    states = made.model.encode(made.model.embed(batch), batch)
    with torch.no_grad():
        vectors = module.look_up(batch.tokens.ids)
        query = module.query.expand(len(vectors), -1, -1)
        _, expected = module.attention(
            query, vectors, vectors, key_padding_mask=~batch.tokens.present, average_attn_weights=False
        )
    words = expected[:, :, 0] * batch.tokens.mask[:, None]
    torch.testing.assert_close(made.model.attend(states), words / words.sum(-1, keepdim=True))


def test_weights_that_a_module_keeps_are_those_it_would_keep(make):
    module = make(KeptWeights).eval()
    made = wrap(module, make_tokenizer())
    batch = made.batch(TEXTS)
    made.model.encode(made.model.embed(batch), batch)
    seen = module.heatmap
    with torch.no_grad():
        module(batch.tokens.ids, batch.tokens.present.long())
    torch.testing.assert_close(seen, module.heatmap)


def test_where_the_largest_is_taken_all_places_are_read(make):
    """Which rows win is another matter under other weights, so that other weights must act on all of them."""
    module = make(Largest).eval()
    made = wrap(module, make_tokenizer())
    batch = made.batch(TEXTS)
    states = made.model.encode(made.model.embed(batch), batch)
    own = made.model.attend(states)
    drawn = torch.rand(own.shape, generator=torch.Generator().manual_seed(0)).pow(3) * states.mask[:, None]
    drawn = drawn / drawn.sum(-1, keepdim=True)
    found = made.model.decode(states, drawn)
    for row in range(len(TEXTS)):
        real = batch.tokens.present[row]
        ids, words = batch.tokens.ids[row][real][None], batch.tokens.mask[row][real]
        with torch.no_grad():
            vectors = module.look_up(ids)
            weights = module.attend(vectors, torch.ones_like(ids))[0]  # [queries, keys]
            inside = weights * words
            share = inside.sum(-1, keepdim=True)
            mean = (inside / share).mean(0)
            scaled = (
                inside * drawn[row, 0, : len(words)].where(words, torch.tensor(0.0)) / mean.clamp(min=1e-30)
            )
            other = weights * ~words + share * scaled / scaled.sum(-1, keepdim=True)
            expected = module.pooled(other[None] @ vectors, torch.ones_like(ids))
        torch.testing.assert_close(found[row : row + 1], expected)


def test_padding_that_is_hidden_after_the_softmax_is_no_special_token(make):
    made = wrap(make(MaskedAfter), make_tokenizer())
    assert made.model.network.side == "none"


@pytest.mark.parametrize(
    "kind, reason",
    [
        (OtherNumbers, "none of its tables .* is given the numbers of tokens as they are"),
        (TwoTables, "it looks tokens up in 2 tables"),
    ],
)
def test_other_ways_to_look_words_up_are_refused(kind, reason, make):
    with pytest.raises(BadInput, match=reason):
        wrap(make(kind), make_tokenizer())


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
def test_half_precision_is_read_in_single_and_stays_half(precision, make, split):
    module = make(ByHand).to(precision)
    made = wrap(module, make_tokenizer())
    made.instances(split)
    assert made.model.network.dtype == torch.float32
    assert module.head.weight.dtype == precision
