"""A masked language model: which words it expects in a text's gaps, and how probable a word is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.attacks.cut import one_word
from heedful.attacks.pretrained import load_pretrained
from heedful.errors import BadInput

_BATCH = 32
_LONGEST = 256
"""Tokens that are read around a gap: longer texts are cut to these."""
_MARK = "\u2581\u0120"
"""What vocabularies put before the first piece of a word, if they mark beginnings and not continuations."""


class Expected(NamedTuple):
    """A word and its probability."""

    word: str
    probability: float


class MaskedLanguageModel:
    """A pretrained model that fills gaps. Texts are given with `mask` in the place of what is missing."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model.eval(), tokenizer
        self.mask: str = tokenizer.mask_token
        self._words = _whole_words(tokenizer, model.config.vocab_size)
        """Number of a token → the word that it is; pieces of words, signs and special tokens are none."""
        self._numbers = torch.tensor(sorted(self._words))
        self._expected: dict[tuple[str, int], list[Expected]] = {}
        self._log_probabilities: dict[tuple[str, str, str], float] = {}
        self._pieces: dict[str, list[int]] = {}
        self.read = 0
        """Texts that the model has read by now."""

    @classmethod
    def load(cls, name: str) -> MaskedLanguageModel:
        """Take a model by the path of its folder, or by its name on the hub."""
        tokenizer, model, lacks = load_pretrained(
            "AutoModelForMaskedLM",
            name,
            what="a masked language model",
            hint="give the folder of one, or its name, such as bert-base-uncased",
        )
        if tokenizer.mask_token is None or lacks:
            raise BadInput(
                f"{name} is no masked language model (it has no weights or no token for gaps): give one, such as "
                f"bert-base-uncased."
            )
        return cls(model, tokenizer)

    def expected(self, texts: Sequence[str], count: int) -> list[list[Expected]]:
        """Give the whole words that are most probable in the gap of each text, the most probable first."""
        new = [text for text in dict.fromkeys(texts) if (text, count) not in self._expected]
        for some, logits in self._read(new, gaps=1):
            probabilities = logits[:, 0].softmax(-1)[:, self._numbers]
            best = probabilities.topk(min(count, len(self._numbers)), dim=-1)
            for text, values, places in zip(some, best.values.tolist(), best.indices, strict=True):
                numbers = self._numbers[places].tolist()
                self._expected[text, count] = [
                    Expected(self._words[number], value)
                    for number, value in zip(numbers, values, strict=True)
                ]
        return [self._expected[text, count] for text in texts]

    def log_probabilities(
        self, contexts: Sequence[tuple[str, str]], words: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """Give how probable words are between what stands before and after: the sum over a word's pieces, all missing."""
        self._cut({word for some in words for word in some})
        gaps: dict[int, dict[tuple[str, str], list[str]]] = {}
        for context, some in zip(contexts, words, strict=True):
            for word in some:
                if (*context, word) not in self._log_probabilities:
                    gaps.setdefault(len(self._pieces[word]), {}).setdefault(context, []).append(word)
        for count in sorted(gaps):
            asked = {
                f"{before} {' '.join([self.mask] * count)} {after}".strip(): (before, after)
                for before, after in gaps[count]
            }
            for some, logits in self._read(list(asked), gaps=count):
                for text, values in zip(some, logits.log_softmax(-1), strict=True):
                    context = asked[text]
                    for word in gaps[count][context]:
                        pieces = torch.tensor(self._pieces[word])
                        total = values[torch.arange(count), pieces].sum()
                        self._log_probabilities[(*context, word)] = float(total)
        return [
            [self._log_probabilities[(*context, word)] for word in some]
            for context, some in zip(contexts, words, strict=True)
        ]

    def _cut(self, words: set[str]) -> None:
        for word in sorted(words - self._pieces.keys()):
            ids = self._tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            self._pieces[word] = ids or [self._tokenizer.unk_token_id]

    def _read(self, texts: Sequence[str], *, gaps: int) -> Any:
        """Read texts of like length together; give them in groups with the logits of their first gaps."""
        mask = self._tokenizer.mask_token_id
        rows = (
            [_around(ids, mask, gaps) for ids in self._tokenizer(list(texts))["input_ids"]] if texts else []
        )
        order = sorted(range(len(rows)), key=lambda place: (len(rows[place]), texts[place]))
        for first in range(0, len(order), _BATCH):
            places = order[first : first + _BATCH]
            longest = len(rows[places[-1]])
            lengths = torch.tensor([len(rows[place]) for place in places])
            padding = self._tokenizer.pad_token_id or 0
            ids = torch.tensor([rows[place] + [padding] * (longest - len(rows[place])) for place in places])
            there = (torch.arange(longest) < lengths[:, None]).long()
            at = torch.stack([row.nonzero()[:gaps, 0] for row in ids == mask])
            self.read += len(places)
            with torch.inference_mode():
                logits = self._logits(ids, there, at)
            yield [texts[place] for place in places], logits

    def _logits(self, ids: Tensor, there: Tensor, at: Tensor) -> Float[Tensor, "texts gaps vocabulary"]:
        """Where the model lets us, only gaps go through its last layer, which is as large as the others together."""
        rows = torch.arange(len(ids))[:, None]
        model = self._model
        head = next((getattr(model, name) for name in ("cls", "lm_head") if hasattr(model, name)), None)
        if head is None or not hasattr(model, "base_model"):
            found: Tensor = model(input_ids=ids, attention_mask=there).logits[rows, at]
            return found
        states = model.base_model(input_ids=ids, attention_mask=there).last_hidden_state
        result: Tensor = head(states[rows, at])
        return result


def _around(ids: list[int], mask: int, gaps: int) -> list[int]:
    """Cut a long text to what stands around its gap, and keep the special tokens at its ends."""
    if len(ids) <= _LONGEST:
        return ids
    at = ids.index(mask)
    start = min(max(1, at - _LONGEST // 2), len(ids) - _LONGEST + 1)
    return [ids[0], *ids[start : start + _LONGEST - 2], ids[-1]]


def _whole_words(tokenizer: Any, size: int) -> dict[int, str]:
    # By their numbers: some have no token, and there may be larger ones than there are tokens.
    tokens = {number: token for token, number in tokenizer.get_vocab().items() if number < size}
    special = set(tokenizer.all_special_ids)
    marked = sum(bool(token) and token[0] in _MARK for token in tokens.values()) > len(tokens) / 10
    words = {}
    for number, token in sorted(tokens.items()):
        whole = token[0] in _MARK if marked and token else not token.startswith("##")
        if number in special or not whole:
            continue
        word = tokenizer.convert_tokens_to_string([token]).strip() if marked else token
        if one_word(word) and any(map(str.isalpha, word)):
            words[number] = word
    return words
