"""The softmax of an attention, seen and replaced while a network runs, whoever wrote the network."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

Seen = Callable[[Tensor, int], Tensor]
"""What a softmax gave and over which axis → what the network shall go on with."""
Mixed = Callable[[Tensor], Tensor]
"""The values that weights are about to mix → those that they shall mix."""

_SOFTMAX = {F.softmax, torch.softmax, Tensor.softmax}
_PRODUCTS = {
    torch.matmul, torch.bmm, torch.baddbmm, torch.einsum,
    Tensor.matmul, Tensor.__matmul__, Tensor.__rmatmul__, Tensor.bmm, Tensor.baddbmm,
}  # fmt: skip
_MANY_HEADS = tuple(inspect.signature(F.multi_head_attention_forward).parameters)
_SCALED = {torch.mul, Tensor.mul, Tensor.__mul__, Tensor.__rmul__}


class SoftmaxSight(TorchFunctionMode):
    """Shows every softmax to `seen`, and the values that what it gave is multiplied with to `mixed`.

    Weights are followed from the softmax through dropout, masks and reshapes to the product with the values. Attention that
    torch computes in one piece is computed in its parts instead, so that its softmax is seen too.
    """

    def __init__(self, seen: Seen, mixed: Mixed | None = None) -> None:
        super().__init__()
        self._seen, self._mixed = seen, mixed
        self._computed = torch.empty(0)
        """The weights of the attention that was last computed in its parts."""
        self._weights: list[Tensor] = []  # kept, so that no other tensor takes over their identity

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Let torch do what it does, except to attention."""
        kwargs = kwargs or {}
        if func in _SOFTMAX:
            return self._softmax(func, args, kwargs)
        if func is F.scaled_dot_product_attention:
            return self._attention(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            return self._many_heads(func, args, kwargs)
        if not self._weights:
            return func(*args, **kwargs)
        return self._follow(func, args, kwargs)

    def _softmax(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Tensor:
        given: Tensor = func(*args, **kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else -1)
        shown = self._seen(given, int(dim))
        if self._mixed is not None:
            self._weights = [shown]
        return shown

    def _follow(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Find out what is done with the weights."""
        flat = list(args[1]) if func is torch.einsum and isinstance(args[1], list | tuple) else list(args)
        place = next((i for i, a in enumerate(flat) if any(a is w for w in self._weights)), None)
        if place is None:
            return func(*args, **kwargs)
        others = [i for i, a in enumerate(flat) if i != place and isinstance(a, Tensor)]
        values = others[-1] if others else None
        if values is not None and (func in _PRODUCTS or _spreads(func, flat[place], flat[values])):
            assert self._mixed is not None
            flat[values] = self._mixed(flat[values])
            self._weights = []
            nested = func is torch.einsum and isinstance(args[1], list | tuple)
            return func(args[0], flat, **kwargs) if nested else func(*flat, **kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor) and result.is_floating_point():
            self._weights.append(result)
        return result

    def _attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """Compute attention in its parts, as torch documents it."""
        if enable_gqa:
            times = query.shape[-3] // key.shape[-3]
            key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
        if attn_mask is not None:
            hidden = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, -torch.inf) if hidden else scores + attn_mask
        weights = self._computed = self._seen(torch.softmax(scores, -1), -1)
        return weights @ (value if self._mixed is None else self._mixed(value))

    def _many_heads(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Let torch's own module for many heads compute its attention where it can be seen."""
        ready, asked = F.scaled_dot_product_attention, dict(zip(_MANY_HEADS, args, strict=False)) | kwargs
        F.scaled_dot_product_attention = self._attention
        try:
            mixed, _ = func(**{**asked, "need_weights": False})
        finally:
            F.scaled_dot_product_attention = ready
        if not asked.get("need_weights", True):
            return mixed, None
        weights = self._computed.mean(1) if asked.get("average_attn_weights", True) else self._computed
        return mixed, weights if mixed.dim() == 3 else weights[0]


def _paired(one: torch.Size, other: torch.Size) -> list[tuple[int, int]]:
    """Sizes of axes that are multiplied with each other, counted from the last; an axis that is missing has size 0."""
    return list(zip_longest(reversed(one), reversed(other), fillvalue=0))


def _spreads(func: Any, weights: Tensor, values: Tensor) -> bool:
    """Whether this multiplies every token's vector by its weight; what follows is then a sum over tokens."""
    return (
        func in _SCALED
        and isinstance(weights, Tensor)
        and any(here < there for here, there in _paired(weights.shape, values.shape))
    )
