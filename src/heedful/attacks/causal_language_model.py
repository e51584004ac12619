"""A causal language model, such as GPT-2: how probable a stretch of text is with one word or another in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.attacks.pretrained import load_pretrained
from heedful.errors import BadInput

_BATCH = 32
_LONGEST = 256
"""Tokens of a stretch that are read at most."""


class CausalLanguageModel:
    """A pretrained model that goes on with a text. Every stretch begins with its token for beginnings, its first word too."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model.eval(), tokenizer
        self._begin: int = (
            tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
        )
        self._known: dict[str, float] = {}
        self.read = 0
        """Stretches that the model has read by now."""

    @classmethod
    def load(cls, name: str) -> CausalLanguageModel:
        """Take a model by the path of its folder, or by its name on the hub."""
        tokenizer, model, lacks = load_pretrained(
            "AutoModelForCausalLM",
            name,
            what="a language model",
            hint="give the folder of one, or its name, such as gpt2",
        )
        if lacks or (tokenizer.bos_token_id is None and tokenizer.eos_token_id is None):
            raise BadInput(
                f"{name} is no causal language model (it has no weights or no token for beginnings): give one, such as gpt2."
            )
        return cls(model, tokenizer)

    def log_probabilities(
        self, contexts: Sequence[tuple[str, str]], words: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """Give how probable what stands before, each word and what stands after are together."""
        stretches = [
            [" ".join(part for part in (before, word, after) if part) for word in some]
            for (before, after), some in zip(contexts, words, strict=True)
        ]
        self._read([text for some in stretches for text in some])
        return [[self._known[text] for text in some] for some in stretches]

    def _read(self, texts: Sequence[str]) -> None:
        """Read texts that are new, those of like length together."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not new:
            return
        cut = self._tokenizer(new, add_special_tokens=False)["input_ids"]
        rows = {text: [self._begin, *ids][:_LONGEST] for text, ids in zip(new, cut, strict=True)}
        order = sorted(new, key=lambda text: (len(rows[text]), text))
        for first in range(0, len(order), _BATCH):
            some = order[first : first + _BATCH]
            lengths = torch.tensor([len(rows[text]) for text in some])
            longest = int(lengths.max())
            ids = torch.tensor([rows[text] + [self._begin] * (longest - len(rows[text])) for text in some])
            self.read += len(some)
            self._known |= dict(zip(some, self._sums(ids, lengths).tolist(), strict=True))

    def _sums(
        self, ids: Int[Tensor, "texts tokens"], lengths: Int[Tensor, " texts"]
    ) -> Float[Tensor, " texts"]:
        """Add up the log probability of every token, each by those before it."""
        there = torch.arange(ids.shape[1]) < lengths[:, None]
        with torch.inference_mode():
            logits: Tensor = self._model(input_ids=ids, attention_mask=there.long()).logits[:, :-1]
            found = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(-1)
        return found.double().masked_fill(~there[:, 1:], 0.0).sum(1)
