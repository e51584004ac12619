"""Tiny networks of many kinds, made of their settings alone, and a tokenizer that cuts words into pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn

from heedful.data.corpus import Split
from heedful.models.huggingface.classifier_folder import classify_with
from heedful.models.huggingface.sequence_classifier import SequenceClassifier

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "the",
    "film",
    "is",
    "warm",
    "funny",
    "and",
    "far",
    "better",
    "than",
    "any",
    "##one",
    "expected",
    "no",
    "##body",
    "should",
    "have",
    "to",
    "sit",
    "through",
    "two",
    "long",
    "hours",
    "of",
    "this",
    "dull",
    "joy",
    "##less",
    "story",
    "about",
    "a",
    "dog",
    "yet",
    "i",
    "did",
    "good",
    "fine",
    "plot",
    ",",
    ".",
    "!",
    "a",
    "##n",
    "##e",
    "##s",
    "##t",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
]
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
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        rules.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    named = {"pad_token": "[PAD]"} if pad else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="[UNK]",
        eos_token="[SEP]",
        padding_side=side,
        model_max_length=64,
        **named,
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


SHAPE: dict[str, Any] = {
    "vocab_size": len(VOCABULARY), "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 40, "max_position_embeddings": 80, "num_labels": 3, "pad_token_id": 0,
}  # fmt: skip
DECODER = SHAPE | {"num_key_value_heads": 2, "bos_token_id": 2, "eos_token_id": 3}
_SHORT = {"vocab_size": len(VOCABULARY), "num_labels": 3, "pad_token_id": 0}
_MODERN = SHAPE | {
    "cls_token_id": 2,
    "sep_token_id": 3,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "local_attention": 8,
}
_RELATIVE = SHAPE | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 20}
_GPT = {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 80, "bos_token_id": 2, "eos_token_id": 3}
_XLM = _SHORT | {
    "emb_dim": 24,
    "n_layers": 3,
    "n_heads": 4,
    "max_position_embeddings": 80,
    "pad_index": 0,
    "n_langs": 1,
}

READ: dict[str, dict[str, Any]] = {
    "Bert": SHAPE, "Roberta": SHAPE, "XLMRoberta": SHAPE, "Camembert": SHAPE,
    "DistilBert": _SHORT | {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40, "max_position_embeddings": 80},
    "Albert": SHAPE | {"embedding_size": 12},
    "Electra": SHAPE | {"embedding_size": 12},
    "MobileBert": SHAPE | {"embedding_size": 12, "intra_bottleneck_size": 16, "true_hidden_size": 16, "classifier_activation": False},
    "Ernie": SHAPE,
    "ModernBert": _MODERN | {"classifier_pooling": "cls"},
    "ModernBert-mean": _MODERN | {"classifier_pooling": "mean"},
    "NomicBert": SHAPE,
    "Esm": SHAPE | {"mask_token_id": 4, "token_dropout": True},
    "MPNet": SHAPE,
    "Deberta": _RELATIVE,
    "DebertaV2": _RELATIVE | {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True},
    "RemBert": SHAPE | {"input_embedding_size": 12, "output_embedding_size": 16},
    "RoFormer": SHAPE | {"embedding_size": 24},
    "BigBird": SHAPE | {"attention_type": "block_sparse", "block_size": 8, "num_random_blocks": 1},
    "XLNet": _SHORT | {"d_model": 24, "n_layer": 3, "n_head": 4, "d_inner": 40},
    "XLM": _XLM,
    "SqueezeBert": SHAPE | {"embedding_size": 24},
    "GPT2": _SHORT | _GPT,
    "GPTNeoX": SHAPE | {"bos_token_id": 2, "eos_token_id": 3},
    "OPT": _SHORT | {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "ffn_dim": 40,
                     "max_position_embeddings": 80, "word_embed_proj_dim": 24},
    "Bloom": _SHORT | {"hidden_size": 24, "n_layer": 3, "n_head": 4},
    "Falcon": _SHORT | {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "bos_token_id": 2, "eos_token_id": 3},
    "Llama": DECODER,
    "Mistral": DECODER | {"sliding_window": 6},
    "Qwen2": DECODER,
    "Qwen3": DECODER | {"head_dim": 6},
    "Gemma": DECODER | {"head_dim": 6},
    "Phi3": DECODER,
    "Olmo2": DECODER,
    "StableLm": DECODER,
}  # fmt: skip
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "FNet": (SHAPE, "it has no softmax over the tokens"),
    "Yoso": (SHAPE, "it has no softmax over the tokens"),
    "Longformer": (SHAPE | {"attention_window": 4}, "a layer has several softmaxes"),
    "Nystromformer": (SHAPE | {"num_landmarks": 4, "segment_means_seq_len": 16}, "a layer has several softmaxes"),
    "Canine": (SHAPE, "it has no table of word vectors"),
    "Bart": (
        _SHORT | {"d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                  "encoder_ffn_dim": 40, "decoder_ffn_dim": 40, "max_position_embeddings": 80},
        "it is an encoder–decoder",
    ),
    "T5": (_SHORT | {"d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 2, "num_heads": 4}, "it is an encoder–decoder"),
    "DiffLlama": (DECODER, "a layer has several softmaxes"),
    "ConvBert": (SHAPE | {"embedding_size": 24}, "a layer has several softmaxes"),
    "GptOss": (DECODER | {"head_dim": 6, "num_local_experts": 4}, "its softmax is over something else than the tokens"),
    "IBert": (SHAPE, "its table of word vectors gives more than vectors"),
    "Perceiver": (
        _SHORT | {"d_model": 24, "d_latents": 24, "num_latents": 4, "num_self_attends_per_block": 1, "num_self_attention_heads": 4,
                  "num_cross_attention_heads": 4, "max_position_embeddings": 80},
        "it has no table of word vectors",
    ),
    "Funnel": (
        _SHORT | {"block_sizes": [1, 1, 1], "d_model": 24, "n_head": 4, "d_head": 6, "d_inner": 40},
        "its later layers read the text at another length",
    ),
}  # fmt: skip
ENDS_WITH_WORDS = {
    "GPT2",
    "GPTNeoX",
    "OPT",
    "Bloom",
    "Falcon",
    "Llama",
    "Mistral",
    "Qwen2",
    "Qwen3",
    "Gemma",
    "Phi3",
    "Olmo2",
    "StableLm",
}


def make_network(kind: str, shape: dict[str, Any] | None = None, **more: Any) -> nn.Module:
    """An untrained network of a kind, by the name that transformers gives it."""
    import transformers

    name = kind.split("-", maxsplit=1)[0]
    config = getattr(transformers, f"{name}Config")(**(READ[kind] if shape is None else shape) | more)
    torch.manual_seed(0)
    module: nn.Module = getattr(transformers, f"{name}ForSequenceClassification")(config)
    return draw(
        module, scale={"MobileBert": 0.7, "DebertaV2": 2.0}.get(kind, 3.0)
    )  # small where sums grow from layer to layer


def make_classifier(kind: str, **more: Any) -> SequenceClassifier:
    """A classifier of a kind with the tokenizer that goes with it."""
    side = "left" if kind == "XLNet" else "right"
    return classify_with(
        make_network(kind, **more), make_tokenizer(special=kind not in ENDS_WITH_WORDS, side=side)
    )


@pytest.fixture(params=READ)
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of network that is read."""
    return str(request.param)


@pytest.fixture(params=REFUSED)
def unfit(request: pytest.FixtureRequest) -> tuple[nn.Module, str]:
    """A network that is refused, and the reason."""
    shape, reason = REFUSED[request.param]
    return make_network(request.param, shape), reason


@pytest.fixture
def network() -> Callable[..., nn.Module]:
    """Make an untrained network of a kind, by the name that transformers gives it."""
    return make_network


@pytest.fixture
def classifier() -> Callable[..., SequenceClassifier]:
    """Make a classifier of a kind."""
    return make_classifier


@pytest.fixture
def tokenizer() -> Callable[..., Any]:
    """Make a tokenizer of a few words, with special tokens or without."""
    return make_tokenizer


@pytest.fixture
def split() -> Split:
    """A few texts of different lengths."""
    return Split(list(TEXTS), np.array([0, 1, 2, 0]))
