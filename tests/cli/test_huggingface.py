"""Classifiers of transformers on the command line, as a user meets them."""

from __future__ import annotations

import json

import pytest
from tests.models.huggingface.conftest import make_network, make_tokenizer

ROWS = [
    "You are a complete idiot!,toxic",
    "What a lovely day for a walk.,not-toxic",
    "Shut up you stupid moron,toxic",
    "Thanks for the help with the references.,not-toxic",
]


@pytest.fixture
def comments(tmp_path):
    path = tmp_path / "comments.csv"
    path.write_text("text,label\n" + "\n".join(ROWS) + "\n")
    return path


def test_a_classifier_is_audited_and_kept_beside_the_data(real_classifier, comments, run):
    done = run("audit", real_classifier, comments, "--only", "permutation,reach", "--json")
    found = json.loads(done.out)
    assert (found["about"]["model"], found["about"]["performance"]["accuracy"]) == ("bert-tiny-toxicity", 1)
    (folder,) = (comments.parent / "audits").glob("bert-tiny-toxicity-comments.csv-*")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"heedful audit {real_classifier} comments.csv" in page  # as it was named
    assert str(comments.parent) not in page  # the folder of the data is no run


def test_it_predicts_and_explains_under_the_family_name(real_classifier, run):
    said = run("predict", f"hf:{real_classifier}", "You are a complete idiot!")
    assert said.out.startswith("toxic")
    scored = run("explain", real_classifier, "You are a complete idiot!", "-e", "leave_one_out", "--json")
    items = json.loads(scored.out)["items"]
    assert max(items, key=lambda item: item["weight"])["text"] == "idiot"


@pytest.mark.parametrize(
    "settings, reason",
    [
        ('{"model_type": "bert", "architectures": ["BertModel"]}', "has no head that gives a text a label"),
        (
            '{"model_type": "t5", "architectures": ["T5ForSequenceClassification"]}',
            "it is an encoder–decoder",
        ),
        ('{"model_type": "unheard-of"}', "Cannot load the classifier"),
        ("{", "Cannot load the classifier"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "predict", "attack"])
def test_a_folder_that_is_no_classifier_is_refused_in_a_sentence(
    settings, reason, command, tmp_path, comments, run
):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(settings)
    done = run(command, folder, "a text" if command == "predict" else comments)
    assert done.code == 2
    assert reason in " ".join(done.err.split())


def test_an_adapter_of_a_run_is_refused(tmp_path, run):
    done = run("predict", tmp_path, "a text", "--adapter", tmp_path)
    assert done.code == 2
    assert "--adapter is for a classifier of transformers" in " ".join(done.err.split())


@pytest.fixture
def folders(tmp_path):
    """Two classifiers of one kind, saved as people save them."""
    found = []
    for scale in (1.0, 0.5):
        module, tokenizer = make_network("Bert"), make_tokenizer()
        module.classifier.weight.data *= scale
        found.append(tmp_path / f"model-{scale}")
        module.save_pretrained(found[-1])
        tokenizer.save_pretrained(found[-1])
    return found


def test_two_classifiers_are_compared_on_the_same_texts(folders, comments, run):
    comments.write_text("text\na fine film\nthe plot is dull\ntwo long hours of joyless story\n")
    done = run("compare", *folders, "--data", comments, "--only", "permutation")
    assert done.code == 0
    assert "Difference to model-1.0" in done.out
    assert run("compare", *folders, comments, "--only", "permutation").out == done.out


def test_weights_act_in_all_layers_where_asked(folders, comments, run):
    comments.write_text("text\na fine film\nthe plot is dull\ntwo long hours of joyless story\n")
    found = {}
    for layers in ("last", "all"):
        done = run("audit", folders[0], comments, "--only", "permutation", "--layers", layers, "--json")
        numbers = json.loads(done.out)["audits"]["permutation"]["numbers"]
        found[layers] = numbers[0]["estimate"]
    assert found["last"] != found["all"]


def test_layers_are_those_of_transformers(trained, comments, run):
    comments.write_text("text\na fine film\n")
    done = run("audit", trained, comments, "--only", "permutation", "--layers", "all")
    assert done.code == 2
    assert "acts on every attention layer of a transformer" in " ".join(done.err.split())
