"""Recipes resolve to what the papers' models need, and set their tables beside the published numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from heedful.errors import BadInput
from heedful.papers.jain_wallace.recipe import JAIN_WALLACE
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import Page, markdown
from heedful.papers.recipe import RECIPES, published
from heedful.papers.results import Missing, Results
from heedful.papers.serrano_smith.recipe import SERRANO_SMITH
from heedful.training.train import resolve

GLOVE = "glove-840b-300d"


def test_published_numbers_are_those_of_the_papers():
    jain_wallace, serrano_smith = published("jain_wallace"), published("serrano_smith")
    assert jain_wallace["table_2"]["sst2"]["0"]["bilstm"]["tau_g"] == [0.40, 0.21, 0.59]
    assert jain_wallace["table_2"]["20news_sports"]["1"]["average"]["tau_g"] == [0.66, 0.09, 1.0]
    assert jain_wallace["table_2"]["babi_1"]["all"]["bilstm"]["tau_loo"] == [0.23, 0.18, 0.45]
    assert jain_wallace["corpora"]["sst2"] == {"train": 6355, "test": 1725, "length": 19, "performance": 0.81}
    assert serrano_smith["flips"]["attention"]["HANrnn"]["IMDB"] == [2.2, 12.2, 1.4, 84.2]
    assert serrano_smith["corpora"]["Yelp"]["accuracy"]["FLANnoenc"] == 58.2
    assert set(jain_wallace["table_2"]) == set(jain_wallace["corpora"]) == set(JAIN_WALLACE.datasets)


def test_every_published_row_of_flips_is_a_whole():
    for models in published("serrano_smith")["flips"].values():
        for corpora in models.values():
            assert all(sum(row) == pytest.approx(100, abs=0.15) for row in corpora.values())


@pytest.mark.parametrize(
    ("recipe", "dataset", "encoder", "model", "given"),
    [
        ("jain-wallace", "sst2", "cnn", "cnn", {"encoder": "cnn", "vectors": GLOVE}),
        ("jain-wallace", "babi_1", "bilstm", "bilstm", {"encoder": "bilstm"}),
        (
            "jain-wallace",
            "imdb",
            "average",
            "average",
            {"encoder": "average", "vectors": GLOVE, "limit": "4000", "max_length": "250"},
        ),
        (
            "serrano-smith",
            "ag_news",
            "rnn",
            "HANrnn",
            {
                "encoder": "bigru",
                "hierarchical": True,
                "vectors": GLOVE,
                "epochs": "15",
                "learning_rate": "0.001",
                "min_count": "2",
                "limit": "8000",
            },
        ),
        (
            "serrano-smith",
            "20news",
            "noenc",
            "FLANnoenc",
            {
                "encoder": "none",
                "vectors": GLOVE,
                "epochs": "15",
                "learning_rate": "0.001",
                "min_count": "2",
                "limit": "4000",
                "max_length": "250",
            },
        ),
    ],
)
def test_a_case_is_the_run_that_the_same_flags_of_train_make(recipe, dataset, encoder, model, given):
    cases = RECIPES.get(recipe).cases(datasets=[dataset], encoders=[encoder], seeds=2)
    (case,) = [case for case in cases if (case.model, case.seed) == (model, 1)]
    assert case.config == resolve({"dataset": dataset, "preset": recipe, "seed": "1", **given})


def test_cases_cover_what_is_asked():
    assert len(JAIN_WALLACE.cases(seeds=3)) == 6 * 3 * 3
    assert len(SERRANO_SMITH.cases()) == 4 * 6
    figure_6 = SERRANO_SMITH.find("figure", "6")
    assert {case.model for case in SERRANO_SMITH.cases([figure_6])} == {"HANnoenc", "FLANnoenc"}
    assert {case.texts for case in JAIN_WALLACE.cases(datasets=["imdb"])} == {500}
    assert {case.texts for case in JAIN_WALLACE.cases(datasets=["imdb"], texts=7)} == {7}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: RECIPES.get("jain-walace"), "did you mean jain-wallace?"),
        (
            lambda: JAIN_WALLACE.find("table", "3"),
            "There is no table of jain-wallace named '3': choose one of 1, 2.",
        ),
        (lambda: JAIN_WALLACE.find("figure", "9"), "choose one of 1, 2, 3, 4, 5, 6, 7, 8."),
        (lambda: JAIN_WALLACE.cases(datasets=["sst"]), "did you mean sst2?"),
        (lambda: JAIN_WALLACE.cases(datasets=["trec"]), "There is no dataset in jain-wallace named 'trec'"),
        (lambda: JAIN_WALLACE.cases(encoders=["bilstn"]), "did you mean bilstm?"),
        (
            lambda: SERRANO_SMITH.cases([SERRANO_SMITH.find("figure", "6")], encoders=["rnn"]),
            "about the encoders noenc",
        ),
    ],
)
def test_what_a_recipe_does_not_know_is_refused(ask, said):
    with pytest.raises(BadInput) as refused:
        ask()
    assert said in str(refused.value)


def rows_of(page: Page, section: str, table: int = 0) -> list[list[str]]:
    (found,) = [part for part in page.sections if part.title.startswith(section)]
    return [list(row) for row in found.tables[table].rows]


def test_table_2_of_jain_wallace_sets_ours_beside_theirs(measured):
    # Texts alternate between the classes: 0.2 and 0.4 are negative, nan and 0.8 positive.
    taus = {"tau_g": [0.2, math.nan, 0.4, 0.8], "tau_loo": [0.1] * 4, "tau_g_loo": [0.5] * 4}
    significant = {f"{name}_significant": [1.0, math.nan, 0.0, 1.0] for name in taus}
    results = Results((measured(**taus, **significant), measured(seed=1, **taus, **significant)))
    page = make_page(JAIN_WALLACE, results, [JAIN_WALLACE.find("table", "2")])
    every, negative, positive = rows_of(page, "Table 2")
    assert every == ["sst2", "all", "bilstm", "0.47 ± 0.27", "0.67", "0.47–0.47", "–", "–"]
    assert negative[1:] == ["negative", "bilstm", "0.30 ± 0.12", "0.50", "0.30–0.30", "0.40 ± 0.21", "0.59"]
    assert positive[3:] == ["0.80 ± 0.00", "1.00", "0.80–0.80", "0.38 ± 0.19", "0.58"]
    words = {row[0]: row[2] for row in rows_of(page, "Claims")}
    assert words["jw-1"] == "too few texts"  # there are four
    assert words["jw-8"] == "not measured"
    assert "heedful reproduce jain-wallace --figure 7 measures it" in markdown(page)


def test_figures_of_jain_wallace_are_by_bins(measured):
    weights = [0.1, 0.3, 0.6, 1.0]
    counterfactual = measured(
        audit="counterfactual",
        largest_weight=weights,
        eps_max_jsd=[0.05, 0.65, 0.69, 0.69315],
        replaceable=[0.0, 1.0, 1.0, 1.0],
        exact=[True] * 4,
    )
    page = make_page(
        JAIN_WALLACE, Results((counterfactual,)), [JAIN_WALLACE.find("figure", n) for n in ("7", "8")]
    )
    assert rows_of(page, "Figure 7")[0][3:] == [
        "exact",
        "0.52",
        "25 %",
        "0 %",
        "0 %",
        "0 %",
        "0 %",
        "0 %",
        "75 %",
        "4",
    ]
    by_weight = rows_of(page, "Figure 8")
    assert by_weight[0][3:] == [f"{x} [{x}–{x}] 1" for x in ("0.05", "0.65", "0.69", "0.69")]
    assert by_weight[1][3:] == ["0.05 [0.05–0.05] 1", "–", "0.69 [0.69–0.69] 1", "–"]


def erased(measured, model, attention, **others):
    fractions = {"attention": attention, "gradient": [0.3] * 40, "product": [0.2] * 40, "random": [0.9] * 40}
    columns = {f"{name}_fraction": values for name, values in (fractions | others).items()}
    columns |= {f"{name}_mass": [0.5] * 40 for name in (*fractions, "minimum")}
    return measured(
        model, "flip_set", dataset="ag_news", labels="abcd", minimum_fraction=[0.1] * 40, **columns
    )


def test_figures_of_serrano_smith_leave_out_what_never_flips(measured):
    runs = (
        erased(measured, "FLANrnn", [0.8] * 39 + [math.nan]),
        erased(measured, "FLANconv", [0.5] * 40),
        erased(measured, "FLANnoenc", [0.2] * 40),
    )
    page = make_page(SERRANO_SMITH, Results(runs), SERRANO_SMITH.experiments)
    first = rows_of(page, "Figure 5")[0]
    assert first[:3] == ["ag_news", "FLANrnn", "0.80 [0.80–0.80]"]
    assert first[-2:] == ["39", "1"]
    assert rows_of(page, "Figure 5", 1)[0] == ["ag_news", "FLANrnn", "100 %", "0 %"]
    assert rows_of(page, "Figure 6", 1) == [["ag_news", "FLANnoenc", "0.0 %", "0.0 %", "0.0 %", "100.0 %"]]
    assert len(rows_of(page, "Figure 10")) == len(rows_of(page, "Figure 11")) == 3
    words = {row[0]: row[2] for row in rows_of(page, "Claims")}
    holding = {name for name, word in words.items() if word == "holds"}
    assert holding == {"ss-5", "ss-6", "ss-7", "ss-8", "ss-9", "ss-10"}


def test_table_2_of_serrano_smith_counts_what_flips(measured):
    columns = {}
    for name in ("attention", "gradient", "product"):
        columns[f"{name}_flips"] = [1.0, 1.0, 1.0, 0.0]
        columns[f"{name}_other_flips"] = [1.0, 0.0, 0.0, 0.0]
    columns |= {"attention_delta_js": [0.1, 0.1, -0.1, 0.1], "attention_delta_weight": [0.5] * 4}
    run = measured("HANrnn", "single_erasure", dataset="imdb_rating", labels="abcd", **columns)
    page = make_page(SERRANO_SMITH, Results((run,)), [SERRANO_SMITH.find("table", "2")])
    ours, theirs, *others = rows_of(page, "Table 2")
    assert ours == ["imdb_rating (ours)", "HANrnn", "25.0 %", "50.0 %", "0.0 %", "25.0 %", "4"]
    assert theirs == ["IMDB (paper)", "HANrnn", "2.2 %", "12.2 %", "1.4 %", "84.2 %", "13,548"]
    assert [row[0] for row in others] == ["Yahoo (paper)", "Amazon (paper)", "Yelp (paper)"]


def test_a_page_says_what_differs_and_what_is_missing(measured):
    results = Results(
        (measured(audit="sharpness", flat=[0.0]),), (Missing("imdb cnn seed 0", "not trained"),)
    )
    text = markdown(make_page(JAIN_WALLACE, results, []))
    assert "33,860 words of GloVe" in text
    assert "- imdb: trained on a sample" not in text  # imdb was not measured
    assert "- sst2: train is a sample.\n- sst2: A note.\n" in text
    assert "- imdb cnn seed 0: not trained\n" in text
    assert "| sst2 | bilstm | 1 | f1 | 0.800 | 0.81 | 100 | 6,355 | 1 of 200 | 1,725 |" in text


def test_notes_that_differ_in_numbers_are_one_sentence(measured):
    runs = [
        replace(
            measured(audit="sharpness", flat=[0.0]),
            notes=(note, "glove-840b-300d covers 10084 of 14772 words."),
        )
        for note in (
            "For 12 texts of 1,821 nothing changed up to 0.05.",
            "For 3 texts of 1,821 nothing changed up to 0.05.",
        )
    ]
    text = markdown(make_page(JAIN_WALLACE, Results(tuple(runs)), []))
    assert "For 3 to 12 texts of 1,821 nothing changed up to 0.05." in text
    assert text.count("nothing changed") == 1 and "glove-840b-300d covers 10,084 of 14,772 words." in text


def test_figures_9_12_and_13_count_by_each_ranking(measured):
    flips = {
        "attention": [1.0, 0.0, 0.0, 0.0],
        "gradient": [1.0, 1.0, 0.0, 0.0],
        "product": [1.0, 1.0, 1.0, 0.0],
    }
    columns = {f"{name}_flips": values for name, values in flips.items()}
    columns |= {f"{name}_other_flips": [0.0, 0.0, 0.0, 1.0] for name in flips}
    columns |= {"attention_delta_js": [0.1] * 4, "attention_delta_weight": [0.5] * 4}
    results = Results((measured("FLANrnn", "single_erasure", dataset="sst5", labels="abcd", **columns),))
    asked = {number: SERRANO_SMITH.find("figure", number) for number in ("9", "12", "13")}
    page = make_page(SERRANO_SMITH, results, list(asked.values()))
    for number, top in {"9": "25.0 %", "12": "50.0 %", "13": "75.0 %"}.items():
        assert rows_of(page, f"Figure {number}")[0][2:4] == ["0.0 %", top]
        (picture,) = asked[number].pictures(results)
        assert picture.name == f"figure-{number}"
    assert rows_of(page, "Figure 12", 1) == [["sst5", "FLANrnn", "25.0 %", "50.0 %", "75.0 %"]]
    assert "Yahoo (paper)" in {row[0] for row in rows_of(page, "Figure 13")}


def test_figures_3_4_7_and_8_are_by_the_difference_of_weights(measured):
    columns = {
        "attention_delta_js": [-0.1, 0.2, 0.4, -0.3],
        "attention_delta_weight": [0.05, 0.15, 0.9, 0.95],
    }
    columns |= {
        f"{name}_{end}": [0.0] * 4
        for name in ("attention", "gradient", "product")
        for end in ("flips", "other_flips")
    }
    runs = tuple(
        measured(name, "single_erasure", dataset="sst5", labels="abcd", **columns)
        for name in ("HANrnn", "FLANconv")
    )
    asked = {number: SERRANO_SMITH.find("figure", number) for number in ("3", "4", "7", "8")}
    page = make_page(SERRANO_SMITH, Results(runs), list(asked.values()))
    (row,) = rows_of(page, "Figure 3")
    assert row[:5] == ["sst5", "HANrnn", "50.0 %", "-0.10 [-0.10–-0.10] 1", "0.20 [0.20–0.20] 1"]
    assert row[5:8] == ["–"] * 3 and row[8] == "0.05 [-0.12–0.23] 2" and row[9] == "4"
    (row,) = rows_of(page, "Figure 4")
    assert row[2:] == ["1", *["0"] * 8, "1", "2", "4"]
    assert (
        [r[1] for r in rows_of(page, "Figure 7")]
        == [r[1] for r in rows_of(page, "Figure 8")]
        == ["HANrnn", "FLANconv"]
    )
    assert [p.name for p in asked["3"].pictures(Results(runs))] == ["figure-3"]
    assert [p.name for p in asked["7"].pictures(Results(runs))] == ["figure-7-sst5"]


def test_table_3_of_serrano_smith_sets_accuracy_beside_theirs(measured):
    results = Results((measured("FLANconv", "sharpness", dataset="sst5", labels="abcd", flat=[0.0]),))
    page = make_page(SERRANO_SMITH, results, [SERRANO_SMITH.find("table", "3")])
    ours, yahoo, *_ = rows_of(page, "Table 3")
    assert ours == ["sst5 (ours)", "–", "–", "–", "–", "70.0", "–"]
    assert yahoo == ["Yahoo (paper)", "74.6", "72.8", "73.1", "75.5", "73.1", "72.3"]
