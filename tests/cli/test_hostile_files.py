"""Files that an adversary made: each command that reads them says one sentence, soon, and writes nothing."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from heedful.models.sealed_weights import seal, unseal
from heedful.runs import Run, list_runs

DEEP = "[" * 100_000
BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x]"]
    + [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
)
ROWS = "".join(f"film {i} was {('dull', 'great')[i % 2]},{('neg', 'pos')[i % 2]}\n" for i in range(40))
NPY = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000, 300), }\n"


def npz(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        header = b"\x93NUMPY\x01\x00" + len(NPY).to_bytes(2, "little") + NPY
        archive.writestr("words.npy", header)
        archive.writestr("vectors.npy", header)


def jsonl(label: str = '"pos"', text: str = '"a film"') -> str:
    plain = "".join(
        json.dumps({"text": f"film {i}", "label": ("neg", "pos")[i % 2]}) + "\n" for i in range(40)
    )
    return f'{{"text": {text}, "label": {label}}}\n{plain}'


CORPORA: dict[str, tuple[str | bytes, str]] = {
    "columns.csv": ("text,label,text\n" + ROWS.replace(",", ",x,"), "has 2 columns named 'text'"),
    "keys.jsonl": ('{"text": "a", "label": 1, "label": 0}\n', "the key 'label' stands twice in one object"),
    "surrogate.jsonl": (
        jsonl(r'"half \ud83d"'),
        "The label in row 1 of surrogate.jsonl holds half a character",
    ),
    "long_label.jsonl": (jsonl(f'"{"x" * 2000}"'), "has 2,000 characters, and 1,000 are the most"),
    "digits.jsonl": (jsonl("9" * 401), "a number of 401 digits"),
    "deep.jsonl": (jsonl(DEEP), "lists or objects nested more than 64 deep"),
    "token.csv": ("text,label\n" + "x" * 5_000_000 + ",pos\n" + ROWS, "has a text of 5,000,000 characters"),
    "utf16.csv": (("text,label\n" + ROWS).encode("utf-16"), "it is UTF-16, not UTF-8"),
    "plain16.csv": (("text,label\n" + ROWS).encode("utf-16-le"), "it is UTF-16LE, not UTF-8"),
    "zeros.csv.gz": (gzip.compress(bytes(2**26)), "it unpacks to more than 50 times its size"),
    "rows.csv.gz": (gzip.compress(b"text,label\n" + b"a,1\n" * 2**24), "it unpacks to more than 50 times"),
}

VECTORS: dict[str, tuple[str | bytes, str]] = {
    "size.txt": ("2 " + "9" * 30 + "\nfilm 1 2\n", "Line 2 of size.txt is not a word and"),
    "wide.txt": ("film " + "1 " * 70_000, "have 70,000 numbers each, and 1 to 65,536 can be used"),
    "inf.txt": ("film 1e300 1\n", "are not finite numbers"),
    "bomb.txt.gz": (gzip.compress(bytes(2**26)), "unpacks to more than 50 times"),
}


def write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def assert_refused(result, said: str) -> None:
    assert (result.code, result.out) == (2, ""), result
    assert result.err.startswith("Error: ") and result.err.count("\n") == 1 and len(result.err) < 600
    assert said in result.err


@pytest.mark.parametrize("name", CORPORA)
def test_hostile_corpora(run, tmp_path, name):
    content, said = CORPORA[name]
    write(name, content)
    assert_refused(run("train", name), said)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", VECTORS)
def test_hostile_vectors(run, reviews, name):
    content, said = VECTORS[name]
    write(name, content)
    assert_refused(run("train", reviews, "--vectors", name), said)
    assert not Path("runs").exists()


def test_vectors_that_claim_a_hundred_billion_rows(run, reviews):
    npz(Path("claims.npz"))
    assert_refused(
        run("train", reviews, "--vectors", "claims.npz"), "says it has 100,000,000,000 × 300 numbers"
    )
    Path("claims.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(NPY).to_bytes(2, "little") + NPY)
    Path("claims.txt").write_text("a\nb\n")
    assert_refused(run("train", reviews, "--vectors", "claims.npy"), "and 0 bytes are there")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BOMB, "an alias (*a) at line 2, which heedful does not read"),
        (DEEP, "nested more than 64 deep"),
        ("epochs: 1\nepochs: 2\n", "the key 'epochs' stands twice"),
        ("version: 2\nname: x\nrules: 2001-99-99\n", "not valid YAML"),
        ("a: 1".encode("utf-16"), "it is UTF-16"),
    ],
    ids=["bomb", "deep", "twice", "date", "utf-16"],
)
def test_hostile_yaml(run, reviews, trained, content, said):
    write("x.yaml", content)
    assert_refused(run("train", reviews, "--config", "x.yaml"), said)
    assert_refused(run("audit", trained, reviews, "--policy", "x.yaml"), said)


@pytest.mark.parametrize("name", ["model.json", "vocabulary.json"])
def test_a_model_of_bottomless_json_is_refused(run, trained, name):
    shutil.copytree(trained, "copy")
    (Path("copy") / name).write_text(DEEP)
    assert_refused(run("predict", "copy", "text"), name)


def test_words_numbered_beyond_their_count_are_refused(run, trained):
    shutil.copytree(trained, "copy")
    path = Path("copy/vocabulary.json")
    content = json.loads(path.read_text())
    words = content["model"]["vocab"]
    words[max(words, key=words.get)] = 4_000_000_000
    path.write_text(json.dumps(content))
    assert_refused(run("predict", "copy", "text"), "numbers its words beyond how many there are")


def test_words_that_are_not_those_of_the_model_are_refused(run, trained):
    for name, change in {
        "alike": lambda content: content["model"]["vocab"].update({max(content["model"]["vocab"]): 2}),
        "cased": lambda content: content.update(normalizer=None),
    }.items():
        shutil.copytree(trained, name)
        path = Path(name) / "vocabulary.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
        assert_refused(run("predict", name, "text"), "vocabulary.json")


def test_labels_that_are_no_different_words_are_refused(run, trained):
    shutil.copytree(trained, "copy")
    content = json.loads(Path("copy/model.json").read_text())
    for labels in (["neg", ["pos"]], ["neg", "neg"], [None, "pos"], "np", {"neg": 1, "pos": 2}):
        Path("copy/model.json").write_text(json.dumps({**content, "labels": labels}))
        assert_refused(run("predict", "copy", "text"), "labels that are no different words")


def test_texts_that_are_lists_are_refused(run, trained):
    write("x.jsonl", '{"text": ["a", "film"]}\n')
    assert_refused(run("predict", trained, "x.jsonl"), "Column 'text' in row 1 of x.jsonl holds a list")


def test_weights_that_have_changed_are_refused(run, trained):
    shutil.copytree(trained, "copy")
    path = Path("copy/model.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert_refused(run("predict", "copy", "text"), "its checksum is of other weights")


def sealed_anew(folder: Path, name: str, value: float) -> None:
    tensors, _ = unseal(folder / "model.safetensors")
    tensors[name].view(-1)[0] = value
    (folder / "model.safetensors").write_bytes(seal(tensors))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(run, reviews, trained, value):
    for name in ("attention.similarity.project_state.bias", "decoder.output.bias"):
        shutil.copytree(trained, f"copy-{name}")
        sealed_anew(Path(f"copy-{name}"), name, value)
        for command in ("predict", "audit"):
            assert_refused(run(command, f"copy-{name}", reviews), f"{name} has NaN or infinity")


def test_a_log_that_is_no_text_keeps_what_it_holds(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(b"\xff\xfe cut off")
    Run(tmp_path).log({"event": "resumed"})
    before, after = (tmp_path / "log.jsonl").read_bytes().splitlines()
    assert before == b"\xff\xfe cut off"
    assert json.loads(after)["event"] == "resumed"


DAMAGED = {
    "deep": DEEP,
    "junk": "\x00\x01 junk",
    "empty": "",
    "list": "[1]",
    "keys": "{}",
    "kinds": '{"epoch": "x", "dev": 1, "test": [2]}',
    "numbers": '{"epoch": 1, "dev": {}, "test": {"f1": "high", "accuracy": null}}',
    "twice": '{"epoch": 1, "epoch": 2, "dev": {}, "test": {}}',
}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_one_broken_run_does_not_hide_the_others(run, trained, form):
    for name, content in DAMAGED.items():
        folder = Path("runs") / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(content)
        (folder / "metrics.json").write_text(content)
    (Path("runs") / "link").mkdir()
    (Path("runs") / "link" / "config.yaml").symlink_to("nowhere")
    (Path("runs") / "folder" / "config.yaml").mkdir(parents=True)
    shutil.copytree(trained, Path("runs") / trained.name)
    result = run("runs", *form)
    assert (result.code, result.err) == (0, "")
    for name in (*DAMAGED, trained.name):
        (line,) = [line for line in result.out.splitlines() if name in line]
        complete = name in (trained.name, "numbers")
        assert ("complete" if complete else "damaged") in line
    assert_refused(run("predict", "nothing", "text"), "There is no run 'nothing'")


def test_a_listing_survives_names_that_are_not_utf8(run, trained):
    try:
        Path("runs").mkdir()
        shutil.copytree(os.fsencode(trained), b"runs/caf\xe9")
    except OSError:
        pytest.skip("this file system has no such names")
    assert [found.complete for found in list_runs(Path("runs"))] == [True]
    result = run("runs")
    assert (result.code, result.err) == (0, "") and "complete" in result.out


def test_metrics_say_what_is_wrong_with_them(tmp_path):
    for name, said in (("deep", "nested"), ("keys", "no epoch"), ("kinds", "no proper epoch")):
        (tmp_path / "metrics.json").write_text(DAMAGED[name])
        with pytest.raises(Exception, match=said):
            Run(tmp_path).metrics()


def test_a_cut_off_log_of_a_run_tells_nothing(tmp_path):
    from heedful.training.twins import seconds_per_epoch

    for content in ('{"time": 1, "event": "epoch"}\n{"time', DEEP, "[]\n", '{"event": "epoch"}\n' * 3):
        (tmp_path / "log.jsonl").write_text(content)
        assert seconds_per_epoch(tmp_path) is None
