"""Some texts of a batch that a network reads together: what decoding them needs, and where their tokens stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.tokens import Tokens
from heedful.models.huggingface.network import Inputs

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""What a layer is given: by place, and by name."""
_HIDDEN = object()
"""Where the vectors of tokens stand among it."""


@dataclass(frozen=True)
class Part:
    """Some texts of a batch, read together: what decoding them needs. Columns are the network's."""

    rows: Int[Tensor, " part"]
    inputs: Inputs
    words: Bool[Tensor, "part columns"]
    read: Bool[Tensor, "part queries"]
    """Which queries the head reads."""
    own: Float[Tensor, "part heads columns"]
    """The words' weights, which sum to one."""
    fixed: Float[Tensor, "part heads columns"]
    """What other tokens hold where the head reads, on average."""
    embedded: Float[Tensor, "part columns dim"] | None = None
    hidden: Float[Tensor, "part columns size"] | None = None
    """What the last layer is given."""
    pooled: Float[Tensor, "part size"] | None = None
    """The one of these that the head reads, where nothing else is needed of them."""
    values: Tensor | None = None
    """What its weights mix."""
    call: Call = ((), {})
    """What else it is given."""

    @property
    def single(self) -> bool:
        """Whether the head reads one place of every text."""
        return bool((self.read.sum(1) == 1).all())


def take_part(tokens: Tokens, rows: Tensor, length: int) -> Tokens:
    """Give the texts of these rows, so many tokens of each."""
    some = tokens.take(rows)
    names = ("ids", "mask", "present", "offsets", "word_of", "shift", "type_of")
    given = {name: field for name in names if (field := getattr(some, name)) is not None}
    return replace(some, **{name: field[:, :length] for name, field in given.items()})


def in_order(embedded: Tensor, inputs: Inputs) -> Tensor:
    """Put the vectors of tokens into the network's columns."""
    moved = embedded.to(inputs.order.device)
    return moved.gather(1, inputs.order[..., None].expand_as(moved))


def by_token(found: Float[Tensor, "part any columns"], part: Part) -> Float[Tensor, "part any tokens"]:
    """Put what stands in the network's columns back to where the tokens stand."""
    places = part.inputs.column_of
    if bool((places == torch.arange(places.shape[1], device=places.device)).all()):
        return found.cpu()
    return found.gather(-1, places[:, None].expand_as(found)).cpu()


def joined(
    found: list[Float[Tensor, "part tokens size"]], parts: list[Part], tokens: int
) -> Float[Tensor, "batch tokens size"]:
    """Put parts together in the order of the batch."""
    if len(found) == 1:
        return found[0]
    padded = [nn.functional.pad(each, (0, 0, 0, tokens - each.shape[1])) for each in found]
    return torch.cat(padded)[torch.cat([part.rows for part in parts]).argsort()]


def swapped(args: Any, kwargs: Any, old: Tensor, new: Any) -> Call:
    """Put another tensor in the place of one that a layer is given."""
    return tuple(new if a is old else a for a in args), {
        name: new if a is old else a for name, a in kwargs.items()
    }


def with_hidden(call: Call, hidden: Tensor) -> Call:
    """Put vectors of tokens where `light` left their place."""
    return tuple(hidden if a is _HIDDEN else a for a in call[0]), {
        name: hidden if a is _HIDDEN else a for name, a in call[1].items()
    }


def light(call: Call, hidden: Tensor, columns: int) -> Call:
    """Forget the masks and biases of scores, which do not matter where rows are given: they are large."""

    def light(given: Any) -> Any:
        if given is hidden:
            return _HIDDEN
        if isinstance(given, Tensor) and given.dim() == 4 and given.shape[-2:] == (columns, columns):
            empty = given.new_zeros(()) if given.is_floating_point() else given.new_ones(())
            return empty.expand(given.shape)
        return given

    args, kwargs = call
    return tuple(map(light, args)), {name: light(given) for name, given in kwargs.items()}


def narrowed(call: Call, columns: int, rows: int) -> Call:
    """Cut what a layer is given for so many tokens to fewer: axes of their number, but for the first, which holds texts."""

    def narrow(given: Any) -> Any:
        if isinstance(given, tuple):
            return tuple(map(narrow, given))
        if isinstance(given, Tensor):
            for axis in range(min(1, given.dim() - 1), given.dim()):
                given = given.narrow(axis, 0, rows) if given.shape[axis] == columns else given
        return given

    args, kwargs = call
    return tuple(map(narrow, args)), {name: narrow(given) for name, given in kwargs.items()}
