"""Functions take texts however they are held, and say in one sentence what they cannot take."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import polars as pl
import pytest

import heedful
from heedful.data.corpora.kept_texts import FOLDER
from heedful.errors import BadInput

GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")
TEXTS = [
    f"film {i} was {(BAD, GOOD)[i % 2][i % 4]} and {(BAD, GOOD)[i % 2][i // 4 % 4]} ." for i in range(60)
]
LABELS = ["neg", "pos"] * 30
SMALL = {"embedding_size": 8, "hidden": 4, "epochs": 1, "progress": False}


def pandas_frame(texts, labels):
    return pandas.DataFrame({"other": range(len(texts)), "text": texts, "label": labels})


def dataset(texts, labels):
    datasets = pytest.importorskip("datasets", reason="the extra hub is not installed")
    rows = datasets.Dataset.from_dict({"text": list(texts), "label": [int(name == "pos") for name in labels]})
    return datasets.Dataset.from_dict(
        rows.to_dict(),
        features=datasets.Features(
            {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])}
        ),
    )


FRAMES = {
    "polars": lambda texts, labels: pl.DataFrame({"sentence": texts, "label": labels}),
    "pandas": pandas_frame,
    "Dataset": dataset,
    "columns": lambda texts, labels: {"text": texts, "label": labels},
    "rows": lambda texts, labels: [{"text": t, "label": name} for t, name in zip(texts, labels, strict=True)],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return heedful.train(TEXTS, LABELS, runs=tmp_path_factory.mktemp("handed") / "runs", **SMALL)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_model_trained_on_a_frame_is_that_of_the_list(model, make, tmp_path):
    made = heedful.train(make(TEXTS, LABELS), runs=tmp_path, **SMALL)
    assert made.labels == model.labels == ("neg", "pos")
    assert (made.predict_proba(TEXTS) == model.predict_proba(TEXTS)).all()


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_function_takes_it(model, make):
    data = make(TEXTS, LABELS)
    assert heedful.predict(model, data) == model.predict(TEXTS) == model(TEXTS)
    assert heedful.explain(model, data) == heedful.explain(model, TEXTS)
    audited = heedful.audit(model, data, only=["sharpness"], progress=False)
    assert audited.about.texts == 60 and audited.about.performance["accuracy"] == pytest.approx(
        np.mean([p.label == name for p, name in zip(model(TEXTS), LABELS, strict=True)])
    )


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_attacks_take_it_with_its_labels(model, make, tmp_path):
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("great dull\nwarm slow\nfunny grim\nlovely boring\n", encoding="utf-8")
    asked = {
        "recipe": "textfooler",
        "similarity": False,
        "same_part_of_speech": False,
        "synonyms": synonyms,
        "limit": 10,
        "progress": False,
    }
    of_list = heedful.attack(model, TEXTS, LABELS, **asked)
    of_frame = heedful.attack(model, make(TEXTS, LABELS), **asked)
    assert of_frame.to_frame().equals(of_list.to_frame())
    assert len(repr(of_frame).splitlines()) == 1


@pytest.mark.parametrize(
    "make", [tuple, np.array, pl.Series, iter], ids=["tuple", "array", "column", "iterator"]
)
def test_texts_one_after_the_other(model, make):
    assert heedful.predict(model, make(TEXTS[:5])) == model(TEXTS[:5])


def test_a_path_is_read(model, tmp_path):
    file = tmp_path / "reviews.csv"
    pl.DataFrame({"review": TEXTS[:4]}).write_csv(file)
    assert heedful.predict(model, file) == heedful.predict(model, str(file)) == model(TEXTS[:4])


def test_texts_that_are_handed_over_are_kept_so_that_the_run_stands_by_itself(model):
    again = heedful.load(model.run)
    found = heedful.audit(again, only=["sharpness"], progress=False)  # its own test split, in another session
    assert found.about.texts > 0 and found.about.performance
    kept = list((model.run.parent / FOLDER).glob("*/train.jsonl"))
    assert len(kept) == 1 and len(kept[0].read_text(encoding="utf-8").splitlines()) == 60


def test_the_same_texts_find_the_same_run(model):
    assert heedful.train(TEXTS, LABELS, runs=model.run.parent, **SMALL).run == model.run
    other = heedful.train(TEXTS[1:], LABELS[1:], runs=model.run.parent, **SMALL)
    assert other.run != model.run


def test_splits_are_given_by_name_or_apart(tmp_path):
    parts = {"train": (0, 40), "validation": (40, 50), "test": (50, 60)}
    frames = {
        name: pl.DataFrame({"text": TEXTS[a:b], "label": LABELS[a:b]}) for name, (a, b) in parts.items()
    }
    whole = heedful.train(frames, runs=tmp_path, **SMALL)
    apart = heedful.train(
        TEXTS[:40],
        LABELS[:40],
        dev=(TEXTS[40:50], LABELS[40:50]),
        test=frames["test"],
        runs=tmp_path,
        **SMALL,
    )
    assert whole.run == apart.run
    assert [p.text for p in whole(TEXTS[50:52])] == TEXTS[50:52]


def test_columns_are_named_by_options_or_in_a_file(model, tmp_path):
    frame = pl.DataFrame({"id": range(60), "body": TEXTS, "stars": LABELS, "date": [None] * 60})
    columns = {"text_column": "body", "label_column": "stars"}
    named = heedful.train(frame, runs=tmp_path, **columns, **SMALL)
    file = tmp_path / "columns.yaml"
    file.write_text("".join(f"{name}: {column}\n" for name, column in columns.items()), encoding="utf-8")
    assert heedful.train(frame, runs=tmp_path, config=file, **SMALL).run == named.run
    assert (named.predict_proba(TEXTS) == model.predict_proba(TEXTS)).all()
    kept = next((tmp_path / FOLDER).glob("*/train.jsonl")).read_text(encoding="utf-8")
    assert json.loads(kept.splitlines()[0]) == {"body": TEXTS[0], "stars": "neg"}  # and no other column
    assert heedful.audit(named, only=["sharpness"], progress=False).about.performance
    assert heedful.predict(named, frame, text_column="body") == named(TEXTS)


def test_pairs_are_given_as_pairs(tmp_path):
    places = ("home", "school")
    pairs = [(f"Mary {i} went {places[i % 2]} .", "Where is Mary?") for i in range(60)]
    model = heedful.train(pairs, [places[i % 2] for i in range(60)], runs=tmp_path, **SMALL)
    assert model.task == "pair"
    assert heedful.predict(model, pairs[:3]) == model([t for t, _ in pairs[:3]], [q for _, q in pairs[:3]])
    assert heedful.explain(model, pairs[:1])[0].query == "Where is Mary?"


def test_numbers_of_other_libraries_are_labels(tmp_path):
    stars = np.array([1, 5] * 30, dtype=np.int8)
    assert heedful.train(np.array(TEXTS), stars, runs=tmp_path, **SMALL).labels == ("1", "5")


def test_missing_values_of_pandas_are_missing(tmp_path):
    frame = pandas.DataFrame({"text": TEXTS, "label": pandas.array([None, *LABELS[1:]], dtype="string")})
    with pytest.raises(BadInput, match="Row 1 of a DataFrame has no label"):
        heedful.train(frame, runs=tmp_path, **SMALL)
    assert heedful.train(frame, runs=tmp_path, skip_bad_rows=True, **SMALL).labels == ("neg", "pos")


REFUSED = {
    "no labels": (lambda: heedful.train(TEXTS), r"have no labels: train\(texts, labels\)"),
    "labels of others": (lambda: heedful.train(TEXTS, LABELS[:3]), "3 labels were given for 60 texts"),
    "labels of a name": (lambda: heedful.train("sst2", LABELS), "label_column"),
    "a test of a name": (lambda: heedful.train("sst2", test=TEXTS), "test_file"),
    "no data": (heedful.train, "No dataset is given"),
    "labels alone": (lambda: heedful.train(None, LABELS), "texts of train are needed"),
    "no text": (lambda: heedful.train([], []), "There is no text in train"),
    "a strange split": (
        lambda: heedful.train({"unsupervised": pl.DataFrame({"text": TEXTS})}),
        "no split named",
    ),
    "no train": (
        lambda: heedful.train({"test": pl.DataFrame({"text": TEXTS, "label": LABELS})}),
        "no split train",
    ),
    "a set": (lambda: heedful.train(set(TEXTS), LABELS), "A set has no order"),
    "a frame without texts": (
        lambda: heedful.train(pl.DataFrame({"a": [1], "label": [0]})),
        "holds the text",
    ),
    "an unknown option": (lambda: heedful.train(TEXTS, LABELS, epoch=3), "did you mean"),
    "both words": (lambda: heedful.audit(len, TEXTS, texts=TEXTS), "Both data and texts are given"),
}


@pytest.mark.parametrize(("call", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_taken_is_said_in_a_sentence_and_nothing_is_written(call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=said) as refused:
        call()
    assert "\n" not in str(refused.value) and not list(tmp_path.iterdir())


def test_former_words_are_understood_with_a_sentence(model):
    by_texts = heedful.audit(model, texts=TEXTS, only=["sharpness"], progress=False)  # as good a word
    with pytest.warns(FutureWarning, match="dataset is called data now"):
        by_dataset = heedful.audit(
            model, dataset=pl.DataFrame({"text": TEXTS}), only=["sharpness"], progress=False
        )
    assert by_texts.about.texts == by_dataset.about.texts == 60
    with pytest.warns(FutureWarning, match="name is called explainer now"):
        assert heedful.explain(model, TEXTS[:1], name="attention")
    with pytest.raises(TypeError, match="unexpected"):
        heedful.explain(model, TEXTS[:1], nme="attention")


def test_importing_the_package_imports_nothing_heavy():
    heavy = (
        "torch",
        "numpy",
        "polars",
        "pydantic",
        "rich",
        "sklearn",
        "transformers",
        "markupsafe",
        "IPython",
    )
    code = f"import heedful, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert max(len(file.read_text(encoding="utf-8").splitlines()) for file in FUNCTIONS) < 130


FUNCTIONS = [
    Path(heedful.__file__),
    *(
        file
        for file in (Path(heedful.__file__).parent / "functions").glob("*.py")
        if file.name != "keywords.py"
    ),
]
