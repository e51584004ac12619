"""A torch model of the user's own that has an attention softmax: read as the networks of transformers are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from heedful.data.corpora.labels import check_names, spell
from heedful.errors import BadInput
from heedful.models.huggingface.network import Network, in_single_precision, replaced
from heedful.models.huggingface.place import Unfit
from heedful.models.huggingface.self_check import PROBES, make_ready
from heedful.models.huggingface.sequence_classifier import SequenceClassifier
from heedful.models.huggingface.subwords import padding_of, read_vocabulary, special_types, tells_types

_SQUASHING = {
    torch.softmax,
    Tensor.softmax,
    F.softmax,
    torch.sigmoid,
    Tensor.sigmoid,
    F.sigmoid,
    torch.special.expit,
}


def wrap(
    module: nn.Module,
    tokenizer: Any,
    *,
    labels: Sequence[str] | None = None,
    name: str | None = None,
) -> SequenceClassifier:
    """Make a classifier of a module from `input_ids` and `attention_mask` to logits; the module stays as it is.

    Its last softmax over the tokens of a text is what is audited. A module with one output is taken to give the logit of the
    second of two classes.
    """
    if not isinstance(module, nn.Module):
        raise BadInput(f"A torch module is needed, and this is a {type(module).__name__}.")
    if isinstance(module, torch.jit.ScriptModule):
        raise BadInput("A module of torch.jit does not show its parts: wrap the one that it was made of, or give a function from texts to probabilities.")  # fmt: skip
    module = in_single_precision(module)
    vocabulary = read_vocabulary(tokenizer, module)
    pad = padding_of(tokenizer)
    ids = torch.tensor([vocabulary.tokenizer.encode(PROBES[0]).ids])
    device = next((weight.device for weight in module.parameters()), torch.device("cpu"))
    table, outputs = _look(module, Network(module, nn.Identity(), pad), ids.to(device))
    names = _names(labels, outputs)
    configs = tuple(
        {
            id(c): c
            for p in module.modules()
            if hasattr(c := getattr(p, "config", None), "_attn_implementation")
        }.values()
    )
    side = "left" if getattr(tokenizer, "padding_side", "right") == "left" else "right"
    types = special_types(tokenizer, vocabulary)
    network = Network(module, table, pad, side, types, tells_types(tokenizer), configs)  # type: ignore[arg-type]
    called = name or type(module).__name__
    model = make_ready(network, vocabulary)
    return SequenceClassifier(model, vocabulary, names, called, encoder="torch model as it is")


def _look(module: nn.Module, network: Network, ids: Tensor) -> tuple[nn.Module, int]:
    """Find the table in which a module looks tokens up, and how many outputs it has."""
    found: list[nn.Module] = []
    squashes = _Squashes()

    def watched(part: nn.Module) -> Any:
        def forward(original: Any, *args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], Tensor) and args[0].shape in (ids.shape, ids.T.shape):
                same = torch.equal(args[0], ids) or torch.equal(args[0], ids.T)
                found.extend([part] if same else [])
            return original(*args, **kwargs)

        return forward

    tables = [part for part in module.modules() if isinstance(part, nn.Embedding)]
    try:
        with torch.no_grad(), network.ready(), squashes, ExitStack() as stack:
            stack.enter_context(replaced({part: watched(part) for part in tables}))
            logits = network(ids, torch.ones_like(ids, dtype=torch.bool))
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise BadInput(
            f"{type(module).__name__} does not take what it is given ({told.rstrip('.')}): it is called as "
            f"module(input_ids, attention_mask=…), with token ids [texts, tokens]."
        ) from error
    if not isinstance(logits, Tensor) or logits.dim() != 2 or logits.shape[0] != 1:
        shape = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise BadInput(
            f"{type(module).__name__} gives {shape} for one text: logits [texts, classes] are needed."
        )
    if _squashed(logits, squashes):
        raise BadInput(
            f"{type(module).__name__} gives probabilities, and logits are needed: leave out the last softmax or sigmoid, or take the "
            f"logarithm (of p / (1 − p), for one output)."
        )
    if not found:
        raise Unfit("none of its tables (torch.nn.Embedding) is given the numbers of tokens as they are")
    if len(set(found)) != 1:
        raise Unfit(f"it looks tokens up in {len(set(found))} tables (torch.nn.Embedding), and not in one")
    return found[0], int(logits.shape[1])


class _Squashes(TorchFunctionMode):
    """Keeps what makes probabilities of logits gave last."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Tensor | None = None

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Let torch do what it does."""
        result = func(*args, **(kwargs or {}))
        if func in _SQUASHING:
            self.last = result
        return result


def _squashed(logits: Tensor, squashes: _Squashes) -> bool:
    """Whether an answer is what a softmax or a sigmoid gave, at most laid out anew."""
    last = squashes.last
    same = (
        last is not None
        and last.numel() == logits.numel()
        and bool((last.flatten() == logits.flatten()).all())
    )
    return same and bool(((logits >= 0) & (logits <= 1)).all())


def _names(labels: Sequence[str] | None, outputs: int) -> tuple[str, ...]:
    classes = max(outputs, 2)
    if labels is None:
        return tuple(map(str, range(classes)))
    names = check_names([spell(label) or "" for label in labels], where="labels")
    if len(names) != classes:
        raise BadInput(
            f"The module gives {outputs} outputs and {len(names)} classes are named: name {classes}, in their order."
        )
    return names
