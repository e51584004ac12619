from __future__ import annotations

import pytest
import torch

from heedful.attacks.language_model import MaskedLanguageModel, _whole_words
from heedful.errors import BadInput

VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "fine", "film", "##s", "##ing", "good", "story", ",", "!", "7",
]  # fmt: skip


@pytest.fixture
def parts():
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=BertWordPieceTokenizer(
            {token: number for number, token in enumerate(VOCABULARY)}
        )._tokenizer,
        pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=512,
    )  # fmt: skip
    return BertForMaskedLM(config).eval(), tokenizer


def logits(parts, text):
    model, tokenizer = parts
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        return model(input_ids=ids).logits[0], ids[0].tolist()


def test_whole_words_alone_the_most_probable_first(parts):
    text = "a [MASK] film"
    (found,) = MaskedLanguageModel(*parts).expected([text], 50)
    assert {one.word for one in found} == {"a", "fine", "film", "good", "story"}
    values, ids = logits(parts, text)
    probabilities = values[ids.index(4)].softmax(-1)
    for one in found:
        assert one.probability == pytest.approx(float(probabilities[VOCABULARY.index(one.word)]), rel=1e-4)
    assert [one.probability for one in found] == sorted((one.probability for one in found), reverse=True)
    assert MaskedLanguageModel(*parts).expected([text], 2)[0] == found[:2]


def test_companions_and_padding_change_nothing_and_a_text_is_read_once(parts):
    texts = ["a [MASK]", "a fine film , a good story , a [MASK] film !", "[MASK] film", "a [MASK]"]
    model = MaskedLanguageModel(*parts)
    together = model.expected(texts, 3)
    assert model.read == 3 and model.expected(texts, 3) == together and model.read == 3
    for text, some in zip(texts, together, strict=True):
        (alone,) = MaskedLanguageModel(*parts).expected([text], 3)
        assert [one.word for one in alone] == [one.word for one in some]
        assert [one.probability for one in alone] == pytest.approx(
            [one.probability for one in some], rel=1e-4
        )


def test_a_word_of_several_pieces_is_the_sum_of_them_all_missing(parts):
    model = MaskedLanguageModel(*parts)
    ((films, good),) = model.log_probabilities([("a fine", ", a story")], [["films", "good"]])
    values, ids = logits(parts, "a fine [MASK] [MASK] , a story")
    at = ids.index(4)
    by_hand = values[at].log_softmax(-1)[7] + values[at + 1].log_softmax(-1)[8]
    assert films == pytest.approx(float(by_hand), rel=1e-4)
    values, ids = logits(parts, "a fine [MASK] , a story")
    assert good == pytest.approx(float(values[ids.index(4)].log_softmax(-1)[10]), rel=1e-4)


def test_long_texts_are_cut_around_the_gap(parts):
    model = MaskedLanguageModel(*parts)
    for before, after in ((400, 0), (0, 400), (400, 400)):
        (found,) = model.expected(["film " * before + "[MASK]" + " good" * after], 2)
        assert len(found) == 2


@pytest.mark.parametrize("name", ["nowhere/at-all", "."])
def test_what_is_no_language_model_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(BadInput, match="masked language model") as raised:
        MaskedLanguageModel.load(name)
    assert "\n" not in str(raised.value)
    assert ("has no config.json" in str(raised.value)) == (name == ".")


def test_a_hub_that_does_not_answer_is_given_up_at_once(monkeypatch):
    import transformers
    from huggingface_hub import constants

    from heedful.attacks.pretrained import is_masked
    from heedful.data.fetch import offline

    asked = []

    def refuse(*given, **options):
        asked.append(constants.HF_HUB_OFFLINE)
        raise OSError("nothing here")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(offline, "getproxies", dict)
    monkeypatch.setattr(offline, "_answers", lambda address: False)
    monkeypatch.setattr(transformers.PreTrainedConfig, "get_config_dict", refuse)
    for ask in (MaskedLanguageModel.load, lambda name: is_masked(name, what="one", hint="give one")):
        with pytest.raises(BadInput, match="nothing here"):
            ask("nowhere/at-all")
    assert asked == [True, True]  # offline, its library does not try five times


def test_a_folder_below_home_is_found(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for part in parts:
        part.save_pretrained(tmp_path / "model")
    assert MaskedLanguageModel.load("~/model").mask == "[MASK]"


def test_a_saved_model_is_loaded_and_one_without_its_last_layer_is_refused(parts, tmp_path):
    model, tokenizer = parts
    for folder, saved in (("whole", model), ("half", model.bert)):
        saved.save_pretrained(tmp_path / folder)
        tokenizer.save_pretrained(tmp_path / folder)
    loaded = MaskedLanguageModel.load(str(tmp_path / "whole"))
    assert (
        loaded.expected(["a [MASK]"], 1)[0][0].word
        == MaskedLanguageModel(*parts).expected(["a [MASK]"], 1)[0][0].word
    )
    with pytest.raises(BadInput, match="no masked language model"):
        MaskedLanguageModel.load(str(tmp_path / "half"))


def test_numbers_without_a_token_are_passed_over(parts):
    from tokenizers import BertWordPieceTokenizer
    from transformers import PreTrainedTokenizerFast

    numbers = {token: number + 7 * (number > 9) for number, token in enumerate(VOCABULARY)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=BertWordPieceTokenizer(numbers)._tokenizer, unk_token="[UNK]", mask_token="[MASK]",
        pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
    )  # fmt: skip
    assert _whole_words(tokenizer, 30) == {5: "a", 6: "fine", 7: "film", 17: "good", 18: "story"}
    assert _whole_words(tokenizer, 18) == {5: "a", 6: "fine", 7: "film", 17: "good"}
