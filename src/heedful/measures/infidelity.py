"""How much of what deletions do to a prediction is explained by the scores of what is deleted (Yeh et al. 2019)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from heedful.measures.streams import shuffles_by_instance, uniform_by_instance

ROUNDING = 1e-6
"""Numbers whose spread is less than this share of the largest are the same, in single precision."""


def random_subsets(
    rows: Int[Tensor, " batch"], lengths: Int[Tensor, " batch"], *, subsets: int, seed: int, draw: int
) -> Bool[Tensor, "batch subsets items"]:
    """Draw items to delete: how many is uniform in 1 … half of them (rounded down, 1 at least), then which.

    They belong to the instance, whatever batch it comes in. Streams `draw` to `draw + subsets` are drawn from.

    >>> drawn = random_subsets(torch.tensor([7, 8]), torch.tensor([2, 9]), subsets=3, seed=0, draw=0)
    >>> drawn.shape, drawn[0].sum(-1).tolist(), drawn[0, :, 2:].any().item()
    (torch.Size([2, 3, 9]), [1, 1, 1], False)
    """
    most = (lengths // 2).clamp(min=1)[:, None]
    sizes = 1 + (uniform_by_instance(rows, subsets, seed=seed, draw=draw) * most).long()
    draws = range(draw + 1, draw + 1 + subsets)
    order = shuffles_by_instance(rows, lengths, seed=seed, draws=draws).transpose(0, 1)
    first = torch.arange(order.shape[-1]) < sizes[..., None]
    return torch.zeros_like(first).scatter_(-1, order, first)


def subset_sums(
    scores: Shaped[Tensor, "batch items"],
    subsets: Bool[Tensor, "batch subsets items"],
    mask: Bool[Tensor, "batch items"] | None = None,
) -> Float[Tensor, "batch subsets"]:
    """Add up the scores of the real items of each subset.

    >>> scores = torch.tensor([[0.5, 0.3, 9.0]])
    >>> subsets = torch.tensor([[[True, True, True], [False, True, False]]])
    >>> subset_sums(scores, subsets, torch.tensor([[True, True, False]]))
    tensor([[0.8000, 0.3000]], dtype=torch.float64)
    """
    real = scores.double() if mask is None else scores.double().masked_fill(~mask, 0.0)
    return (subsets.double() @ real[..., None])[..., 0]


def infidelity(
    sums: Float[Tensor, "batch subsets"], drops: Float[Tensor, "batch subsets"]
) -> Float[Tensor, " batch"]:
    """Share of the drops that the sums of the scores leave unexplained: min over β ≥ 0 of mean (β s − Δ)² / mean Δ².

    Yeh et al. 2019, Definition 2.1, with scores scaled by the best factor, since weights are not in units of
    probability. 0: the drops are proportional to the sums; 1: no factor does better than to say that nothing ever
    changes. NaN where no drop is other than 0.

    >>> drops = torch.tensor([[0.4, 0.2, 0.6], [0.4, 0.2, 0.6], [0.0, 0.0, 0.0]])
    >>> infidelity(torch.tensor([[2.0, 1.0, 3.0], [-2.0, -1.0, -3.0], [2.0, 1.0, 3.0]]), drops)
    tensor([0., 1., nan], dtype=torch.float64)
    """
    s, d = _scaled(sums), _scaled(drops)
    both = (s * d).mean(1).clamp(min=0)
    of_sums, of_drops = s.square().mean(1), d.square().mean(1)
    # The best β is both / of_sums; put in, what it explains is both² / of_sums.
    explained = (both.square() / of_sums).masked_fill(of_sums == 0, 0.0)
    return (1 - explained / of_drops).clamp(0, 1)


def deletion_correlation(
    sums: Float[Tensor, "batch subsets"], drops: Float[Tensor, "batch subsets"]
) -> Float[Tensor, " batch"]:
    """Pearson's r of the sums and the drops over the subsets; NaN where either is constant.

    >>> drops = torch.tensor([[0.4, 0.2, 0.6], [0.4, 0.4, 0.4]])
    >>> deletion_correlation(torch.tensor([[7.0, 6.0, 8.0], [1.0, 2.0, 3.0]]), drops)
    tensor([1.0000,    nan], dtype=torch.float64)
    """
    x, y = (_scaled(values) for values in (sums, drops))
    x, y = (values - values.mean(1, keepdim=True) for values in (x, y))
    constant = (x.abs().amax(1) < ROUNDING) | (y.abs().amax(1) < ROUNDING)
    r = (x * y).sum(1) / (x.square().sum(1) * y.square().sum(1)).sqrt()
    return r.clamp(-1, 1).masked_fill(constant, torch.nan)


def _scaled(values: Float[Tensor, "batch subsets"]) -> Float[Tensor, "batch subsets"]:
    """Divide by the largest, so that squares of small numbers do not vanish; zeros stay zeros."""
    largest = values.double().abs().amax(1, keepdim=True)
    return values.double() / largest.masked_fill(largest == 0, 1.0)
