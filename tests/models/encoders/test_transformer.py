"""Pretrained transformers as encoders, with tiny ones made here, and with a real one where it is at hand."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import heedful
from heedful.data.corpus import Split
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.runs import Run

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "fine",
    "film",
    "##s",
    "##mak",
    "##er",
    "dull",
    "bad",
    "##ly",
    "made",
    ".",
]
SMALL = {
    "vocab_size": len(PIECES),
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 40,
}
CONFIGS = {
    "bert": transformers.BertConfig(**SMALL),
    "distilbert": transformers.DistilBertConfig(
        vocab_size=len(PIECES), dim=8, n_layers=2, n_heads=2, hidden_dim=16, max_position_embeddings=40
    ),
    "roberta": transformers.RobertaConfig(**SMALL),
    "electra": transformers.ElectraConfig(**SMALL, embedding_size=4),
    "mpnet": transformers.MPNetConfig(**SMALL),
    "deberta": transformers.DebertaV2Config(**SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"]),
}


def _save(config: transformers.PretrainedConfig, folder) -> str:
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=32,
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(params=CONFIGS)
def pretrained(request, tmp_path) -> str:
    return _save(CONFIGS[request.param], tmp_path / request.param)


@pytest.fixture
def bert(tmp_path) -> str:
    return _save(CONFIGS["bert"], tmp_path / "bert")


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "reviews.csv"
    rows = [
        f"{'a ' * (i % 7 + 1)}{'fine' if i % 2 else 'dull'} film {'. ' * (i // 14)},{i % 2}"
        for i in range(80)
    ]
    path.write_text("text,label\n" + "\n".join(rows))
    return path


def _train(data, encoder, runs, **options) -> Classifier:
    settings = {"epochs": 1, "batch_size": 16, "learning_rate": 1e-3, "progress": False, **options}
    return heedful.train(str(data), encoder=f"hf:{encoder}", runs=runs, **settings)


def test_a_transformer_keeps_the_contract_and_special_tokens_carry_no_weight(
    pretrained, reviews, tmp_path, hold_to_contract
):
    classifier = _train(reviews, pretrained, tmp_path / "runs")
    split = Split(
        ["a fine filmmaker .", "dull", "a badly made film . a fine film"], np.zeros(3, dtype=np.int64)
    )
    instances = classifier.instances(split)
    hold_to_contract(classifier.model, instances)
    tokens = instances.batch(np.arange(3)).tokens
    special = tokens.present & ~tokens.mask
    assert special.sum() == 6
    assert (classifier.model(instances.batch(np.arange(3))).weights[:, 0][special] == 0).all()
    assert classifier.model.slow
    assert classifier.model.contextual


def test_word_masks_are_on_pieces_and_leave_special_tokens_alone(
    pretrained, reviews, tmp_path, hold_to_contract
):
    classifier = _train(reviews, pretrained, tmp_path / "runs", word_mask="word", pooling="cls")
    model, batch = classifier.model, classifier.batch(["a fine filmmaker .", "dull"])
    plain, special = model.unmasked(batch.tokens.ids), batch.tokens.present & ~batch.tokens.mask
    assert special.sum() == 4
    embedded, real = model.embed(batch), batch.tokens.mask
    assert torch.equal(embedded[special], plain[special])
    torch.testing.assert_close(embedded[real], plain[real] * model.importance(batch)[real][:, None])
    split = Split(["a fine filmmaker .", "dull"], np.zeros(2, dtype=np.int64))
    hold_to_contract(model, classifier.instances(split))


def test_pieces_are_joined_to_words(bert, reviews, tmp_path):
    text = "A fine FILMMAKER. badly"
    (prediction,) = _train(reviews, bert, tmp_path / "runs").predict([text])
    assert [text[i.start : i.end] for i in prediction.items] == ["A", "fine", "FILMMAKER", ".", "badly"]
    assert sum(i.weight for i in prediction.items) == pytest.approx(1.0)


@pytest.mark.parametrize("heads", [1, 2])
def test_the_same_transformer_reads_text_and_question(bert, tmp_path, heads):
    data = tmp_path / "pairs.csv"
    rows = [f"a {'fine' if i % 2 else 'dull'} film {'. ' * (i % 5)},film {i % 3},{i % 3}" for i in range(60)]
    data.write_text("premise,hypothesis,label\n" + "\n".join(rows))
    classifier = _train(data, bert, tmp_path / "runs", heads=heads)
    (prediction,) = classifier.predict(["a fine film"], ["bad film"])
    assert len(prediction.probabilities) == 3
    assert sum(i.weight for i in prediction.items) == pytest.approx(1.0)
    (other,) = classifier.predict(["a fine film"], ["made"])
    assert other.probabilities != prediction.probabilities


def test_a_saved_transformer_needs_neither_hub_nor_folder(bert, reviews, tmp_path):
    classifier = _train(reviews, bert, tmp_path / "runs")
    before = classifier.predict(["a fine film"])
    shutil.rmtree(bert)
    assert heedful.load(classifier.run).predict(["a fine film"]) == before


def test_cls_pooling_has_no_weights_and_learns(bert, reviews, tmp_path):
    classifier = _train(
        reviews, bert, tmp_path / "runs", pooling="cls", epochs=30, patience=None, learning_rate=1e-2
    )
    assert classifier.predict(["a fine film"])[0].items == ()
    assert Run(classifier.run).metrics()["test"]["accuracy"] == 1.0


def test_a_text_beyond_the_models_positions_is_cut(bert, reviews, tmp_path):
    (prediction,) = _train(reviews, bert, tmp_path / "runs").predict(["fine " * 10_000])
    assert len(prediction.items) == 30  # 32 positions less [CLS] and [SEP]


@pytest.mark.parametrize("name", ["no/such/folder", "empty"])
def test_a_model_that_cannot_be_loaded_is_said(name, reviews, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"Cannot load the (tokeniser|pretrained model)"):
        _train(reviews, tmp_path / name, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_real_pretrained_model_reads_real_words(asset, tmp_path, reviews):
    asset("minilm-l6")
    data = tmp_path / "few.csv"
    data.write_text("\n".join(reviews.read_text().splitlines()[:41]))
    classifier = _train(data, "minilm-l6", tmp_path / "runs", epochs=1, learning_rate=1e-4)
    text = "An unforgettably heartwarming masterpiece!"
    (prediction,) = classifier.predict([text])
    assert [text[i.start : i.end] for i in prediction.items] == [
        "An",
        "unforgettably",
        "heartwarming",
        "masterpiece",
        "!",
    ]
    assert classifier.model.encoder.size == 384
