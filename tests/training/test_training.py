"""Training as a user sees it: it learns, it is the same again, and it stops when it should."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.corpus import Corpus, Split
from heedful.declared import complete
from heedful.errors import BadInput, Diverged
from heedful.runs import Run, list_runs
from heedful.training.objectives.objective import OBJECTIVES, Objective, rarity_weights
from heedful.training.objectives.vanilla import Vanilla
from heedful.training.train import resolve, run_name

SMALL = {"embedding_size": 12, "hidden": 8, "epochs": 2, "batch_size": 8, "progress": False}


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """Short reviews whose label is decided by one word."""
    random = np.random.default_rng(0)
    rows = ["text,label"]
    for number in range(400):
        good = number % 2
        words = list(random.choice(["the", "film", "was", "made", "in", "may"], size=random.integers(3, 9)))
        words.insert(int(random.integers(0, len(words))), "superb" if good else "awful")
        rows.append(f"{' '.join(words)},{'good' if good else 'bad'}")
    path = tmp_path_factory.mktemp("data") / "reviews.csv"
    path.write_text("\n".join(rows))
    return path


def _weights(run):
    return load_file(run / "model.safetensors")


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": "bilstm"},
        {"encoder": "average", "activation": "tanh"},
        {"encoder": "cnn", "widths": (3, 4, 5), "pooling": "max"},
        {"encoder": "bigru", "hierarchical": True},
        {"encoder": "none", "attention": "dot", "heads": 2},
    ],
    ids=lambda o: "-".join(map(str, o.values())),
)
def test_planted_words_are_learnt(reviews, tmp_path, options):
    model = heedful.train(
        str(reviews),
        runs=tmp_path,
        **SMALL | {"epochs": 5, "learning_rate": 0.02, "metric": "roc_auc"},
        **options,
    )
    assert Run(model.run).metrics()["test"]["accuracy"] == 1.0
    assert [p.label for p in model.predict(["the superb film", "awful"])] == ["good", "bad"]


def test_a_run_holds_everything_to_do_it_again(reviews, tmp_path):
    model = heedful.train(str(reviews), runs=tmp_path, **SMALL)
    names = {path.name for path in model.run.iterdir()} - {".lock"}
    assert names == {
        "config.yaml",
        "environment.json",
        "log.jsonl",
        "metrics.json",
        "model.json",
        "model.safetensors",
        "vocabulary.json",
    }
    again = heedful.train(
        config=model.run / "config.yaml", dataset=str(reviews), runs=tmp_path / "again", progress=False
    )
    assert again.run.name == model.run.name
    first, second = _weights(model.run), _weights(again.run)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (model.run / "metrics.json").read_bytes() == (again.run / "metrics.json").read_bytes()
    environment = json.loads((model.run / "environment.json").read_text())
    assert environment["versions"]["torch"] == torch.__version__
    events = [json.loads(line)["event"] for line in (model.run / "log.jsonl").read_text().splitlines()]
    assert events == ["epoch", "epoch", "tested"]


def test_words_of_test_are_known_by_their_vectors(tmp_path):
    for name, texts in {
        "train": ["good film", "bad film"] * 8,
        "dev": ["good", "bad"],
        "test": ["fine film", "odd zzz"],
    }.items():
        rows = [json.dumps({"text": text, "label": number % 2}) for number, text in enumerate(texts)]
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / f"{name}.jsonl").write_text("\n".join(rows))
    vectors = tmp_path / "vectors.txt"
    words = {"good": 1, "bad": -1, "film": 0, "fine": 0.9, "odd": -0.9}
    vectors.write_text("".join(f"{word} {x} {x} 0.5\n" for word, x in words.items()))
    options = SMALL | {
        "runs": tmp_path / "runs",
        "vectors": str(vectors),
        "encoder": "average",
        "train_embeddings": False,
    }
    closed = heedful.train(str(tmp_path / "data"), **options)
    opened = heedful.train(str(tmp_path / "data"), **options, open_vocabulary=True)
    assert closed.vocabulary.words == ["<pad>", "<unk>", "film", "bad", "good"]
    assert opened.vocabulary.words == [*closed.vocabulary.words, "fine", "odd"]  # no vector holds zzz
    assert opened.run != closed.run
    table = _weights(opened.run)["embedding.weight"]
    assert table[5].tolist() == pytest.approx([0.9, 0.9, 0.5])
    again = heedful.load(opened.run)
    assert again.vocabulary.encode(["odd zzz fine"]).ids.tolist() == [6, 1, 5]
    with pytest.raises(BadInput, match="give --vectors"):
        heedful.train(str(tmp_path / "data"), runs=tmp_path / "runs", open_vocabulary=True)


def test_another_seed_is_another_run(reviews, tmp_path):
    zero = heedful.train(str(reviews), runs=tmp_path, **SMALL, seed=0)
    one = heedful.train(str(reviews), runs=tmp_path, **SMALL, seed=1)
    assert zero.run != one.run
    assert not torch.equal(
        _weights(zero.run)["decoder.output.weight"], _weights(one.run)["decoder.output.weight"]
    )
    assert len(list_runs(tmp_path)) == 2


def test_a_changed_file_is_another_run(reviews, tmp_path):
    copy = tmp_path / "reviews.csv"
    copy.write_text(reviews.read_text())
    first = heedful.train(str(copy), runs=tmp_path / "runs", **SMALL)
    assert heedful.train(str(reviews), runs=tmp_path / "runs", **SMALL).run == first.run
    copy.write_text(reviews.read_text().replace("superb", "brilliant", 1))
    assert heedful.train(str(copy), runs=tmp_path / "runs", **SMALL).run != first.run


def test_a_complete_run_is_loaded_not_trained(reviews, tmp_path):
    first = heedful.train(str(reviews), runs=tmp_path, **SMALL)
    written = {path: path.stat().st_mtime_ns for path in first.run.iterdir()}
    second = heedful.train(str(reviews), runs=tmp_path, **SMALL)
    assert {path: path.stat().st_mtime_ns for path in first.run.iterdir()} == written
    assert second.predict(["a superb film"]) == first.predict(["a superb film"])


@pytest.mark.parametrize(("factor", "epochs"), [(1, 3), (3, 7)])
def test_an_objective_may_wait_longer(reviews, tmp_path, monkeypatch, factor, epochs):
    monkeypatch.setattr(Vanilla, "patience_factor", factor)
    monkeypatch.setattr(
        Vanilla, "evaluate", lambda self, split, instances: {"f1": 0.5}
    )  # the first stays the best
    model = heedful.train(str(reviews), runs=tmp_path, **SMALL | {"epochs": 60, "patience": 2})
    assert len(Run(model.run).metrics()["history"]) == epochs


def test_an_objective_says_how_many_epochs_it_takes_where_the_user_does_not(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(Vanilla, "max_epochs", 3)
    unsaid = {key: value for key, value in SMALL.items() if key != "epochs"}
    model = heedful.train(str(reviews), runs=tmp_path, **unsaid)
    assert len(Run(model.run).metrics()["history"]) == 3
    assert heedful.train(str(reviews), runs=tmp_path, **unsaid | {"epochs": 3}).run == model.run
    longer = heedful.train(str(reviews), runs=tmp_path, **unsaid | {"epochs": 4})
    assert len(Run(longer.run).metrics()["history"]) == 4


def test_the_best_epoch_on_dev_is_kept_and_patience_ends_training(reviews, tmp_path):
    options = SMALL | {"epochs": 60, "patience": 2, "learning_rate": 0.05}
    model = heedful.train(str(reviews), runs=tmp_path, **options)
    metrics = Run(model.run).metrics()
    scores = [record["dev"]["f1"] for record in metrics["history"]]
    assert metrics["epoch"] == int(np.argmax(scores)) + 1
    assert metrics["dev"] == metrics["history"][metrics["epoch"] - 1]["dev"]
    assert len(scores) == metrics["epoch"] + 2 < 60


def test_a_loss_that_is_no_number_is_said(reviews, tmp_path):
    with pytest.raises(Diverged, match="loss is not a number in epoch 1: try a smaller --learning-rate"):
        heedful.train(str(reviews), runs=tmp_path, **SMALL | {"temperature": 1e-300, "clip": None})


def test_presets_fill_in_what_is_not_given(tmp_path, reviews):
    model = heedful.train(
        str(reviews),
        runs=tmp_path,
        preset="attefa",
        encoder="average",
        hidden=7,
        epochs=1,
        embedding_size=5,
        progress=False,
    )
    config = yaml.safe_load((model.run / "config.yaml").read_text())
    assert (config["activation"], config["hidden"], config["metric"]) == ("tanh", 7, "roc_auc")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": "bilstn"}, "no encoder named 'bilstn': did you mean bilstm"),
        ({"encoder": "minilm-l6"}, "no encoder named 'minilm-l6': did you mean hf:minilm-l6"),
        ({"objective": "vanila"}, "no objective named 'vanila': did you mean vanilla"),
        ({"preset": "jane-wallace"}, "no preset named 'jane-wallace': did you mean jain-wallace"),
        ({"hiden": 3}, "no option 'hiden': did you mean hidden"),
        ({"heads": 0}, "Option heads must be at least 1, not 0"),
        ({"pooling": "cls"}, "cls needs an encoder with a"),
        ({"min_words": 99}, "No text of train has 99 words"),
        ({"vectors": "glove-840b-300"}, "did you mean glove-840b-300d"),
    ],
)
def test_bad_options_are_said_before_anything_is_written(reviews, tmp_path, options, message):
    with pytest.raises(BadInput, match=message):
        heedful.train(str(reviews), runs=tmp_path / "runs", **SMALL | options)
    assert not (tmp_path / "runs").exists()


def test_class_weights_are_those_of_the_definition():
    labels = torch.tensor([0, 0, 0, 1])
    assert rarity_weights(labels, 2).tolist() == [1.0, 3.0]
    assert rarity_weights(torch.tensor([0, 0, 1, 2]), 3).tolist() == pytest.approx([2 / 3, 4 / 3, 4 / 3])


def test_one_logit_and_two_logits_have_the_same_loss(toy_classifier, toy_split):
    """The sigmoid of one logit is the softmax of that logit against zero."""
    classifier = toy_classifier()
    batch = classifier.instances(toy_split()).batch(np.arange(6))
    objective = Vanilla(classifier.model)
    logits = classifier.model(batch).logits
    two = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    torch.testing.assert_close(objective.loss(batch), Objective(classifier.model).cross_entropy(two, batch))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"unknown": 0.5},
            "The objective vanilla does not read --unknown: leave it out, or use one that does .stability_only, steady.",
        ),
        ({"objective": "seat", "noise": "adversarial"}, "seat does not read --noise"),
        ({"objective": "word_at", "top_k": 3}, "word_at does not read --top-k"),
    ],
)
def test_an_option_that_the_objective_does_not_read_is_refused(
    given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        resolve({"dataset": "mock_1", **given})


def test_an_option_at_its_default_says_nothing() -> None:
    usual = {name: field.default for name, field in complete(ObjectiveOptions).model_fields.items()}
    assert resolve({"dataset": "mock_1", **usual}) == resolve({"dataset": "mock_1"})


@pytest.mark.parametrize("name", list(OBJECTIVES))
def test_an_objective_reads_what_it_has_values_for(name: str) -> None:
    """Else a value would change what is trained and not which run it is."""
    objective = OBJECTIVES.get(name)
    for encoder in ("bilstm", "hf:anything"):
        assert (
            set(objective.defaults_for(encoder))
            <= set(objective.options)
            <= set(complete(ObjectiveOptions).model_fields)
        )


def test_steady_holds_a_transformers_heatmap_more_firmly_unless_told_otherwise() -> None:
    given = {"dataset": "mock_1", "objective": "steady"}
    assert resolve(given).overlap == resolve({**given, "encoder": "gru"}).overlap == 2
    assert resolve({**given, "encoder": "hf:minilm-l6"}).overlap == 600
    assert resolve({**given, "encoder": "hf:minilm-l6", "overlap": 5}).overlap == 5
    assert resolve({**given, "objective": "stability_only", "encoder": "hf:minilm-l6"}).overlap is None


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "toy-bilstm-vanilla-seed0-72a59e11"),
        ({"objective": "seat"}, "toy-bilstm-seat-seed0-3e78acdd"),
        ({"objective": "consistency"}, "toy-bilstm-consistency-seed0-ba86bf26"),
        ({"objective": "stability_only"}, "toy-bilstm-consistency-seed0-ba86bf26"),
        (
            {"objective": "stability_only", "stability": 5.0, "encoder": "cnn"},
            "toy-cnn-consistency-seed0-325f5c83",
        ),
    ],
)
def test_runs_of_earlier_versions_are_found(given: dict[str, object], name: str) -> None:
    """Neither new options nor a new name of an objective may change which run a config describes."""
    corpus = Corpus("toy", "classification", ("a", "b"), {"train": Split(["x"], np.array([0]))})
    assert run_name(resolve({"dataset": "toy", **given}), corpus, "f1") == name


def test_an_objective_is_known_by_the_name_it_once_had() -> None:
    old, new = (resolve({"dataset": "toy", "objective": name}) for name in ("consistency", "stability_only"))
    assert old == new
    assert old.objective == "stability_only"
