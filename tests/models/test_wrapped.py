"""Torch models of a user's own: wrapped and audited as they are, or refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import heedful
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput
from heedful.models.wrapped import wrap

TEXTS = ["a fine film with a plot", "dull", "a long and dull film , a bad plot"]


class Pooled(nn.Module):
    """A recurrent network that pools by attention, as Jain and Wallace's."""

    def __init__(self, words, outputs=2):
        super().__init__()
        self.table = nn.Embedding(words, 12)
        self.reader = nn.GRU(12, 10, batch_first=True)
        self.scores, self.head = nn.Linear(10, 1), nn.Linear(10, outputs)

    def forward(self, input_ids, attention_mask):
        states, _ = self.reader(self.table(input_ids))
        scores = self.scores(states).squeeze(-1).masked_fill(attention_mask == 0, -torch.inf)
        return self.head(torch.einsum("bn,bnd->bd", torch.softmax(scores * 5, -1), states))


class Summed(Pooled):
    """The same, with weights that are multiplied and summed, laid out as columns."""

    def forward(self, input_ids, attention_mask):
        states, _ = self.reader(self.table(input_ids))
        scores = self.scores(states).masked_fill(attention_mask[..., None] == 0, -torch.inf)
        return self.head((nn.functional.softmax(scores * 5, dim=1) * states).sum(1))


class Layers(nn.Module):
    """Torch's own transformer, whose attention is computed in one piece; the mean of its states is read."""

    def __init__(self, words, outputs=2):
        super().__init__()
        self.table, self.places = nn.Embedding(words, 16), nn.Embedding(64, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, outputs)

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1])
        states = self.layers(
            self.table(input_ids) + self.places(places), src_key_padding_mask=attention_mask == 0
        )
        kept = attention_mask[..., None].float()
        return self.head((states * kept).sum(1) / kept.sum(1))


class First(Layers):
    """Reads the first token."""

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1])
        states = self.layers(
            self.table(input_ids) + self.places(places), src_key_padding_mask=attention_mask == 0
        )
        return self.head(states[:, 0])


class Squashed(Pooled):
    """Gives probabilities, as `nn.Softmax` at its end makes them."""

    def forward(self, input_ids, attention_mask):
        logits = super().forward(input_ids, attention_mask)
        return logits.softmax(-1) if logits.shape[-1] > 1 else logits.sigmoid()


class Mixed(Pooled):
    """Pools by two attentions that stand side by side."""

    def forward(self, input_ids, attention_mask):
        states = self.table(input_ids)[..., :10]
        scores = self.scores(states).squeeze(-1).masked_fill(attention_mask == 0, -torch.inf)
        ways = [torch.einsum("bn,bnd->bd", (scores * scale).softmax(-1), states) for scale in (5, -5)]
        return self.head(ways[0] * ways[1])


class Towers(nn.Module):
    """Two whole networks read the same text."""

    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, 16)
        towers = [nn.TransformerEncoderLayer(16, 2, 24, batch_first=True) for _ in range(2)]
        self.towers, self.head = nn.ModuleList(towers), nn.Linear(32, 2)

    def forward(self, input_ids, attention_mask):
        states, hidden = self.table(input_ids), attention_mask == 0
        read = [tower(states, src_key_padding_mask=hidden)[:, 0] for tower in self.towers]
        return self.head(torch.cat(read, -1))


class Gated(Pooled):
    """Chooses between vectors by a softmax before and after its attention, which weigh no tokens."""

    def forward(self, input_ids, attention_mask):
        states, _ = self.reader(self.table(input_ids))
        gate = torch.softmax(states.sum(1), -1)
        scores = self.scores(states).squeeze(-1).masked_fill(attention_mask == 0, -torch.inf)
        pooled = torch.einsum("bn,bnd->bd", torch.softmax(scores * 5, -1), states)
        return self.head(pooled * gate * torch.softmax(pooled, -1))


class Stacked(Layers):
    """Torch's own transformer, whose states are pooled by an attention of another form."""

    def __init__(self, words):
        super().__init__(words)
        self.scores = nn.Linear(16, 1)

    def forward(self, input_ids, attention_mask):
        hidden = attention_mask == 0
        places = torch.arange(input_ids.shape[1])
        states = self.layers(self.table(input_ids) + self.places(places), src_key_padding_mask=hidden)
        scores = self.scores(states).squeeze(-1).masked_fill(hidden, -torch.inf)
        return self.head(torch.einsum("bn,bnd->bd", torch.softmax(scores * 5, -1), states))


class Wavering(Pooled):
    """Answers differently every time."""

    def forward(self, input_ids, attention_mask):
        return super().forward(input_ids, attention_mask) + torch.rand(1)


class Broken(Pooled):
    """Gives no numbers."""

    def forward(self, input_ids, attention_mask):
        return super().forward(input_ids, attention_mask) * torch.nan


class Deaf(Pooled):
    """Computes attention and does not use it."""

    def forward(self, input_ids, attention_mask):
        super().forward(input_ids, attention_mask)
        return torch.zeros(len(input_ids), 2)


class Frozen(Pooled):
    """Its states are taken as they are, as those of a network that was trained before."""

    def forward(self, input_ids, attention_mask):
        with torch.no_grad():
            states, _ = self.reader(self.table(input_ids))
        scores = self.scores(states).squeeze(-1).masked_fill(attention_mask == 0, -torch.inf)
        return self.head((torch.softmax(scores, -1)[..., None] * states).sum(1))


