"""The AtteFa recipe: its numbers in the paper's units, its claims, and a small base with twins from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import BadInput
from heedful.papers.attefa.recipe import ATTEFA
from heedful.papers.attefa.score_samples import LADDER, MOCK, REAL
from heedful.papers.attefa.twinned import twinned
from heedful.papers.claims import judge
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import Page, markdown
from heedful.papers.recipe import Dataset, published
from heedful.papers.results import Results
from heedful.training.train import resolve
from heedful.training.twins import SEEDS

SURE = [[0.0, 1.0], [1.0, 0.0]] * 20


def twins(measured, model, dataset, *scores, jsd=1.0, probabilities=SURE):
    """A base whose twins have these TVDs on every text, up to a little noise."""
    noise = np.resize([-0.001, 0.001], len(probabilities))
    columns = {
        "chances": probabilities,
        "twin_jsd": [jsd] * len(probabilities),
        "twin_tvd": [np.mean(scores)] * len(probabilities),
    }
    for seed, score in zip(SEEDS, scores, strict=False):
        columns |= {f"tvd_{seed}": score + noise, f"jsd_{seed}": [jsd] * len(probabilities)}
    return measured(model, "imitation", dataset=dataset, **columns)


def rows_of(page: Page, section: str) -> list[list[str]]:
    (found,) = [part for part in page.sections if part.title.startswith(section)]
    return [list(row) for row in found.tables[0].rows]


def words_of(*runs) -> dict[str, str]:
    return {claim.id: judge(claim, Results(runs)).word for claim in ATTEFA.claims}


def test_published_numbers_are_those_of_the_paper():
    printed = published("attefa")
    assert printed["table_3"]["mock_1"]["MLP"]["attefa"] == [0.8153, 0.0425]
    assert printed["table_3"]["sst2"]["LSTM"]["jsd"] == [0.626, 0.006]
    assert printed["table_2"]["20news_sports"] == {
        "LSTM": 0.935,
        "MLP": 0.878,
        "wiegreffe_pinter": {"LSTM": 0.942},
    }
    for table in ("corpora", "table_2", "table_3"):
        assert list(printed[table]) == list(ATTEFA.datasets) == [*MOCK, *REAL]


def test_published_seeds_give_the_published_means():
    printed = published("attefa")
    for dataset, models in printed["by_seed"].items():
        for model, seeds in models.items():
            assert tuple(seeds) == SEEDS
            means = printed["table_3"][dataset][model]
            f1, score = np.mean([(row[1], row[4]) for row in seeds.values()], axis=0)
            assert f1 == pytest.approx(means["f1"][0], abs=0.0011)
            assert score == pytest.approx(means["attefa"][0], abs=0.0011)


def test_published_scores_follow_from_published_tvd_and_jsd():
    for models in published("attefa")["table_3"].values():
        for row in models.values():
            score = (row["tvd"][0] / 0.5) / (row["jsd"][0] / 0.6931)
            assert score == pytest.approx(row["attefa"][0], abs=0.003)


@pytest.mark.parametrize(
    ("dataset", "given"),
    [
        ("mock_3q", {"vectors": "glove-6b-50d", "open_vocabulary": True}),
        ("sst2", {"vectors": "glove-840b-300d"}),
        ("imdb", {"vectors": "glove-840b-300d", "limit": "4000", "max_length": "250"}),
    ],
)
def test_a_base_is_the_run_that_the_same_flags_of_train_make(dataset, given):
    (case,) = ATTEFA.cases(datasets=[dataset], encoders=["average"], seeds=3)
    assert case.config == resolve({"dataset": dataset, "preset": "attefa", "encoder": "average", **given})
    assert (case.model, case.seed, case.texts) == ("MLP", 0, 1000 if dataset == "imdb" else None)


def test_seeds_are_those_of_twins():
    assert {case.audit["seeds"] for case in ATTEFA.cases(seeds=2)} == {SEEDS[:2]}
    # All nine are the audit's own default, so that both are one audit.
    assert {case.audit["seeds"] for case in (*ATTEFA.cases(), *ATTEFA.cases(seeds=9))} == {None}
    with pytest.raises(BadInput, match="choose from 1 to 9"):
        ATTEFA.cases(seeds=10)


def test_tables_4_and_5_are_about_their_own_corpora():
    table_4 = ATTEFA.find("table", "4")
    assert {case.dataset for case in ATTEFA.cases([table_4])} == set(MOCK)
    with pytest.raises(BadInput, match="about the datasets mock_1, "):
        ATTEFA.cases([table_4], datasets=["sst2"])


def test_tables_are_in_the_units_of_the_paper(measured):
    results = Results((twins(measured, "MLP", "mock_1", 0.5, 0.7, jsd=0.8),))
    page = make_page(ATTEFA, results, ATTEFA.experiments)
    ours, theirs = rows_of(page, "Table 3")
    assert ours[2:4] == ["ours", "2"]
    assert ours[6:9] == [
        "0.300 ± 0.050",
        "0.555 ± 0.000",
        "0.7500 ± 0.1250",
    ]  # TVD 0.6 / 2, JSD 0.8 ln 2, 0.6 / 0.8
    assert ours[9] == "1.0000 ± 0.0000"  # who reads nothing has a TVD of one half
    assert theirs[2:] == [
        "paper",
        "9",
        "20 ± 24",
        "0.221 ± 0.312",
        "0.231 ± 0.012",
        "0.393 ± 0.000",
        "0.8153 ± 0.0425",
        "–",
    ]
    assert [row[2] for row in rows_of(page, "Table 4")] == ["10", "50"]
    assert rows_of(page, "Table 4")[0][-4:] == ["0.555", "0.6250", "1.0000", "0.784"]
    assert rows_of(page, "Table 5") == []
    assert rows_of(page, "Figure 1")[0][3:5] == ["0.625–0.875", "0.815 ± 0.043"]
    assert rows_of(page, "Figure 2")[0][2:6] == ["0.300", "0.231", "0.555", "0.393"]
    assert page.lead[0].startswith("Bases: 1 (seed 0). Twins of each: 2; ")
    assert "50 dimensions" in markdown(page)


def ladder(measured, *scores, model="MLP", names=LADDER):
    return [twins(measured, model, name, *[score] * 3) for name, score in zip(names, scores, strict=True)]


def test_the_ladder_is_whole():
    assert LADDER == MOCK


def test_claims_about_the_ladder_hold_where_no_step_rises(measured):
    falling = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    words = words_of(*ladder(measured, *falling))
    assert (words["at-1"], words["at-2"], words["at-4"]) == ("holds", "not measured", "holds")
    assert words_of(*ladder(measured, *falling[::-1]))["at-1"] == "does not hold"
    # From the first to the last it falls, and on most steps; but Mock-5 lies above what stands before it.
    bump = (0.8, 0.5, 0.9, 0.45, 0.4, 0.3, 0.2, 0.1)
    assert words_of(*ladder(measured, *bump))["at-1"] == "undecided"
    # Steps that are not measured are stepped over, and a step that does not clearly rise is no bump.
    some = [run for run in ladder(measured, *bump) if run.dataset != "mock_5"]
    assert words_of(*some)["at-1"] == "holds"
    assert words_of(*ladder(measured, *falling[:6], 0.3, 0.1))["at-1"] == "holds"


def test_three_twins_that_differ_leave_a_step_open(measured):
    """Drawn anew, three twins would make it look sure; Student's interval of three is twice as wide."""
    names = ("mock_1", "mock_10")
    runs = [
        twins(measured, "LSTM", names[0], 0.02, 0.054, 0.055),
        twins(measured, "LSTM", names[1], *[0.004] * 3),
    ]
    assert words_of(*runs)["at-2"] == "undecided"
    runs[0] = twins(measured, "LSTM", names[0], 0.042, 0.043, 0.044)
    assert words_of(*runs)["at-2"] == "holds"


