"""Tiny networks of many kinds, made of their settings alone, and a tokenizer that cuts words into pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = (
    "the film is warm funny and far better than any ##one expected no ##body should have to sit through two long hours "
    "of this dull joy ##less story about a dog yet i did good fine plot , . ! a ##n ##e ##s ##t b c d e f g h"
).split()
VOCABULARY = {word: number for number, word in enumerate(dict.fromkeys([*SPECIAL, *WORDS]))}
TEXTS = [
    "The film is warm and funny.",
    "Nobody should have to sit through two long hours of this dull story about a dog!",
    "Good plot",
    "a fine film, and far better than expected",
]


def make_tokenizer(*, special: bool = True, pad: bool = True, side: str = "right") -> Any:
    """A WordPiece tokenizer of a few words, with [CLS] and [SEP] or without."""
    from transformers import PreTrainedTokenizerFast

    rules = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    from tokenizers import normalizers

    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        rules.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    named = {"pad_token": "[PAD]"} if pad else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=rules, unk_token="[UNK]", eos_token="[SEP]", padding_side=side, model_max_length=64, **named
    )


def draw(module: nn.Module, *, scale: float = 3.0) -> nn.Module:
    """Draw weights large enough that attention is sharp and logits differ between texts."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                spread = scale / parameter.shape[-1] ** 0.5
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * min(spread, 0.5))
    return module.eval()


@pytest.fixture
def tokenizer() -> Callable[..., Any]:
    return make_tokenizer
