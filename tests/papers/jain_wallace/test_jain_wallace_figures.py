"""Table 1 and Figures 1 to 5 of Jain & Wallace: by hand, and from a small model end to end."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

import heedful
from heedful.measures.divergence import jsd
from heedful.output.charts import as_svg
from heedful.papers.claims import judge
from heedful.papers.corpus_counts import CORPUS, TEXTS, VOCABULARY, WORDS, of_class
from heedful.papers.jain_wallace import review
from heedful.papers.jain_wallace.recipe import JAIN_WALLACE
from heedful.papers.kept_runs import join_runs, keep_runs, kept_runs
from heedful.papers.measured_numbers import MeasuredNumber, Numbers
from heedful.papers.outcome import COUNTED, make_page
from heedful.papers.paper_page import Page, save_page
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results

WORDS_OF_FILMS = (("dull", "slow", "grim", "waste"), ("great", "warm", "funny", "worth"))


def rows_of(page: Page, section: str, table: int = 0) -> list[list[str]]:
    (found,) = [part for part in page.sections if part.title.startswith(section)]
    return [list(row) for row in found.tables[table].rows]


def page_of(results: Results, **asked: str) -> Page:
    return make_page(
        JAIN_WALLACE, results, [JAIN_WALLACE.find(kind, number) for kind, number in asked.items()]
    )


def word(claim: str, *runs: MeasuredRun) -> str:
    (found,) = [each for each in JAIN_WALLACE.claims if each.id == claim]
    return judge(found, Results(runs)).word


def agreement(measured, model="bilstm", **columns):
    size = len(next(iter(columns.values())))
    usual = {name: [0.0] * size for name in ("tau_g", "tau_loo", "tau_g_loo")}
    significant = {f"{name}_significant": [1.0] * size for name in usual}
    return measured(model, **(usual | columns | significant))


def test_differences_are_taken_text_by_text(measured):
    bilstm = agreement(
        measured, tau_loo=[0.1, 0.2, 0.3, math.nan], tau_g=[0.2, 0.2, 0.2, 0.2], tau_g_loo=[0.6] * 4
    )
    average = agreement(measured, "average", tau_loo=[0.5, 0.5, 0.9, 0.9])
    results = Results((bilstm, average))
    third, fourth, fifth = (rows_of(page_of(results, figure=n), f"Figure {n}")[0] for n in ("3", "4", "5"))
    assert third[:2] == ["sst2", "all"]
    assert third[2].startswith("0.40 (") and third[3:] == ["0.40 [0.35–0.45]", "100 %", "3"]
    assert fourth[2] == "0.40 (0.40 to 0.40)" and fourth[-1] == "4"
    assert fifth[2].startswith("0.43 (") and fifth[-1] == "3"  # 0.4, 0.3, 0.6; the fourth has no τ
    negative = rows_of(page_of(results, figure="5"), "Figure 5")[1]
    assert negative[1] == "negative" and negative[2].startswith(
        "0.50 ("
    )  # texts 1 and 3 by what the BiLSTM says


def test_figure_2_counts_every_text_once(measured):
    run = agreement(measured, tau_g=[-1.0, -0.3, 0.0, 0.26, 0.5, 1.0, math.nan, 0.8])
    (every, *_) = rows_of(page_of(Results((run,)), figure="2"), "Figure 2")
    assert every[3] == "0.26 [-0.15–0.65]"
    assert every[4:11] == ["14 %", "14 %", "0 %", "14 %", "14 %", "14 %", "29 %"] and every[-1] == "7"


@pytest.mark.parametrize("number", ["2", "3", "4", "5", "6", "7", "8"])
def test_every_figure_is_drawn(measured, tmp_path: Path, number):
    values = np.linspace(0.05, 0.95, 40)
    frames = {}
    for audit, columns in {
        "agreement": (
            "tau_g",
            "tau_loo",
            "tau_g_loo",
            *(f"tau_{n}_significant" for n in ("g", "loo", "g_loo")),
        ),
        "permutation": ("permutation_change", "largest_weight", "indifferent"),
        "counterfactual": ("eps_max_jsd", "largest_weight", "replaceable"),
    }.items():
        more = {"exact": [True] * 40} if audit == "counterfactual" else {}
        frames |= measured(audit=audit, **dict.fromkeys(columns, values), **more).frames
    runs = [replace(measured(model, x=values), frames=frames) for model in ("bilstm", "average")]
    asked = JAIN_WALLACE.find("figure", number)
    save_page(make_page(JAIN_WALLACE, Results(tuple(runs)), [asked]), tmp_path / "page.md")
    (svg,) = (tmp_path / "page-figures").glob("*.svg")
    text = svg.read_text(encoding="utf-8")
    assert f"(page-figures/{svg.name})" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert ("average" in text or number in "345") and text.count("<path") > 8
    assert not any(picture.spec is None for picture in asked.pictures(Results(tuple(runs))))
    assert asked.pictures(Results()) in ((), [])


def counts(dataset: str) -> Numbers:
    head = (dataset, "", CORPUS)
    rows = [MeasuredNumber(*head, VOCABULARY, 1234.0)]
    for split, (zero, one) in {"train": (3000, 3300), "dev": (10, 20), "test": (860, 865)}.items():
        rows.append(MeasuredNumber(*head, TEXTS, float(zero + one), group=split))
        rows += [
            MeasuredNumber(*head, of_class(n), float(c), group=split) for n, c in (("no", zero), ("yes", one))
        ]
        rows.append(MeasuredNumber(*head, WORDS, 18.4, group=split))
    return Numbers(tuple(rows))


def test_table_1_sets_corpora_and_performance_beside_the_paper(measured):
    runs = tuple(
        replace(
            measured(model, "sharpness", seed=seed, flat=[0.0] * 4),
            metrics={**measured(x=[1.0]).metrics, "test": {"f1": f1}},
        )
        for model, scores in {"bilstm": (0.8, 0.82), "cnn": (0.7,)}.items()
        for seed, f1 in enumerate(scores)
    )
    page = page_of(Results(runs, corpora=counts("sst2")), table="1")
    (sizes,) = rows_of(page, "Table 1")
    assert sizes == [
        "sst2",
        "1,234",
        "16,175",
        "18",
        "19",
        "3,000 / 3,300",
        "3,034 / 3,321",
        "860 / 865",
        "863 / 862",
    ]
    (reached,) = rows_of(page, "Table 1", 1)
    assert reached == ["sst2", "f1", "0.810 (0.800, 0.820)", "–", "0.700", "0.81"]


def test_a_page_about_corpora_alone_says_nothing_of_claims():
    page = page_of(Results(corpora=counts("sst2")), table="1")
    assert page.lead == [COUNTED]
    assert [section.title for section in page.sections] == [
        "Table 1: Which corpora, and how well do models do?",
        "What differs from the paper",
    ]


def performing(measured, model, dataset, *scores):
    name = "f1" if dataset == "sst2" else "accuracy"
    sizes = {"train": 10, "dev": 10, "test": 500}
    return [
        replace(
            measured(model, "sharpness", dataset=dataset, seed=seed, flat=[0.0]),
            metrics={"test": {name: score}, "sizes": sizes},
        )
        for seed, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("claim", "dataset", "base", "other", "answer"),
    [
        ("jw-13", "sst2", (0.80, 0.81, 0.82), (0.79, 0.80, 0.82), "holds"),
        ("jw-13", "sst2", (0.80, 0.81, 0.82), (0.70, 0.71, 0.73), "does not hold"),
        ("jw-13", "sst2", (0.80, 0.81), (0.79, 0.80), "too few seeds"),
        ("jw-14", "babi_1", (0.99, 0.98, 1.0), (0.5, 0.52, 0.51), "holds"),
        ("jw-14", "babi_1", (0.99, 0.98, 1.0), (0.99, 0.97, 0.99), "does not hold"),
    ],
)
def test_claims_about_performance_are_decided_over_seeds(measured, claim, dataset, base, other, answer):
    runs = performing(measured, "bilstm", dataset, *base) + performing(measured, "average", dataset, *other)
    assert word(claim, *runs) == answer


@pytest.mark.parametrize(("value", "answer"), [(0.3, "holds"), (0.7, "does not hold")])
def test_a_claim_about_most_texts_counts_texts_that_have_a_tau(measured, value, answer):
    run = agreement(measured, tau_g=[value] * 40 + [math.nan] * 100)
    assert word("jw-11", run) == answer
    few = agreement(measured, tau_g=[value] * 20 + [math.nan] * 100)
    assert word("jw-11", few) == "too few texts"


@pytest.mark.parametrize(("above", "answer"), [(0.3, "holds"), (0.1, "does not hold")])
def test_a_claim_about_a_difference_asks_for_its_size(measured, above, answer):
    run = agreement(measured, tau_g_loo=[0.2 + above] * 40, tau_loo=[0.2] * 40)
    assert word("jw-12", run) == answer


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    lines = ["text,label"]
    for i in range(80):
        first, second = WORDS_OF_FILMS[i % 2][i % 4], WORDS_OF_FILMS[i % 2][i // 4 % 4]
        lines.append(f"the movie {i} was {first} and {second},{('negative', 'positive')[i % 2]}")
    (folder / "films.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    classifier = heedful.train(
        str(folder / "films.csv"),
        encoder="bilstm",
        hidden=4,
        embedding_size=8,
        epochs=2,
        runs=folder / "runs",
    )
    assert classifier.run is not None
    return Path(classifier.run)


def test_figure_1_shows_the_review_of_the_paper_with_both_heatmaps(trained, measured, tmp_path: Path):
    run = replace(measured(audit="sharpness", flat=[0.0]), folder=trained, dataset="imdb")
    frame = review.explained(run)
    assert frame is not None
    assert " ".join(frame["word"]) == published("jain_wallace")["figure_1"]["text"]
    own, other = (
        torch.tensor(frame[name].to_numpy().copy(), dtype=torch.float64)[None] for name in ("weight", "other")
    )
    assert own.sum().item() == pytest.approx(1, abs=1e-5) and other.sum().item() == pytest.approx(1, abs=1e-5)
    assert jsd(own, other).item() == pytest.approx(frame["eps_max_jsd"][0], abs=1e-4)
    assert abs(frame["probability"][0] - frame["counterfactual_probability"][0]) <= 0.0101  # ε
    page = page_of(Results((run,)), figure="1")
    ours, theirs = rows_of(page, "Figure 1")
    assert ours[0] == "imdb" and theirs[:2] == ["the paper", "negative"] and theirs[5] == "0.290"
    (picture,) = JAIN_WALLACE.find("figure", "1").pictures(Results((run,)))
    svg = as_svg(picture.spec)
    assert svg.count(">waste<") == 2 and svg.count(">minutes<") == 2  # once in each heatmap

    keep_runs(JAIN_WALLACE, Results((run,)), tmp_path)
    again = join_runs(JAIN_WALLACE, Results(), kept_runs(JAIN_WALLACE, tmp_path))
    gone = Results(tuple(replace(each, folder=Path("gone")) for each in again.runs))
    assert rows_of(page_of(gone, figure="1"), "Figure 1") == [ours, theirs]


def test_figure_1_is_about_the_first_model_of_films_alone(trained, measured):
    run = replace(measured(audit="sharpness", flat=[0.0]), folder=trained)
    for other in (replace(run, dataset="snli"), replace(run, model="cnn"), replace(run, seed=1)):
        assert review.besides(other) == {}
    assert review.besides(replace(run, folder=Path("gone"))) == {}
    assert set(review.besides(run)) == {review.REVIEW}
    assert isinstance(review.besides(run)[review.REVIEW], pl.DataFrame)
