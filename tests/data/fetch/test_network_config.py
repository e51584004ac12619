"""A config that says how many layers to build is not believed whatever it says."""

from __future__ import annotations

import json

import pytest

from heedful.attacks.pretrained import is_masked, load_pretrained
from heedful.data.fetch.network_config import check_counts
from heedful.errors import BadInput
from heedful.models.encoders.transformer import build_transformer, load_transformer
from heedful.models.huggingface.classifier_folder import open_classifier

BERT = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 30}


@pytest.mark.parametrize(
    "values",
    [
        {"num_hidden_layers": 10**18},
        {"n_layer": 1e300},
        {"text_config": {"num_experts": 100_001}},
        {"block_sizes": [4, 10**9, 4]},
        {"num_labels": 10**15},
    ],
)
def test_more_parts_than_any_network_has_are_refused(values):
    with pytest.raises(
        BadInput, match=r"The config of here says .*, and no network has more than 1[0,]*: copy"
    ):
        check_counts(values, "here")


def test_what_networks_have_is_believed():
    check_counts({"num_hidden_layers": 10_000, "num_labels": 10**6, "layer_norm_eps": 1e-12}, "here")
    check_counts(
        {"block_sizes": [], "layer_types": ["full"] * 3, "vocab_size": 10**9, "n_layer": None}, "here"
    )
    check_counts({"block_size": 131_072, "num_experts": 16_384}, "here")  # the latter as Doge has them


@pytest.mark.parametrize(
    "load",
    [
        open_classifier,
        lambda name: load_transformer(str(name)),
        lambda name: load_pretrained("AutoModelForMaskedLM", str(name), what="a model", hint="give another"),
        lambda name: is_masked(str(name), what="a model", hint="give another"),
        lambda name: build_transformer(json.loads((name / "config.json").read_text())),
    ],
)
def test_no_loader_begins_to_build_them(tmp_path, load):
    (tmp_path / "config.json").write_text(json.dumps(BERT | {"num_hidden_layers": 10**18}))
    with pytest.raises(BadInput, match=r"says num_hidden_layers 1e\+18, and no network has more than 10,000"):
        load(tmp_path)
