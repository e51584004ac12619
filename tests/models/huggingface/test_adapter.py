"""Adapters: put into the model that they were trained on, with the head that comes with them, or refused in a sentence."""

from __future__ import annotations

import json
import shutil

import peft
import pytest
import torch
from tests.models.huggingface.conftest import make_network, make_tokenizer

import heedful
from heedful.errors import BadInput
from heedful.loading import find_model, load


@pytest.fixture
def folder(tmp_path):
    """A classifier as transformers saves it."""
    make_network("Bert").save_pretrained(tmp_path / "base")
    make_tokenizer().save_pretrained(tmp_path / "base")
    return tmp_path / "base"


@pytest.fixture
def headless(tmp_path):
    """A network without a head."""
    make_network("Bert").bert.save_pretrained(tmp_path / "headless")
    make_tokenizer().save_pretrained(tmp_path / "headless")
    return tmp_path / "headless"


def tune(base, where, *, kind="SEQ_CLS", classes=3, draw=True):
    """Make an adapter with drawn weights, save it, and give the network with it."""
    from transformers import AutoModelForSequenceClassification

    module = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=classes, ignore_mismatched_sizes=True
    )
    tuned = peft.get_peft_model(
        module, peft.LoraConfig(task_type=kind, r=2, target_modules=["query", "value"])
    )
    with torch.no_grad():
        for name, weight in tuned.named_parameters():
            if draw and ("lora" in name or "modules_to_save" in name):
                weight.copy_(torch.randn_like(weight))
    tuned.save_pretrained(where)
    return tuned.eval()


def said(module, text="a fine film"):
    ids = make_tokenizer()([text], return_tensors="pt")
    with torch.no_grad():
        return module(ids["input_ids"], attention_mask=ids["attention_mask"]).logits.softmax(-1)[0].tolist()


def answers(model, text="a fine film"):
    return list(model.predict([text])[0].probabilities.values())


def test_it_is_put_into_the_model_and_named(folder, tmp_path):
    tuned = tune(folder, tmp_path / "lora")
    found, plain = (load(folder, adapter=adapter) for adapter in (tmp_path / "lora", None))
    assert answers(found) == pytest.approx(said(tuned), abs=1e-5)
    assert answers(found) != pytest.approx(answers(plain), abs=1e-3)
    assert (found.name, plain.name) == ("base with adapter lora", "base")
    (given,) = heedful.explain(tuned, ["a fine film"], tokenizer=str(folder))
    assert list(given.probabilities.values()) == pytest.approx(answers(found), abs=1e-5)


@pytest.mark.parametrize("classes", [3, 4])
def test_its_head_takes_the_place_of_one_that_the_model_lacks_or_has_with_other_classes(
    folder, headless, classes, tmp_path
):
    for number, base in enumerate((folder, headless)):
        where = tmp_path / f"lora-{number}"
        tuned = tune(base, where, classes=classes)
        found = load(base, adapter=where)
        assert len(found.labels) == classes
        assert answers(found) == pytest.approx(said(tuned), abs=1e-5)


def test_a_head_that_neither_holds_is_refused(headless, tmp_path):
    tune(headless, tmp_path / "lora", kind="FEATURE_EXTRACTION")
    with pytest.raises(BadInput, match=r"Neither the model nor its adapter .* holds a trained head"):
        load(headless, adapter=tmp_path / "lora")


def test_its_folder_alone_finds_the_model_that_it_names(folder, tmp_path, monkeypatch):
    tuned = tune(folder, tmp_path / "lora")
    assert answers(find_model(tmp_path / "lora")) == pytest.approx(said(tuned), abs=1e-5)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("base", "lora"):
        shutil.move(tmp_path / name, moved / name)
    assert answers(find_model(moved / "lora")) == pytest.approx(said(tuned), abs=1e-5)
    shutil.rmtree(moved / "base")
    with pytest.raises(
        BadInput, match=r"is an adapter: name the model that it was trained on, .*is not there"
    ):
        find_model(moved / "lora")


def test_the_adapter_of_another_model_is_refused(folder, tmp_path):
    make_network("Bert", num_hidden_layers=2).save_pretrained(tmp_path / "shallow")
    make_tokenizer().save_pretrained(tmp_path / "shallow")
    tune(tmp_path / "shallow", tmp_path / "lora")
    with pytest.raises(BadInput, match="is the adapter of another model"):
        load(folder, adapter=tmp_path / "lora")


def test_a_folder_that_is_none_is_refused(folder, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "x"}))
    for where in (tmp_path / "nowhere", tmp_path / "broken"):
        with pytest.raises(BadInput, match="is no adapter"):
            load(folder, adapter=where)
