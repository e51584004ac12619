"""What every model promises, whoever made it: one tester for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import pytest
import torch
from torch import nn

from heedful.data.instances import Instances
from heedful.explainers.explainer import item_of
from heedful.models import shorter
from heedful.models.stages import Scored, Stages, output_of

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


class Contract:
    """Asks a model everything that audits, explainers and the report take for granted."""

    def __init__(self, model: Stages, instances: Instances) -> None:
        self.model, self.instances = model, instances
        self.rows = np.arange(len(instances))
        self.batch = instances.batch(self.rows)
        with torch.no_grad():
            self.states = model.encode(model.embed(self.batch), self.batch)
            self.weights = model.attend(self.states)

    def check(self) -> None:
        """Hold the model to all of it; hooks are counted around everything."""
        before = _hooks(self.model)
        with torch.no_grad():
            self.decoding_its_own_weights_is_its_forward_pass()
            self.items_are_words_or_sentences()
            self.weights_are_a_distribution_over_the_mask()
            self.companions_padding_and_order_change_nothing()
            self.effects_equal_decode()
            self.shorter_ways_lead_to_the_same()
            self.an_exact_copy_says_the_same_and_changes_nothing()
            self.without_context_items_are_read_by_themselves()
        self.gradients_reach_embeddings_and_weights()
        batch, items = self.states.mask.shape
        with suppress(RuntimeError, IndexError, ValueError):
            self.model.encode(self.model.embed(self.batch)[:, :1, :1], self.batch)
        with pytest.raises((RuntimeError, ValueError)):
            self.model.decode(self.states, torch.ones(batch, 1, items + 1, dtype=self.states.h.dtype))
        assert _hooks(self.model) == before, "a hook survives a call"

    def decoding_its_own_weights_is_its_forward_pass(self) -> None:
        forward = self.model(self.batch) if callable(self.model) else output_of(self.model, self.batch)
        assert torch.equal(forward.logits, self.model.decode(self.states, self.weights))
        assert (forward.weights is None) == (self.weights is None) == (not self.model.has_attention)
        if isinstance(self.model, Scored) and self.weights is not None:
            scores = self.model.score(self.states)
            assert torch.equal(self.model.normalise(scores, self.states.mask), self.weights)

    def items_are_words_or_sentences(self) -> None:
        tokens = self.batch.tokens
        of = tokens.sentence_of if self.model.unit == "sentence" else torch.arange(tokens.mask.shape[1])[None]
        numbers = torch.where(tokens.mask, of, -1)
        for mask, row in zip(self.states.mask, numbers.tolist(), strict=True):
            assert mask.nonzero()[:, 0].tolist() == sorted({number for number in row if number >= 0})

    def weights_are_a_distribution_over_the_mask(self) -> None:
        if self.weights is None:
            return
        batch, heads, items = self.weights.shape
        assert (batch, items) == self.states.mask.shape == self.states.h.shape[:2]
        assert (self.weights >= 0).all()
        assert (self.weights.masked_select(~self.states.mask[:, None]) == 0).all()
        torch.testing.assert_close(self.weights.sum(-1), torch.ones(batch, heads, dtype=self.weights.dtype))

    def companions_padding_and_order_change_nothing(self) -> None:
        whole = output_of(self.model, self.batch)
        backwards = output_of(self.model, self.instances.batch(self.rows[::-1].copy()))
        torch.testing.assert_close(whole.logits, backwards.logits.flip(0), **CLOSE)
        for row in self.rows:
            alone = output_of(self.model, self.instances.batch(np.array([row])))
            torch.testing.assert_close(whole.logits[row], alone.logits[0], **CLOSE)
            if whole.weights is not None and alone.weights is not None:
                items = alone.weights.shape[-1]
                torch.testing.assert_close(whole.weights[row, :, :items], alone.weights[0], **CLOSE)

    def effects_equal_decode(self) -> None:
        effects = self.model.effects(self.states)
        if effects is None:
            return
        assert self.weights is not None
        for weights in self._any_weights():
            logits = effects.rest + torch.einsum("bhn,bhnk->bk", weights, effects.of_item)
            torch.testing.assert_close(logits, self.model.decode(self.states, weights), **CLOSE)

    def shorter_ways_lead_to_the_same(self) -> None:
        model, batch, states = self.model, self.batch, self.states
        torch.testing.assert_close(shorter.read(model, batch).logits, output_of(model, batch).logits, **CLOSE)
        ones = torch.ones(2 * len(batch), batch.tokens.ids.shape[1], dtype=states.h.dtype)
        again = shorter.scaled(model, batch)(ones)
        logits = model.decode(again, model.attend(again))
        torch.testing.assert_close(logits, output_of(model, batch).logits.repeat(2, 1), **CLOSE)
        if self.weights is None:
            return
        many = torch.stack(list(self._any_weights()), 1)
        expected = torch.stack([model.decode(states, weights) for weights in many.unbind(1)], 1)
        torch.testing.assert_close(shorter.decode_many(model, states, many), expected, **CLOSE)
        each = shorter.decode_each(model, states, self.weights.shape[1])
        for item in range(states.mask.shape[1]):
            alone = torch.zeros_like(self.weights)
            alone[..., item] = 1
            torch.testing.assert_close(each[:, item], model.decode(states, alone), **CLOSE)

    def an_exact_copy_says_the_same_and_changes_nothing(self) -> None:
        exact = output_of(self.model.exact(), self.batch).logits
        assert exact.dtype == torch.float64
        before = self.model.decode(self.states, self.weights)
        torch.testing.assert_close(exact.to(before.dtype), before, **CLOSE)
        assert torch.equal(output_of(self.model, self.batch).logits, before)

    def without_context_items_are_read_by_themselves(self) -> None:
        if self.model.contextual:
            return
        embedded = self.model.embed(self.batch)
        items = item_of(self.model, self.batch)
        moved = self.model.encode(embedded + (items == 0)[..., None], self.batch)
        others = self.states.mask.clone()
        others[:, 0] = False
        assert torch.equal(moved.h[others], self.states.h[others])
        assert not torch.equal(moved.h, self.states.h)

    def gradients_reach_embeddings_and_weights(self) -> None:
        embedded = self.model.embed(self.batch).detach().requires_grad_()
        states = self.model.encode(embedded, self.batch)
        weights = self.model.attend(states)
        logits = self.model.decode(states, weights).clamp(
            min=-1e6
        )  # classes that are no candidates say nothing
        wanted = [embedded] if weights is None else [embedded, weights]
        gradients = torch.autograd.grad(logits.pow(2).sum(), wanted)
        for gradient in gradients:
            assert gradient.isfinite().all()
            assert gradient.flatten(1).abs().amax(1).gt(0).all()

    def _any_weights(self) -> Iterator[torch.Tensor]:
        """Its own, arbitrary ones, and none at all."""
        assert self.weights is not None
        generator = torch.Generator().manual_seed(0)
        drawn = torch.rand(self.weights.shape, generator=generator, dtype=self.weights.dtype)
        yield from (self.weights, drawn * self.states.mask[:, None], torch.zeros_like(self.weights))


def _hooks(model: object) -> int:
    """How many hooks hang on a model of torch; others have none."""
    parts = model.modules() if isinstance(model, nn.Module) else ()
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return sum(len(getattr(part, name)) for part in parts for name in names)


@pytest.fixture
def hold_to_contract() -> Callable[[Stages, Instances], None]:
    """Give a function that holds a model to the contract, on all texts of a split."""
    return lambda model, instances: Contract(model, instances).check()
