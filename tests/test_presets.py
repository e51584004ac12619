from __future__ import annotations

import pytest

from heedful.checking import build
from heedful.config import TrainConfig
from heedful.presets import PRESETS
from heedful.training.train import resolve


@pytest.mark.parametrize("dataset", ["sst2", "babi_1", "snli", "imdb"])
@pytest.mark.parametrize("encoder", ["", "bilstm", "cnn", "average", "none", "hf:x"])
@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_holds_only_options_that_the_config_takes(name, encoder, dataset):
    values = PRESETS.get(name)(dataset, encoder)
    build(TrainConfig, {"dataset": dataset, **({"encoder": encoder} if encoder else {}), **values})


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_never_changes_what_is_given(name):
    given = {"encoder": "cnn", "hidden": 3, "epochs": 1, "learning_rate": 0.5, "batch_size": 2}
    config = resolve({"dataset": "sst2", "preset": name, **given})
    assert {key: getattr(config, key) for key in given} == given


def test_a_preset_fills_in_the_rest():
    config = resolve({"dataset": "sst2", "preset": "jain-wallace"})
    assert (config.amsgrad, config.class_weights, config.patience) == (True, True, None)
    assert not config.punctuation  # SST only
    assert resolve({"dataset": "imdb", "preset": "jain-wallace"}).punctuation


def test_sizes_follow_the_dataset_and_the_encoder():
    def hidden(dataset, encoder):
        return resolve({"dataset": dataset, "encoder": encoder, "preset": "jain-wallace"}).hidden

    assert (hidden("sst2", "bilstm"), hidden("sst2", "cnn"), hidden("sst2", "average")) == (128, 64, 256)
    assert (hidden("babi_1", "bilstm"), hidden("babi_1", "cnn"), hidden("babi_1", "average")) == (30, 8, 60)


def test_serrano_smith_is_a_gru_unless_another_encoder_is_chosen():
    assert resolve({"dataset": "imdb", "preset": "serrano-smith"}).encoder == "bigru"
    assert resolve({"dataset": "imdb", "preset": "serrano-smith", "encoder": "cnn"}).encoder == "cnn"
