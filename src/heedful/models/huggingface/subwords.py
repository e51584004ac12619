"""The words of a pretrained tokenizer: which pieces a text is cut into, and which of them make a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer
from torch import nn

from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput

LONGEST = 4096
"""Tokens that are read of a text whatever a model allows: all pairs of them are held in memory."""
_UNSAID = 512
"""Tokens that are read where neither the tokenizer nor the model says how many."""
_SPARE = 512
"""Vectors that a table may have beyond its tokenizer's words: sizes are rounded up."""


def read_vocabulary(tokenizer: Any, module: nn.Module, *, rows: int | None = None) -> Vocabulary:
    """Take the rules and words of a pretrained tokenizer for a network with a table of so many vectors."""
    backend = tokenizer if isinstance(tokenizer, Tokenizer) else getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise BadInput(
            f"The tokenizer ({type(tokenizer).__name__}) does not say where its pieces stand in a text: give one with a "
            f"tokenizer.json (tokenizer=…)."
        )
    words = int(backend.get_vocab_size())
    if rows is not None and (words > rows or rows - words > max(_SPARE, rows // 100)):
        raise BadInput(
            f"The tokenizer knows {words:,} words and the model has vectors for {rows:,}: give the tokenizer that it was trained with."
        )
    own = Tokenizer.from_str(backend.to_str())
    own.enable_truncation(min(LONGEST, _allowed(tokenizer, module)))
    own.no_padding()
    return Vocabulary(own)


def padding_of(tokenizer: Any) -> int:
    """Find the token that short texts are filled up with, or another that does no harm there."""
    if isinstance(tokenizer, Tokenizer):
        named = (tokenizer.padding or {}).get("pad_id")
        usual = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
        return int(next((number for number in (named, *usual) if number is not None), 0))
    names = ("pad_token_id", "eos_token_id", "unk_token_id")
    found = (getattr(tokenizer, name, None) for name in names)
    return int(next((number for number in found if number is not None and number >= 0), 0))


def tells_types(tokenizer: Any) -> bool:
    """Whether a network is told the types of tokens."""
    return "token_type_ids" in getattr(tokenizer, "model_input_names", ())


def special_types(tokenizer: Any, vocabulary: Vocabulary) -> Mapping[int, int]:
    """Which special tokens have another type than 0, where a network is told types."""
    if not tells_types(tokenizer):
        return {}
    found = vocabulary.tokenizer.encode("a text")
    kinds = zip(found.ids, found.type_ids, found.special_tokens_mask, strict=True)
    return {token: kind for token, kind, special in kinds if special and kind}


def _allowed(tokenizer: Any, module: nn.Module) -> int:
    """How many tokens a text may have: what the tokenizer says, and as many as there are positions."""
    config: Any = getattr(module, "config", None)
    said = [getattr(tokenizer, "model_max_length", None), getattr(config, "max_position_embeddings", None)]
    limits = [int(limit) for limit in said if limit is not None and 0 < limit < 10**9]
    for name, part in module.named_modules():
        if isinstance(part, nn.Embedding) and "position" in name and part.padding_idx is not None:
            limits.append(part.num_embeddings - part.padding_idx - 1)  # positions begin after padding's
    return min(limits, default=_UNSAID)
