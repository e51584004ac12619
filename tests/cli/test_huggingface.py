"""Classifiers of transformers on the command line, as a user meets them."""

from __future__ import annotations

import json

import pytest

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
    assert (folder / "report.html").is_file()


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
