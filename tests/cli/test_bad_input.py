"""Whatever a user gets wrong: one sentence that says what, where and what to do; exit code 2; nothing written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from heedful.runs import Run

FILES = {
    "one_class.csv": "text,label\n" + "".join(f"a good film {i},pos\n" for i in range(30)),
    "empty.csv": "",
    "header.csv": "text,label\n",
    "hole.csv": "text,label\nfine film,pos\n   ,neg\n",
    "other_label.csv": "text,label\nfine film,neutral\n",
    "latin.csv": b"text,label\ncaf\xe9 film,pos\n",
    "hostile.csv": "text,la\x1b[2Jbel\nfilm,pos\n",
    "notes.txt": "hello",
    "broken.jsonl": "{text: 1}\n",
    "key.yaml": "encodr: cnn\n",
    "type.yaml": "epochs: many\n",
    "range.yaml": "epochs: 0\n",
    "list.yaml": "- epochs\n",
    "broken.yaml": "epochs: [1\nseed: }\n",
    "binary.yaml": b"\xff\xfe\x00",
}

# What is given to train after the file of reviews, and what the answer must say.
TRAIN = {
    "flag": ("--encodr cnn", "There is no option --encodr: did you mean --encoder?"),
    "flag without value": ("--epochs", "--epochs"),
    "encoder": ("--encoder bilstn", "did you mean bilstm?"),
    "objective": ("--objective vanila", "did you mean vanilla?"),
    "preset": ("--preset jain-walace", "did you mean jain-wallace?"),
    "vectors": ("--vectors glove-840b-300", "did you mean glove-840b-300d?"),
    "vector file": ("--vectors none.txt", "There is no vector file none.txt"),
    "choice": ("--pooling attenton", "'attention', 'mean', 'max', 'last' or 'cls'"),
    "number": ("--epochs many", "Option epochs must be a whole number, not 'many'."),
    "fraction": ("--epochs 1.5", "Option epochs must be a whole number"),
    "range": ("--epochs 0", "Option epochs must be at least 1"),
    "share": ("--decoder-dropout 1", "Option decoder_dropout must be less than 1"),
    "infinity": ("--learning-rate inf", "Option learning_rate must be a finite number"),
    "list of numbers": ("--widths 1,x", "Option widths must be a whole number, not 'x'."),
    "width": ("--widths 0", "Option widths must be at least 1"),
    "no name": ("--seed none", "Option seed must be a whole number, not 'none'."),
    "contradiction": ("--pooling cls", "pooling: cls needs an encoder with a [CLS] token"),
    "text column": ("--text-column body", "There is no column 'body' in"),
    "label column": ("--label-column stars", "its columns are text, label"),
    "test file": ("--test-file nowhere.csv", "There is no file nowhere.csv"),
    "label of test": ("--test-file other_label.csv", "'neutral'"),
    "all too short": ("--min-words 500", "lower --min-words"),
    "YAML key": ("--config key.yaml", "There is no option 'encodr' in key.yaml: did you mean encoder?"),
    "YAML type": ("--config type.yaml", "Option epochs in type.yaml must be a whole number"),
    "YAML range": ("--config range.yaml", "Option epochs in range.yaml must be at least 1"),
    "YAML list": ("--config list.yaml", "list.yaml must hold options as 'name: value', one per line"),
    "YAML syntax": ("--config broken.yaml", "broken.yaml cannot be read (not valid YAML at line 2)"),
    "YAML bytes": ("--config binary.yaml", "binary.yaml cannot be read (it is UTF-16"),
    "YAML missing": ("--config none.yaml", "There is no file none.yaml"),
    "YAML folder": ("--config .", "Cannot read . (is a directory)"),
    "file as folder": ("--runs notes.txt", "Cannot write notes.txt"),
    "system folder": ("--runs /proc/runs", "Cannot write /proc/runs"),
}

DATASETS = {
    "": "No dataset is given",
    "nowhere.csv": "There is no file or folder nowhere.csv",
    "sst3": "There is no dataset named 'sst3': did you mean",
    "one_class.csv": "All of train has the same label (pos)",
    "empty.csv": "There is no row in empty.csv",
    "header.csv": "There is no row in header.csv",
    "hole.csv": "Row 2 of hole.csv has no text",
    "latin.csv": "latin.csv is not UTF-8",
    "hostile.csv": "Cannot tell which column of hostile.csv holds the label",
    "notes.txt": "Cannot tell the format of notes.txt",
    "broken.jsonl": "Row 1 of broken.jsonl is not valid JSON",
}

OTHERS = {
    "trian": "No such command 'trian'",
    "list encodrs": "did you mean encoders?",
    "list": "Missing argument 'KIND': see heedful list --help.",
    "data show agnews": "did you mean ag_news?",
    "data get imbd": "did you mean imdb?",
    "predict": "Missing argument 'RUN'",
    "predict nothing text": "There is no run 'nothing': train one",
    "predict RUN text --data reviews.csv": "Both texts and --data are given",
    "predict RUN --data reviews.csv --query who": "--query-column",
    "predict RUN --data nowhere.csv": "There is no file nowhere.csv",
    "predict RUN --data reviews.csv --text-column body": "There is no column 'body' in reviews.csv",
    "predict RUN --data empty.csv": "There is no row in empty.csv",
    "predict RUN text --query who": "leave out the query",
    "predict QA text": "--query",
    "predict QA one two --query who": "give one each",
    "predict RUN text --output notes.txt/x": "Cannot write notes.txt",
    "predict RUN text --output /proc/x": "Cannot write /proc/x",
    "predict RUN text --output .": "Cannot write .",
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def assert_one_sentence(result, sentence):
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert "\x1b" not in result.err
    assert sentence in result.err


@pytest.mark.parametrize(("flags", "sentence"), TRAIN.values(), ids=TRAIN.keys())
def test_bad_options_of_train(run, reviews, tmp_path, flags, sentence):
    before = sorted(tmp_path.rglob("*"))
    assert_one_sentence(run("train", reviews, *flags.split()), sentence)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("dataset", "sentence"), DATASETS.items())
def test_bad_datasets(run, tmp_path, dataset, sentence):
    before = sorted(tmp_path.rglob("*"))
    assert_one_sentence(run("train", *dataset.split()), sentence)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("words", "sentence"), OTHERS.items())
def test_bad_words_for_other_commands(run, reviews, trained, trained_qa, tmp_path, words, sentence):
    before = sorted(tmp_path.rglob("*"))
    known = {"RUN": trained, "QA": trained_qa}
    assert_one_sentence(run(*(known.get(word, word) for word in words.split())), sentence)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_misspelt_run_is_recognised(run, trained):
    result = run("predict", trained.name[1:], "text", "--runs", trained.parent)
    assert_one_sentence(result, f"did you mean {trained.name}?")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def not_utf8(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize("damage", [cut, empty, not_utf8, Path.unlink])
@pytest.mark.parametrize("name", ["model.safetensors", "model.json", "vocabulary.json"])
def test_a_damaged_model_is_refused(run, trained, name, damage):
    shutil.copytree(trained, "copy")
    damage(Path("copy") / name)
    assert_one_sentence(run("predict", "copy", "text"), name)


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json"])
def test_a_file_of_another_model_is_refused(run, trained, trained_qa, name):
    shutil.copytree(trained, "copy")
    shutil.copy(trained_qa / name, Path("copy") / name)
    assert_one_sentence(run("predict", "copy", "text"), "copy both from the same run")


@pytest.mark.parametrize(("key", "value"), [("labels", ["neg"]), ("labels", 3), ("task", "song")])
def test_a_description_that_contradicts_itself_is_refused(run, trained, key, value):
    shutil.copytree(trained, "copy")
    path = Path("copy/model.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert_one_sentence(run("predict", "copy", "text"), "copy/model.json is damaged or of another version")


def test_a_run_that_another_process_holds_is_left_alone(run, reviews, trained):
    # The same file and options make the same run, here in a fresh folder.
    ours = Run(Path("runs") / trained.name)
    with ours.locked():
        result = run("train", reviews, "--embedding-size", 8, "--hidden", 4, "--epochs", 1)
    assert_one_sentence(result, "Another process is working on")


def test_a_hub_without_the_model_or_out_of_reach_is_one_sentence(reviews):
    # In a process of its own, because the hub's library looks at its settings once.
    done = subprocess.run(
        [sys.executable, "-m", "heedful", "train", str(reviews), "--encoder", "hf:no-such/model"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert_one_sentence(
        SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr), "'no-such/model'"
    )
    assert not Path("runs").exists()