class Shut(First):
    """Keeps no gradient at all."""

    def forward(self, input_ids, attention_mask):
        with torch.no_grad():
            return super().forward(input_ids, attention_mask)


class Flat(Pooled):
    """Has no attention."""

    def forward(self, input_ids, attention_mask):
        return self.head(self.reader(self.table(input_ids))[0].mean(1))


@pytest.fixture
def rules():
    """Words and rules that find them."""
    return Vocabulary.learn(TEXTS).tokenizer


@pytest.fixture
def make(rules):
    def build(kind, **options):
        torch.manual_seed(0)
        return kind(rules.get_vocab_size(), **options)

    return build


@pytest.mark.parametrize("kind", [Pooled, Summed, Layers, First, Gated, Stacked])
def test_a_wrapped_model_keeps_the_contract(kind, make, rules, toy_split, hold_to_contract):
    made = wrap(make(kind), rules, labels=["no", "yes"])
    hold_to_contract(made.model, made.instances(toy_split()))
    assert made.labels == ("no", "yes")


@pytest.mark.parametrize(
    "kind, heads, route",
    [(Pooled, 1, "whole"), (Stacked, 1, "whole"), (Layers, 2, "rows"), (First, 2, "rows")],
)
def test_the_softmax_that_is_found_is_its_last(kind, heads, route, make, rules):
    made = wrap(make(kind), rules)
    batch = made.batch(TEXTS)
    assert made.model(batch).weights.shape[1] == heads
    assert made.model.route == route


def test_its_weights_are_those_it_computes(make, rules):
    module = make(Pooled)
    made = wrap(module, rules)
    batch = made.batch(TEXTS)
    with torch.no_grad():
        states, _ = module.reader(module.table(batch.tokens.ids))
        scores = module.scores(states).squeeze(-1).masked_fill(~batch.tokens.present, -torch.inf)
        expected = torch.softmax(scores * 5, -1)
    torch.testing.assert_close(made.model(batch).weights[:, 0], expected)


def test_the_weights_of_the_last_of_several_forms_are_those_that_pool(make, rules):
    """The audited softmax is that over tokens, and not the one that makes gates of the same form."""
    module = make(Gated)
    made = wrap(module, rules)
    batch = made.batch(TEXTS)
    with torch.no_grad():
        states, _ = module.reader(module.table(batch.tokens.ids))
        scores = module.scores(states).squeeze(-1).masked_fill(~batch.tokens.present, -torch.inf)
    torch.testing.assert_close(made.model(batch).weights[:, 0], torch.softmax(scores * 5, -1))


def test_one_output_is_the_logit_of_the_second_class(make, rules):
    made = wrap(make(Pooled, outputs=1), rules, labels=["no", "yes"])
    (said,) = made.predict(["a fine film"])
    logit = made.model(made.batch(["a fine film"])).logits.item()
    assert said.probabilities["yes"] == pytest.approx(1 / (1 + np.exp(-logit)))


def test_it_is_audited_and_explained(make, rules):
    made = heedful.wrap(make(First), rules, labels=["no", "yes"])
    result = heedful.audit(made, TEXTS * 2, only=["permutation"], progress=False)
    assert result.about.model == "First"
    assert heedful.explain(made, TEXTS, "integrated_gradients")[0].items


@pytest.mark.parametrize(
    "given, reason",
    [
        (lambda make: make(Flat), "it has no softmax over the tokens"),
        (lambda make: nn.Linear(3, 2), "does not take what it is given"),
        (lambda make: make(Pooled).table, "logits \\[texts, classes\\] are needed"),
        (lambda make: "a model", "A torch module is needed"),
        (lambda make: make(Squashed), "gives probabilities, and logits are needed"),
        (lambda make: make(Squashed, outputs=1), "gives probabilities, and logits are needed"),
        (lambda make: make(Mixed), "another softmax stands beside its last one"),
        (lambda make: make(Towers), "another softmax stands beside its last one"),
        (lambda make: make(Wavering), "it gives other logits when it reads the same texts again"),
        (lambda make: make(Broken), "its logits are not all numbers"),
        (lambda make: make(Deaf), "its head does not read what its last attention gives"),
        (lambda make: make(Frozen), "no gradient of its answer reaches its word vectors"),
        (lambda make: make(Shut), "or not so that it can be differentiated"),
        (
            lambda make: torch.jit.trace(make(Pooled), (torch.ones(2, 3, dtype=torch.long),) * 2),
            "does not show its parts",
        ),
    ],
)
def test_what_cannot_be_wrapped_is_refused(given, reason, make, rules):
    with pytest.raises(BadInput, match=reason):
        wrap(given(make), rules)


@pytest.mark.parametrize("kind", [Layers, First])
def test_a_compiled_module_is_read_as_the_one_it_was_made_of(kind, make, rules):
    expected = wrap(make(kind), rules).predict(TEXTS)
    inside = make(kind)
    inside.compile()
    for module in (torch.compile(make(kind)), inside):
        assert [said.probabilities for said in wrap(module, rules).predict(TEXTS)] == [
            said.probabilities for said in expected
        ]


def test_a_module_that_is_not_wrapped_is_told_so(make, rules):
    for given in ({}, {"tokenizer": rules}):
        with pytest.raises(BadInput, match="wrap it first"):
            heedful.explain(make(Pooled), TEXTS, **given)


def test_too_few_names_are_refused(make, rules):
    with pytest.raises(BadInput, match="2 outputs and 3 classes are named"):
        wrap(make(Pooled), rules, labels=["a", "b", "c"])
