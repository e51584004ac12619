"""What a path of a sentence encoder may be: a transformer, alone or as sentence-transformers keep it."""

from __future__ import annotations

import json

import pytest
import torch

from heedful.attacks.constraints import sentence_encoder
from heedful.attacks.constraints.sentence_encoder import SentenceEncoder
from heedful.errors import BadInput

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "fine", "film"]


@pytest.fixture
def folder(tmp_path):
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    PreTrainedTokenizerFast(
        tokenizer_object=BertWordPieceTokenizer({word: i for i, word in enumerate(WORDS)})._tokenizer,
        pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
    ).save_pretrained(tmp_path)  # fmt: skip
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=len(WORDS), **small)).save_pretrained(tmp_path)
    return tmp_path


def pooling(folder, kinds=("Transformer", "Pooling", "Normalize"), **modes):
    (folder / "modules.json").write_text(
        json.dumps([{"type": f"sentence_transformers.models.{kind}"} for kind in kinds])
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 8, **modes}))


def test_mean_pooling_with_and_without_its_settings(folder):
    plain = SentenceEncoder(folder)(["a fine film", "film"])
    pooling(folder, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True)
    assert torch.equal(SentenceEncoder(folder)(["a fine film", "film"]), plain)
    assert torch.allclose(plain.norm(dim=1), torch.ones(2))


def test_it_is_the_mean_of_the_states(folder):
    encoder = SentenceEncoder(folder)
    ids = torch.tensor([encoder._tokenizer("a fine film")["input_ids"]])
    with torch.inference_mode():
        mean = encoder._model(input_ids=ids).last_hidden_state[0].mean(0)
    assert torch.allclose(encoder(["film", "a fine film"])[1], mean / mean.norm(), atol=1e-6)


def test_sentences_laid_end_to_end_are_encoded_as_padded_ones(folder, monkeypatch):
    from transformers import BertConfig, BertModel

    small = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertModel(BertConfig(vocab_size=len(WORDS), **small))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    model.save_pretrained(folder)
    sentences = ["a fine film", "film", "a a fine fine film", "fine", "a film a", "fine film a fine film", ""]
    padded = SentenceEncoder(folder, plain=True)(sentences)
    assert torch.allclose(SentenceEncoder(folder)(sentences), padded, atol=1e-5)
    monkeypatch.setattr(sentence_encoder, "_TOKENS", 1)  # one sentence at a time
    assert torch.allclose(SentenceEncoder(folder)(sentences), padded, atol=1e-5)


def test_where_weights_cannot_be_laid_out_beforehand_they_are_used_as_they_are(folder, monkeypatch):
    ready = SentenceEncoder(folder)(["a fine film", "film"])
    monkeypatch.setattr(torch.ops, "mkldnn", None)
    assert torch.allclose(SentenceEncoder(folder)(["a fine film", "film"]), ready, atol=1e-6)


def test_other_folders_are_refused_in_a_sentence(folder, tmp_path):
    pooling(folder, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    cases = [(folder, "does not pool its states by their mean")]
    for name in ("empty", "tensorflow", "dense"):
        (tmp_path / name).mkdir()
    (tmp_path / "tensorflow" / "saved_model.pb").write_bytes(b"")
    pooling(tmp_path / "dense", kinds=("Transformer", "Pooling", "Dense"))
    cases += [
        (tmp_path / "empty", "Cannot load a sentence encoder"),
        (tmp_path / "tensorflow", "is a model of TensorFlow"),
        (tmp_path / "dense", "a layer Dense after its transformer"),
    ]
    for path, says in cases:
        with pytest.raises(BadInput, match=says) as refused:
            SentenceEncoder(path)
        assert "\n" not in str(refused.value)