def test_the_corrected_score_sees_a_base_that_is_never_sure(measured):
    unsure = [[0.45, 0.55], [0.55, 0.45]] * 20
    found = twinned(twins(measured, "MLP", "mock_1", 0.04, probabilities=unsure))
    assert found.scores()[0, 0] == pytest.approx(0.04)
    assert found.scores(corrected=True)[0, 0] == pytest.approx(0.8)


def test_mlp_is_compared_with_lstm_on_each_corpus(measured):
    pairs = [
        run
        for name in ("mock_1", "sst2")
        for run in (twins(measured, "MLP", name, 0.4, 0.5, 0.4), twins(measured, "LSTM", name, 0.1, 0.1, 0.1))
    ]
    words = words_of(*pairs)
    assert words["at-3"] == "holds"
    assert words["at-5"] == "not measured"  # the runs of the twins are not at hand
    assert words_of(*pairs[:1])["at-3"] == "not measured"
    one_twin = twins(measured, "MLP", "mock_1", 0.4), twins(measured, "LSTM", "mock_1", 0.1)
    assert words_of(*one_twin)["at-3"] == "too few twins"


def test_twins_that_differ_leave_a_claim_undecided(measured):
    runs = (twins(measured, "MLP", "sst2", 0.1, 0.9, 0.3), twins(measured, "LSTM", "sst2", 0.2, 0.6, 0.4))
    assert words_of(*runs)["at-3"] == "undecided"


@pytest.mark.slow
def test_a_base_and_its_twins_from_nothing_to_a_page(tmp_path: Path):
    lines = ["text,label"]
    for i in range(100):
        word = (("dull", "slow"), ("great", "warm"))[i % 2][i // 2 % 2]
        lines.append(f"film {i} was {word} throughout,{('negative', 'positive')[i % 2]}")
    data = tmp_path / "films.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tiny = {"epochs": 1, "hidden": 4, "embedding_size": 8, "vectors": None, "test_fraction": 0.4}
    recipe = replace(ATTEFA, datasets={str(data): Dataset(None, tiny)})
    runs = tmp_path / "runs"
    first = measure_recipe(recipe.cases(encoders=["average"], seeds=2), ["imitation"], runs=runs)
    (run,) = first.runs
    found = twinned(run)
    assert [twin.seed for twin in found.twins] == [10, 50]
    assert all(twin.epoch >= 1 and 0 <= twin.f1 <= 1 and 0 <= twin.tvd <= 0.5 for twin in found.twins)
    for corrected, name in ((False, "attefa"), (True, "attefa_corrected")):
        number = run.summaries["imitation"].number(name)
        assert found.scores(corrected=corrected)[:, 0].mean() == pytest.approx(number.estimate)
        assert number.low is None and number.high is None  # two twins do not tell what a third would reach
    assert any("one or two twins" in note for note in run.summaries["imitation"].notes)
    # Without --seeds, what is finished is taken with as many twins as it has; with it, only that number.
    again = measure_recipe(recipe.cases(encoders=["average"]), ["imitation"], runs=runs, only_finished=True)
    assert len(twinned(again.runs[0]).twins) == 2
    three = measure_recipe(
        recipe.cases(encoders=["average"], seeds=3), ["imitation"], runs=runs, only_finished=True
    )
    assert [why for _, why in three.missing] == ["trained, and not audited on all texts"]
