"""A pretrained transformer as a sentence encoder: the mean of its last states, of length one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.attacks.constraints.bert import Bert
from heedful.attacks.pretrained import load_pretrained
from heedful.errors import BadInput
from heedful.intake.json_text import read_json

_SENTENCES = 32
_FEW = 12
"""So many sentences keep the processor as busy as more do."""
_TOKENS = 512
_LONGEST = 256

_HINT = "give the folder of a pretrained transformer with mean pooling, or run heedful data get minilm-l6"


class SentenceEncoder:
    """Mean pooling over all tokens, special ones too, as sentence-transformers do.

    A folder is that of a transformer, or one of sentence-transformers whose pooling is the mean.
    """

    def __init__(self, folder: Path, *, plain: bool = False) -> None:
        _refuse_others(folder)
        self._tokenizer, self._model, _ = load_pretrained(
            "AutoModel", str(folder), what="a sentence encoder", hint=_HINT
        )
        if self._model.config.is_encoder_decoder:
            raise BadInput(
                f"{folder} holds an encoder with a decoder, which is no sentence encoder: {_HINT}."
            )
        with torch.inference_mode():
            self._bert = Bert(self._model) if Bert.serves(self._model) and not plain else None

    def __call__(self, sentences: Sequence[str]) -> Float[Tensor, "sentences size"]:
        """Encode sentences, those of like length together."""
        ids = self._tokenizer(list(sentences), truncation=True, max_length=_LONGEST)["input_ids"]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        lengths = [len(each) for each in ids]
        batches = _batches(order, lengths) if self._bert is None else _even(order, lengths)
        read = self._padded if self._bert is None else self._bert
        with torch.inference_mode():
            found = [(places, read([ids[place] for place in places])) for places in batches]
            means = torch.empty(len(ids), found[0][1].shape[1])
            for places, mean in found:
                means[places] = mean
            return torch.nn.functional.normalize(means, dim=-1)

    def _padded(self, ids: Sequence[list[int]]) -> Float[Tensor, "sentences size"]:
        """Give the means of the last states of any transformer."""
        lengths = torch.tensor([len(each) for each in ids])
        longest = int(lengths.max())
        mask = (torch.arange(longest) < lengths[:, None]).long()
        padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
        # Without padding no mask is needed, and attention without one is faster.
        needed = None if bool(mask.all()) else mask
        states: Tensor = self._model(input_ids=padded, attention_mask=needed).last_hidden_state.float()
        return (states * mask[..., None]).sum(1) / lengths[:, None]


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut sentences, sorted by length, where the length changes, so that little is padded; few go with the next."""
    batch: list[int] = []
    for place in order:
        longer = bool(batch) and lengths[place] > lengths[batch[-1]]
        if len(batch) == _SENTENCES or (longer and len(batch) >= _FEW):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _even(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut sentences into parts of about so many tokens as stay in the processor's cache."""
    batch: list[int] = []
    tokens = 0
    for place in order:
        if batch and tokens + lengths[place] > _TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(place)
        tokens += lengths[place]
    if batch:
        yield batch


def _refuse_others(folder: Path) -> None:
    """Say of folders that are no transformer with mean pooling what they are."""
    if (folder / "saved_model.pb").is_file():
        raise BadInput(f"{folder} is a model of TensorFlow, which heedful does not read: {_HINT}.")
    for file in (folder / "modules.json", folder / "1_Pooling" / "config.json"):
        if not file.is_file():
            continue
        try:
            content: Any = read_json(file)
        except (OSError, ValueError) as error:
            raise BadInput(f"Cannot read {file} ({error}): {_HINT}.") from None
        if file.name == "modules.json":
            kinds = [_kind(module) for module in content] if isinstance(content, list) else ["unknown"]
            if other := [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")]:
                raise BadInput(
                    f"{folder} has a layer {other[0]} after its transformer, which heedful does not read: {_HINT}."
                )
        elif not isinstance(content, dict) or not _is_mean(content):
            raise BadInput(f"{folder} does not pool its states by their mean: {_HINT}.")


def _kind(module: Any) -> str:
    return str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else "unknown"


def _is_mean(pooling: dict[str, Any]) -> bool:
    modes = {name for name, chosen in pooling.items() if name.startswith("pooling_mode_") and chosen is True}
    return pooling.get("pooling_mode", "mean") == "mean" and modes <= {"pooling_mode_mean_tokens"}
