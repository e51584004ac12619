from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from heedful.checking import build, read_yaml
from heedful.config import AuditOptions, TrainConfig
from heedful.errors import BadInput


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Option dataset is missing: give it."),
        ({"dataset": "x", "epohcs": 3}, "There is no option 'epohcs': did you mean epochs?"),
        ({"dataset": 3}, "Option dataset must be text, not 3."),
        ({"dataset": "x", "epochs": "three"}, "Option epochs must be a whole number, not 'three'."),
        ({"dataset": "x", "epochs": 2.5}, "Option epochs must be a whole number, not 2.5."),
        ({"dataset": "x", "seed": 2**31}, "Option seed must be less than 2147483648, not 2147483648."),
        ({"dataset": "x", "temperature": 0}, "Option temperature must be more than 0.0, not 0."),
        ({"dataset": "x", "clip": float("nan")}, "Option clip must be a finite number, not nan."),
        ({"dataset": "x", "lowercase": "maybe"}, "Option lowercase must be true or false, not 'maybe'."),
        ({"dataset": "x", "widths": []}, "Option widths must be a list of at least one, not []."),
        ({"dataset": "x", "widths": 3}, "Option widths must be a list, not 3."),
        ({"dataset": "x", "decoder": "mpl"}, "Option decoder must be 'linear' or 'mlp', not 'mpl'."),
        ({"dataset": "x", "heads": None}, "Option heads must be a whole number, not None."),
    ],
)
def test_a_wrong_value_is_one_sentence(values, said):
    with pytest.raises(BadInput) as refused:
        build(TrainConfig, values)
    assert str(refused.value) == said


def test_the_sentence_says_in_which_file():
    with pytest.raises(BadInput, match=r"^Option epochs in my\.yaml must be at least 1, not 0\.$"):
        build(TrainConfig, {"dataset": "x", "epochs": 0}, where="my.yaml")


def test_a_long_value_is_shortened():
    with pytest.raises(BadInput) as refused:
        build(TrainConfig, {"dataset": "x", "epochs": "9x" * 1000})
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"pooling": "cls"}, "pooling: cls needs an encoder with a [CLS] token"),
        (
            {"hierarchical": True, "encoder": "hf:x"},
            "hierarchical: a pretrained transformer reads whole texts",
        ),
        (
            {"encoder": "hierarchical"},
            "encoder: choose a hierarchical network with --hierarchical",
        ),
    ],
)
def test_options_that_contradict_each_other(values, said):
    with pytest.raises(BadInput) as refused:
        build(TrainConfig, {"dataset": "x", **values})
    assert said in str(refused.value)


def test_lists_may_be_written_with_commas():
    config = build(TrainConfig, {"dataset": "x", "widths": "1, 3", "label_names": "no,yes"})
    assert config.widths == (1, 3)
    assert config.label_names == ("no", "yes")


def test_a_config_survives_being_written_and_read():
    config = build(TrainConfig, {"dataset": "x", "widths": "2,4", "patience": None})
    assert build(TrainConfig, config.model_dump(mode="json")) == config


def test_a_config_cannot_be_changed():
    with pytest.raises(ValidationError):
        build(TrainConfig, {"dataset": "x"}).epochs = 3


def test_yaml_is_data_and_nothing_in_it_is_run(tmp_path: Path):
    file = tmp_path / "evil.yaml"
    file.write_text("encoder: !!python/object/apply:os.system ['touch evil']\n")
    with pytest.raises(BadInput, match="not valid YAML"):
        read_yaml(file)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"threads": 100_000}, "Option threads must be at most 256, not 100000."),
        ({"hidden": 10**9}, "Option hidden must be at most 65536, not 1000000000."),
        ({"max_length": 10**30}, f"Option max_length must be at most 1000000000, not {10**30}."),
        ({"epochs": "9" * 30}, f"Option epochs must be at most 1000000000, not '{'9' * 30}'."),
        ({"epochs": "9" * 6000}, "Option epochs must be a whole number of fewer digits, not '9999999999"),
        ({"epochs": 10**6000}, "not a number of thousands of digits."),
        ({"learning_rate": 1e300}, "Option learning_rate must be at most 100.0, not 1e+300."),
        ({"radius": 1e300}, "Option radius must be at most 1000000000.0, not 1e+300."),
        ({"closeness": 1e300}, "Bad options: closeness: numbers beyond 1e+12 are not computed with."),
        ({"widths": "1,99999"}, "Option widths must be at most 1024, not '99999'."),
        ({"dataset": "caf\udce9.csv"}, "that is not UTF-8"),
        ({"vectors": "a\0b"}, "holds a character that is not UTF-8 or ends a name"),
        ({"label_names": "half \ud83d,whole"}, "UTF-8"),
    ],
)
def test_no_number_is_beyond_reason_and_no_name_beyond_writing(values, said):
    with pytest.raises(BadInput) as refused:
        build(TrainConfig, {"dataset": "x", **values})
    assert said in str(refused.value) and len(str(refused.value)) < 200


def test_options_of_an_audit_are_bounded_too():
    for name in ("permutations", "draws", "random_rankings", "batch_size"):
        with pytest.raises(BadInput, match=f"Option {name} must be at most"):
            build(AuditOptions, {name: 10**9})
