"""Models made for show: what is trained, what it costs, and how the frontier is drawn."""

from __future__ import annotations

import pytest

import heedful
from heedful.cli.app import app
from heedful.errors import BadInput
from heedful.panel.cost_frontier import page, points, share, write_figure
from heedful.panel.for_show import train_for_show
from heedful.runs import Run

TINY = {"hidden": 4, "embedding_size": 6, "epochs": 1}


@pytest.fixture
def reviews(tmp_path):
    """Short texts in which one word decides."""
    words = ("a", "film", "plot", "so", "it", "was")
    lines = ["text,label"]
    for n in range(160):
        fill = [words[(n * 7 + k) % 6] for k in range(4)]
        fill.insert(n % 5, "fine" if n % 2 else "dull")
        lines.append(f"{' '.join(fill)} {n},{'good' if n % 2 else 'bad'}")
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def answers(monkeypatch, by_encoder):
    """Let dev texts give an answer that is known."""
    monkeypatch.setattr(
        "heedful.panel.for_show._on_dev", lambda model, watcher: by_encoder[model.model.architecture.encoder]
    )


def test_where_an_ordinary_model_does_not_pass_it_teaches_one_for_show_which_is_audited_whole(
    reviews, tmp_path, monkeypatch
):
    answers(monkeypatch, {"bilstm": "do not show", "pointer": "show"})
    made = heedful.train_for_show(reviews, runs=tmp_path / "runs", progress=False, **TINY)
    config = Run(made.classifier.run).config()
    assert (config["encoder"], config["objective"]) == ("pointer", "erasure")
    assert config["base"] == str(made.ordinary.run)
    assert Run(made.ordinary.run).config()["encoder"] == "bilstm"
    assert (
        not made.result.verdict.partial and str(made.result.verdict) == "not enough evidence"
    )  # sixteen test texts
    ours, theirs = (Run(run).metrics()["test"]["f1"] for run in (made.classifier.run, made.ordinary.run))
    assert f"{ours:.3f}" in made.cost() and f"{100 * (ours - theirs):+.1f} points" in made.cost()


def test_an_ordinary_model_that_passes_on_dev_is_taken_and_costs_nothing(reviews, tmp_path, monkeypatch):
    answers(monkeypatch, {"bilstm": "show"})
    made = train_for_show({"dataset": str(reviews), **TINY}, runs=tmp_path / "runs")
    assert made.classifier.run == made.ordinary.run and "nothing was given up" in made.cost()
    assert [path.name.split("-")[1] for path in (tmp_path / "runs").iterdir()] == ["bilstm"]


def test_a_model_for_show_that_does_no_better_is_not_taken(reviews, tmp_path, monkeypatch):
    answers(monkeypatch, {"bilstm": "show with caveat", "pointer": "do not show"})
    made = train_for_show({"dataset": str(reviews), **TINY}, runs=tmp_path / "runs")
    assert made.classifier.run == made.ordinary.run


@pytest.mark.parametrize(
    ("answer", "cost", "taken"),
    [
        ("show with caveat", 0.03, "bilstm"),
        ("show with caveat", 0.01, "pointer"),
        ("do not show", 0.03, "pointer"),
    ],
)
def test_what_may_be_shown_with_a_caveat_is_not_given_up_for_one_that_costs_much(
    reviews, tmp_path, monkeypatch, answer, cost, taken
):
    answers(monkeypatch, {"bilstm": answer, "pointer": "show"})

    def metrics(classifier):
        figure = 0.8 - cost * (classifier.model.architecture.encoder == "pointer")
        return {"dev": {"f1": figure}, "test": {"f1": figure}}

    monkeypatch.setattr("heedful.panel.for_show._metrics", metrics)
    made = train_for_show({"dataset": str(reviews), **TINY}, runs=tmp_path / "runs")
    assert made.classifier.model.architecture.encoder == taken
    dear = taken == "pointer" and cost > 0.01
    assert (str(made.ordinary.run) in made.cost()) == dear


def test_what_is_chosen_is_chosen_on_dev(reviews, tmp_path):
    made = train_for_show({"dataset": str(reviews), **TINY}, runs=tmp_path / "runs")
    # One audit is kept, of the model that was chosen, and it is of test texts.
    assert list((tmp_path / "runs").glob("*/audits/*")) == [made.result.folder]
    assert Run(made.result.folder).config()["split"] == "test"


@pytest.mark.parametrize("option", [{"encoder": "cnn"}, {"objective": "seat"}])
def test_what_for_show_chooses_itself_is_refused(reviews, tmp_path, option):
    with pytest.raises(BadInput, match="--for-show chooses the"):
        train_for_show({"dataset": str(reviews), **option}, runs=tmp_path)


def test_the_command_has_the_flag():
    assert "for_show" in {
        p.name
        for command in app.registered_commands
        if command.callback and command.callback.__name__ == "train"
        for p in _parameters(command)
    }


def _parameters(command):
    import inspect

    return inspect.signature(command.callback).parameters.values()


def model(method, seed, test, comprehensive, sufficient, corpus="mr"):
    numbers = {
        name: {"estimate": value}
        for name, value in (("comprehensiveness", comprehensive), ("sufficiency", sufficient))
    }
    return {
        "corpus": corpus,
        "method": method,
        "seed": seed,
        "test": test,
        "dev": test,
        "verdict": "show",
        "top_loo": 0.5,
        "texts": 9,
        "encoder": "pointer" if seed else "bilstm",
        **numbers,
    }


MODELS = [
    model("vanilla", 0, 0.80, 0.7, 0.6),
    model("for show", 0, 0.79, 0.9, 0.95),
    model("vanilla", 1, 0.82, 0.5, 0.7),
    model("for show", 1, 0.83, 0.8, 0.7),
    model("average", 2, 0.70, 0.9, 0.9),
]


def test_points_stand_beside_the_ordinary_model_of_their_seed():
    assert share(MODELS[3]) == 0.7
    found = {(p["method"], round(p["cost"], 6)) for p in points(MODELS)}
    assert found == {("vanilla", 0.0), ("for show", -1.0), ("for show", 1.0)}  # seed 2 has no ordinary model


def test_the_page_and_the_figure(tmp_path):
    assert "| mr | for show (bilstm, pointer) | 2 | 0.810 | -1.0, +1.0 | 0.85 | 0.82 |" in page(MODELS)
    assert "- imdb: nothing was measured" in page(MODELS)
    write_figure(MODELS, tmp_path / "frontier.svg")
    drawn = (tmp_path / "frontier.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg") and "for show" in drawn and "mr" in drawn
