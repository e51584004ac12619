"""A user's network, called as it expects to be, with embeddings of our choice; afterwards it is as it was before."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.tokens import Tokens

Side = Literal["right", "left", "none"]
"""Where short texts are filled up; none: texts of different lengths are never read together."""


@dataclass(frozen=True)
class Inputs:
    """Texts as the network reads them: column c of a text is its token order[c]."""

    ids: Int[Tensor, "batch columns"]
    present: Bool[Tensor, "batch columns"]
    order: Int[Tensor, "batch columns"]
    column_of: Int[Tensor, "batch tokens"]
    """Where each token stands: the inverse of `order`."""
    types: Int[Tensor, "batch columns"] | None = None
    """Which text of a pair each token belongs to; None where texts are read alone."""

    def repeated(self, times: int) -> Inputs:
        """Give every text this often in a row."""
        parts = (None if part is None else part.repeat_interleave(times, 0) for part in vars(self).values())
        return Inputs(*parts)  # type: ignore[arg-type]


@dataclass
class Network:
    """A module from token ids to logits, its table of word vectors, and how texts are filled up for it."""

    module: nn.Module
    table: nn.Module
    pad: int
    side: Side = "right"
    types: Mapping[int, int] = field(default_factory=dict)
    """Which special tokens of a text alone have another type than 0."""
    typed: bool = False
    """Whether it is told which text of a pair a token belongs to."""
    configs: tuple[Any, ...] = ()
    """Where the attention implementation is set; networks that are not of transformers have none."""
    implementation: str | None = "eager"
    """Which is set while it is read; None: its owner's, whose parts are seen all the same (`softmax`)."""

    def __post_init__(self) -> None:
        named = inspect.signature(self.module.forward).parameters
        self._takes = set(named)
        self._any = any(p.kind is p.VAR_KEYWORD for p in named.values())
        self._compiled = any(
            hasattr(part, "_orig_mod") or getattr(part, "_compiled_call_impl", None)
            for part in self.module.modules()
        )

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.module.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """The precision of its weights."""
        return next(p.dtype for p in self.module.parameters() if p.is_floating_point())

    def arrange(self, tokens: Tokens) -> Inputs:
        """Fill texts up on the network's side."""
        present = tokens.present.clone()
        present[:, 0] |= ~present.any(1)  # a text that lost all its tokens still has a place to read
        batch, length = present.shape
        places = torch.arange(length).expand(batch, -1)
        order = (places - (length - present.sum(1))[:, None]) % length if self.side == "left" else places
        ids = torch.where(present, tokens.ids, self.pad).gather(1, order)
        types = None if tokens.type_of is None else tokens.type_of.gather(1, order)
        inputs = Inputs(ids, present.gather(1, order), order, order.argsort(1), types)
        return Inputs(*(None if part is None else part.to(self.device) for part in vars(inputs).values()))  # type: ignore[arg-type]

    def embed(self, ids: Int[Tensor, "batch tokens"]) -> Float[Tensor, "batch tokens dim"]:
        """Look up the vectors of tokens."""
        vectors: Tensor = self.table(ids.to(self.device))
        return vectors

    def read(self, inputs: Inputs) -> Tensor:
        """Give the logits of texts. Whoever calls prepares the network first (`ready`)."""
        return self(inputs.ids, inputs.present, inputs.types)

    def __call__(
        self,
        ids: Int[Tensor, "batch columns"],
        present: Bool[Tensor, "batch columns"],
        types: Int[Tensor, "batch columns"] | None = None,
    ) -> Tensor:
        """Give logits. Whoever calls prepares the network first (`ready`)."""
        given = {"attention_mask": present.long(), "use_cache": False, "return_dict": True}
        if types is not None:
            given["token_type_ids"] = types
        elif self.types:
            kinds = torch.zeros_like(ids)
            for token, kind in self.types.items():
                kinds.masked_fill_(ids == token, kind)
            given["token_type_ids"] = kinds
        taken = {name: value for name, value in given.items() if name in self._takes}
        if "attention_mask" not in self._takes and self._any:
            taken["attention_mask"] = given["attention_mask"]
        output = self.module(ids, **taken)
        logits = (
            output.get("logits", output) if isinstance(output, Mapping) else getattr(output, "logits", output)
        )
        found: Tensor = logits[0] if isinstance(logits, tuple | list) else logits
        if isinstance(found, Tensor) and found.shape == ids.shape[:1]:
            return found[:, None]  # one logit for each text
        return found

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Switch dropout off and have attention computed as `implementation` says; both are as before afterwards."""
        training = [part for part in self.module.modules() if part.training]
        before = [getattr(config, "_attn_implementation", None) for config in self.configs]
        plain = torch.compiler.set_stance("force_eager") if self._compiled else nullcontext()
        try:
            for part in training:
                part.training = False
            for config in self.configs if self.implementation else ():
                config._attn_implementation = self.implementation
            with plain:
                yield
        finally:
            for part in training:
                part.training = True
            for config, value in zip(self.configs, before, strict=True):
                config._attn_implementation = value

    @contextmanager
    def as_given(self) -> Iterator[None]:
        """Have attention computed as the owner of the network has it."""
        before, self.implementation = self.implementation, None
        try:
            yield
        finally:
            self.implementation = before


def in_single_precision(module: nn.Module) -> nn.Module:
    """Give a module as it is, or a copy of one in half precision, whose rounding would hide what is measured."""
    if any(weight.dtype in (torch.float16, torch.bfloat16) for weight in module.parameters()):
        return deepcopy(module).float()
    return module


@contextmanager
def replaced(changes: Mapping[nn.Module, Callable[..., Any]]) -> Iterator[None]:
    """Put other functions in the place of modules' `forward`; each is given the original before its arguments."""
    with ExitStack() as stack:
        for module, change in changes.items():
            stack.enter_context(_replaced(module, change))
        yield


@contextmanager
def _replaced(module: nn.Module, change: Callable[..., Any]) -> Iterator[None]:
    own = module.__dict__.get("forward")  # some libraries put one there themselves
    original = module.forward
    module.__dict__["forward"] = lambda *args, **kwargs: change(original, *args, **kwargs)
    try:
        yield
    finally:
        if own is None:
            del module.__dict__["forward"]
        else:
            module.__dict__["forward"] = own
