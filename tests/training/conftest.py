"""A tiny transformer with a tokeniser of its own, and texts to train it on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

PIECES = [
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "[MASK]",
    "a",
    "fine",
    "film",
    "##s",
    "dull",
    "bad",
    "##ly",
    "made",
]


@pytest.fixture
def pieces() -> list[str]:
    return PIECES


@pytest.fixture
def bert(tmp_path: Path) -> str:
    """A tiny BERT with a tokeniser whose special pieces are not where they usually are."""
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=32, **special
    ).save_pretrained(tmp_path)
    torch.manual_seed(0)
    shape = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    transformers.AutoModel.from_config(shape).save_pretrained(tmp_path)
    return f"hf:{tmp_path}"


@pytest.fixture
def reviews(tmp_path: Path) -> str:
    rows = [("a fine film", 1), ("films made badly", 0), ("a dull xyz film", 0), ("fine films made fine", 1)]
    path = tmp_path / "reviews.csv"
    lines = [f"{'a ' * number}{text},{label}\n" for number in range(12) for text, label in rows]
    path.write_text("text,label\n" + "".join(lines))
    return str(path)
