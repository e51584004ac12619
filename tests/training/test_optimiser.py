"""RowAdam is Adam where every row is touched, and leaves alone what a batch did not touch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from heedful.config import TrainingOptions
from heedful.training.optimiser import RowAdam, build_optimiser, clip_gradients


def _pair(
    *, amsgrad: bool, weight_decay: float
) -> tuple[nn.Embedding, nn.Embedding, RowAdam, torch.optim.Adam]:
    torch.manual_seed(0)
    sparse = nn.Embedding(6, 3, sparse=True)
    dense = nn.Embedding(6, 3)
    dense.load_state_dict(sparse.state_dict())
    settings = {"lr": 0.1, "amsgrad": amsgrad, "weight_decay": weight_decay}
    return (
        sparse,
        dense,
        RowAdam(sparse.parameters(), fused=True, **settings),
        torch.optim.Adam(dense.parameters(), **settings),
    )


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_it_is_adam_where_all_rows_are_touched(amsgrad, weight_decay):
    sparse, dense, ours, theirs = _pair(amsgrad=amsgrad, weight_decay=weight_decay)
    for step in range(5):
        ids = torch.cat([torch.arange(6), torch.randint(0, 6, (4,))])  # some rows more than once
        target = torch.randn(10, 3, generator=torch.Generator().manual_seed(step))
        for model, optimiser in ((sparse, ours), (dense, theirs)):
            optimiser.zero_grad()
            (model(ids) - target).pow(2).sum().backward()
            optimiser.step()
        torch.testing.assert_close(sparse.weight, dense.weight)


def test_rows_that_are_not_touched_stand_still():
    sparse, _, ours, _ = _pair(amsgrad=False, weight_decay=0.1)
    before = sparse.weight.detach().clone()
    for _ in range(3):
        ours.zero_grad()
        sparse(torch.tensor([1, 4, 4])).sum().backward()
        ours.step()
    moved = (sparse.weight != before).any(1)
    assert moved.tolist() == [False, True, False, False, True, False]


def test_weight_decay_spares_attention_on_both_levels(toy_classifier):
    model = toy_classifier(hierarchical=True, encoder="bigru").model
    optimiser = build_optimiser(TrainingOptions(weight_decay=0.5), model.named_parameters())
    names = {id(p): name for name, p in model.named_parameters()}
    free = {
        names[id(p)] for group in optimiser.param_groups if not group["weight_decay"] for p in group["params"]
    }
    assert free == {name for name in names.values() if "attention" in name}
    assert any(name.startswith("attention.") for name in free)
    assert any("word_attention." in name for name in free)
    everywhere = build_optimiser(
        TrainingOptions(weight_decay=0.5, decay_attention=True), model.named_parameters()
    )
    assert [group["weight_decay"] for group in everywhere.param_groups] == [0.5]


def test_clipping_bounds_the_norm_of_sparse_and_dense_gradients_together():
    sparse, layer = nn.Embedding(6, 3, sparse=True), nn.Linear(3, 1)
    optimiser = RowAdam([*sparse.parameters(), *layer.parameters()])
    (100 * layer(sparse(torch.tensor([1, 1, 2])))).sum().backward()
    exact = [sparse.weight.grad.to_dense(), layer.weight.grad.clone(), layer.bias.grad.clone()]
    norm = torch.cat([g.flatten() for g in exact]).norm()
    assert norm > 2
    clip_gradients(optimiser, 2.0)
    clipped = [sparse.weight.grad.to_dense(), layer.weight.grad, layer.bias.grad]
    for before, after in zip(exact, clipped, strict=True):
        torch.testing.assert_close(after, before * (2.0 / norm))
    clip_gradients(optimiser, 1e6)
    torch.testing.assert_close(sparse.weight.grad.to_dense(), clipped[0])
