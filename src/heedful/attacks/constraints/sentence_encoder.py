"""A pretrained transformer as a sentence encoder: the mean of its last states, of length one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import BadInput

_SENTENCES = 32
_LONGEST = 256
_WORTH = 0.75
"""Half precision is used where it takes at most this part of the time."""


class SentenceEncoder:
    """Mean pooling over all tokens, special ones too, as sentence-transformers do."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(folder))
            self._model: Any = AutoModel.from_pretrained(str(folder), dtype=torch.float32).eval()
        except (OSError, ValueError, ImportError, KeyError) as error:
            reason = str(error).splitlines()[0]
            raise BadInput(
                f"Cannot load a sentence encoder from {folder} ({reason}): give the folder of a pretrained model, or run "
                f"heedful data get minilm-l6."
            ) from None
        finally:
            if shown:
                logging.enable_progress_bar()

    def coarse(self) -> SentenceEncoder | None:
        """Give a copy in half precision, if this processor is faster with it."""
        half = copy(self)
        half._model = deepcopy(self._model).to(torch.bfloat16)
        return half if _seconds(half) < _WORTH * _seconds(self) else None

    def __call__(self, sentences: Sequence[str]) -> Float[Tensor, "sentences size"]:
        """Encode sentences, those of like length together."""
        ids = self._tokenizer(list(sentences), truncation=True, max_length=_LONGEST)["input_ids"]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        vectors: list[Tensor] = [torch.empty(0)] * len(ids)
        for first in range(0, len(order), _SENTENCES):
            places = order[first : first + _SENTENCES]
            longest = len(ids[places[-1]])
            lengths = torch.tensor([len(ids[place]) for place in places])
            mask = (torch.arange(longest) < lengths[:, None]).long()
            padded = torch.tensor([ids[place] + [0] * (longest - len(ids[place])) for place in places])
            with torch.inference_mode():
                states = self._model(input_ids=padded, attention_mask=mask).last_hidden_state.float()
                mean = (states * mask[..., None]).sum(1) / lengths[:, None]
                unit = torch.nn.functional.normalize(mean, dim=-1)
            for place, vector in zip(places, unit, strict=True):
                vectors[place] = vector
        return torch.stack(vectors)


def _seconds(encode: SentenceEncoder) -> float:
    """How long a few sentences take, the second time."""
    sentences = ["a sentence of fifteen words or so , to see which of two encoders is faster"] * 8
    encode(sentences)
    begun = time.perf_counter()
    encode(sentences)
    return time.perf_counter() - begun
