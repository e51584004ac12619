"""A causal language model: by hand token by token, whatever the batch, and as the attacks ask it."""

from __future__ import annotations

import pytest
import torch

from heedful.attacks.causal_language_model import CausalLanguageModel
from heedful.attacks.constraints.fluency import MostProbable, NotLessProbable
from heedful.attacks.draft import Draft, Source
from heedful.attacks.language_model import MaskedLanguageModel
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import language_model
from heedful.errors import BadInput

WORDS = ["<|endoftext|>", "a", "fine", "film", "good", "story", ",", "and", "long", "one", "un", "##even"]


@pytest.fixture(scope="module")
def parts():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    tokens = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="one"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=300, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = GPT2LMHeadModel(config).eval()
    model.transformer.wte.weight.data *= 40  # so that words differ
    return model, tokenizer


@pytest.fixture
def causal(parts):
    return CausalLanguageModel(*parts)


@pytest.fixture
def folder(parts, tmp_path):
    for part in parts:
        part.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def by_hand(parts, text):
    """Log probability of a text, one token at a time."""
    model, tokenizer = parts
    ids = [0, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    total = 0.0
    for end in range(1, len(ids)):
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids[:end]])).logits[0, -1].double()
        total += float(logits.log_softmax(-1)[ids[end]])
    return total


def test_every_token_of_the_stretch_counts(parts, causal):
    contexts = [("a", "film , and"), ("", "film"), ("a long", "")]
    words = [["fine", "uneven", "good"], ["fine"], ["story", "film"]]
    found = causal.log_probabilities(contexts, words)
    for (before, after), some, values in zip(contexts, words, found, strict=True):
        for word, value in zip(some, values, strict=True):
            text = " ".join(part for part in (before, word, after) if part)
            assert value == pytest.approx(by_hand(parts, text), abs=1e-3)
    assert causal.log_probabilities([], []) == [] and causal.log_probabilities([("a", "")], [[]]) == [[]]


def test_companions_change_nothing_and_what_was_read_is_not_read_again(parts, causal):
    contexts = [("a " * n, "film") for n in range(1, 50)]
    together = causal.log_probabilities(contexts, [["fine", "good"]] * len(contexts))
    assert causal.read == 98
    for context, values in zip(contexts[::12], together[::12], strict=True):
        alone = CausalLanguageModel(*parts).log_probabilities([context], [["fine", "good"]])
        assert values == pytest.approx(alone[0], abs=1e-3)
    assert causal.log_probabilities(contexts, [["fine", "good"]] * len(contexts)) == together
    assert causal.read == 98


@pytest.mark.parametrize("position", [0, 3, 7], ids=["first", "middle", "last"])
def test_the_most_probable_are_kept_wherever_the_word_stands(parts, causal, position):
    words = ["fine", "film", ",", "and", "a", "long", "good", "story"]
    others = ["long", "uneven", "one", "a", "film"]
    draft = Draft(Source.cut(" ".join(words)))
    place = [w for w in words if w != ","].index(words[position])
    (kept,) = MostProbable(causal, count=2).keep_each([(draft, place)], [others])
    near = slice(max(0, position - 6), position), slice(position + 1, position + 7)
    values = {word: by_hand(parts, " ".join([*words[near[0]], word, *words[near[1]]])) for word in others}
    best = sorted(sorted(others, key=lambda word: -values[word])[:2], key=others.index)
    assert kept == best


def test_the_last_word_does_not_stand_before_the_first(causal):
    one, other = (Draft(Source.cut(f"fine film and a long good story {last}")) for last in ("film", "good"))
    asked = MostProbable(causal, count=1)
    read = [asked.keep_each([(draft, 0)], [["long", "one", "a"]]) for draft in (one, other)]
    assert read[0] == read[1] and causal.read == 3  # the last word is out of sight: the same stretches


def test_a_fall_of_the_whole_stretch_is_bounded(parts, causal):
    draft = Draft(Source.cut("a fine film"))
    others = ["good", "long", "one", "and", "story"]
    falls = {word: by_hand(parts, "a fine film") - by_hand(parts, f"a {word} film") for word in others}
    drop = sorted(falls.values())[2] + 1e-2
    (kept,) = NotLessProbable(causal, drop=drop).keep_each([(draft, 1)], [others])
    assert kept == [word for word in others if falls[word] <= drop] and len(kept) == 3


def test_a_folder_is_known_by_its_kind(folder):
    options = AttackOptions(recipe="genetic", language_model=str(folder))
    assert isinstance(language_model(options, ""), CausalLanguageModel)
    with pytest.raises(BadInput, match="Cannot load a masked language model") as refused:
        MaskedLanguageModel.load(str(folder))
    assert "\n" not in str(refused.value)


def test_what_is_no_language_model_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="Cannot load a language model from") as refused:
        language_model(AttackOptions(recipe="genetic", language_model=str(tmp_path / "empty")), "")
    assert "\n" not in str(refused.value)
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="Cannot load a language model from"):
        language_model(AttackOptions(recipe="genetic", language_model=str(folder)), "")
