"""The SEAT recipe: its runs, its published numbers, its tables beside them, and every claim decided three ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from heedful.audits.running.result import INSTANCES, PREDICTIONS
from heedful.errors import BadInput
from heedful.measures.performance import performance
from heedful.papers.claims import judge
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import Page, markdown, save_page
from heedful.papers.recipe import Dataset, published
from heedful.papers.results import MeasuredRun, Results
from heedful.papers.seat.method_draws import Methods, drawn_texts
from heedful.papers.seat.methods import COMPARED, DATASETS, METHODS, PAPER, RIVALS, SKETCHED
from heedful.papers.seat.recipe import SEAT
from heedful.papers.seat.seed_frontier import SeedPoint
from heedful.training.train import resolve

TEXTS = 80
LABELS = np.arange(TEXTS) % 2
_random = np.random.default_rng(5)
WAVE = _random.uniform(0.5, 1.5, TEXTS)
MIXED = _random.permutation(WAVE)
"""Other values with the same mean, so that no method is ahead of another."""
COLUMNS = {
    "embedding_stability": [
        f"{name}_{scope}_{size:g}"
        for name in ("jsd", "tvd", "relative_jsd")
        for scope in ("one", "all")
        for size in (1e-3, 5e-3, 1e-2, 5e-2)
    ]
    + ["sharpness", "largest_weight"],
    "word_stability": [f"{name}_{n}" for name in ("jsd", "tvd", "relative_jsd") for n in (1, 2, 3)]
    + ["sharpness"],
    "rationale": [
        "comprehensiveness",
        "sufficiency",
        "sensitivity",
        "comprehensiveness_random",
        "sufficiency_random",
        "comprehensiveness_top",
        "sufficiency_top",
    ],
    "sharpness": ["sharpness"],
    "certificate": ["radius_linf"],
}


def run(
    method: str,
    *,
    encoder: str = "BiLSTM",
    dataset: str = "sst2",
    seed: int = 0,
    wrong: int = 0,
    audited: Path | None = None,
    history: Any = (),
    **columns: Any,
) -> MeasuredRun:
    """A model with the same values in every column but those given, and with a number of wrong decisions."""
    said = LABELS.copy()
    said[:wrong] = 1 - said[:wrong]
    names = ("negative", "positive")
    usual = {
        "row": range(TEXTS),
        "predicted": [names[i] for i in said],
        "label": LABELS,
        "items": [5] * TEXTS,
    }
    frames = {
        audit: pl.DataFrame(
            usual | {name: np.broadcast_to(columns.get(name, WAVE), TEXTS) for name in present}
        )
        for audit, present in COLUMNS.items()
    }
    metrics = {
        "test": {"f1": 0.8},
        "sizes": {"train": 100, "dev": 10, "test": TEXTS},
        "notes": [],
        "history": list(history),
    }
    return MeasuredRun(
        dataset, f"{encoder} {method}", seed, Path("runs/x"), metrics, names, TEXTS, (), frames, {}, audited
    )


def all_but(*methods: str, **columns: Any) -> list[MeasuredRun]:
    return [run(name, **columns) for name in METHODS if name not in methods]


def word(claim: str, *runs: MeasuredRun) -> str:
    (found,) = [each for each in SEAT.claims if each.id == claim]
    return judge(found, Results(runs)).word


def rows_of(page: Page, section: str, table: int = 0) -> list[list[str]]:
    (found,) = [part for part in page.sections if part.title.startswith(section)]
    return [list(row) for row in found.tables[table].rows]


def page_of(*runs: MeasuredRun, **asked: str) -> Page:
    experiments = [SEAT.find(kind, number) for kind, number in asked.items()]
    return make_page(SEAT, Results(runs), experiments or SEAT.experiments)


def test_published_numbers_are_whole_and_those_of_the_paper():
    printed = published("seat")
    assert set(printed["order"]) == set(printed["corpora"]) == set(DATASETS) == set(SEAT.datasets)
    blocks = [
        printed["table_1"],
        printed["table_2"],
        *printed["table_8"].values(),
        *printed["table_9"].values(),
    ]
    for block in blocks:
        assert list(block) == ["RNN", "BiLSTM", "BERT"]
    for block in (*blocks, *printed["words"].values()):
        for methods in block.values():
            assert list(methods) == list(PAPER)
            assert {(len(row), *map(len, row)) for row in methods.values()} == {(4, 3, 3, 3, 3)}
    assert printed["table_1"]["BiLSTM"]["vanilla"][1] == [0.027, 18.64, 0.809]
    assert printed["table_8"][0.05]["RNN"]["seat"][3] == [-3.39e-11, 3.02e-4, 0.767]
    assert printed["words"][1]["BERT"]["vanilla"][0] == [0.628, 2.847, 0.721]
    assert printed["table_6"]["BERT"]["seat"] == [2.49e-7, 0.028, 0.909]
    assert printed["table_2"] == printed["table_9"][0.01]  # under another heading


def test_published_words_repeat_published_noise():
    printed = published("seat")
    for table in printed["words"].values():
        for method in RIVALS[1:]:
            assert table["BERT"][method] == printed["table_8"][0.05]["BERT"][method]


def test_what_claims_say_of_the_paper_is_in_its_tables():
    printed = published("seat")
    stable = [printed["table_1"], *printed["table_8"].values(), *printed["words"].values()]
    for methods in (each for table in stable for each in table.values()):
        for corpus in range(4):
            jsd, tvd, _ = methods["seat"][corpus]
            assert all(100 * jsd < methods[name][corpus][0] for name in RIVALS)
            assert all(tvd < methods[name][corpus][1] for name in RIVALS)
    change = [
        methods["seat"][corpus][2] - methods["vanilla"][corpus][2]
        for methods in printed["table_1"].values()
        for corpus in range(4)
    ]
    assert (round(min(change), 3), round(max(change), 3)) == (-0.008, 0.058)
    ties = {
        name: sum(
            methods["seat"][corpus][place] == pick(methods[other][corpus][place] for other in RIVALS)
            for methods in printed["table_2"].values()
            for corpus in range(4)
        )
        for place, (name, pick) in enumerate({"comp": max, "suff": min, "sens": min}.items())
    }
    assert ties == {"comp": 0, "suff": 1, "sens": 2}
    without = [
        methods["seat"][1] / methods["seat_without_stability"][1] for methods in printed["table_6"].values()
    ]
    assert (round(min(without), 2), round(max(without), 2)) == (0.18, 0.63)


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("vanilla", {"objective": "vanilla"}),
        ("attention_iat", {"objective": "attention_iat"}),
        ("seat", {"objective": "seat"}),
        ("seat, whole model", {"objective": "seat", "trained": "all"}),
        ("steady", {"objective": "steady"}),
    ],
)
def test_a_case_is_the_run_that_the_same_options_of_train_make(method, given):
    usual = {
        "preset": "seat",
        "vectors": "glove-840b-300d",
        "train_embeddings": False,
        "threads": 1,
        "dataset": "sst2",
    }
    cases = SEAT.cases(datasets=["sst2"], encoders=["rnn"])
    (case,) = [case for case in cases if (case.model, case.seed) == (f"RNN {method}", 2)]
    assert case.config == resolve({**usual, "encoder": "rnn", "seed": 2, **given})
    assert case.texts is None


def test_minilm_is_trained_as_a_transformer_and_only_where_it_is_asked_for():
    cases = [case for case in SEAT.cases() if case.model.startswith("MiniLM")]
    assert {(case.dataset, case.seed) for case in cases} == {("sst2", 0)}
    assert cases[0].config == resolve(
        {"preset": "seat", "dataset": "sst2", "encoder": "hf:minilm-l6", "epochs": 2, "batch_size": 16}
    )
    named = SEAT.cases(encoders=["hf:minilm-l6"], seeds=2)
    assert {case.dataset for case in named} == set(DATASETS)
    assert {case.seed for case in named} == {0, 1}
    assert {case.texts for case in named} == {1000}
    assert {case.texts for case in SEAT.cases(encoders=["hf:minilm-l6"], texts=7)} == {7}


def test_cases_are_what_the_tables_need():
    cases = SEAT.cases(encoders=["bilstm"])
    # Five seeds on sst2, which alone has the ablations, the whole model and consistency, with three.
    assert len(cases) == (5 + 3 * 3) * len(COMPARED) + 3 * 4
    ablated = [case for case in cases if ", no " in case.model]
    assert {case.dataset for case in ablated} == {"sst2"}
    assert set(ablated[0].audits) == {"embedding_stability", "rationale"}
    everything = {"embedding_stability", "rationale", "word_stability", "sharpness", "certificate"}
    assert {frozenset(c.audits) for c in cases if c.model == "BiLSTM seat"} == {frozenset(everything)}
    (table_4,) = {case.audits for case in SEAT.cases([SEAT.find("table", "4")])}
    assert set(table_4) == {"embedding_stability", "rationale"}
    assert {case.config.objective for case in SEAT.cases([SEAT.find("table", "4")])} == {"vanilla", "seat"}
    # One set of options, so that what was measured for one table is found again for another.
    assert len({tuple(case.audit.items()) for case in cases}) == 1


def test_seeds_are_compared_only_when_asked_for():
    figure_2 = SEAT.cases([SEAT.find("figure", "2")], datasets=["mr"])
    assert {case.seed for case in figure_2} == {0}
    assert {case.audit["seeds"] for case in figure_2} == {(1, 2)}
    assert not [case for case in SEAT.cases() if "seed_stability" in case.audits]
    with pytest.raises(BadInput, match="about the encoders rnn, bilstm"):
        SEAT.cases([SEAT.find("figure", "2")], encoders=["hf:minilm-l6"])
    asked = [SEAT.find("figure", "2"), SEAT.find("table", "7")]
    with pytest.raises(BadInput, match="other encoders on these datasets"):
        SEAT.cases(asked, datasets=["mr"], encoders=["hf:minilm-l6"])


HELD = {
    # claim: method, column, what makes it hold, what makes it fail, what leaves it open
    "se-1": ("seat", "jsd_one_0.001", 0.5, 2.0, 1.0),
    "se-2": ("seat", "jsd_one_0.01", 0.5, 2.0, 1.0),
    "se-3": ("seat", "tvd_one_0.001", 0.5, 2.0, 1.0),
    "se-4": ("seat", "tvd_one_0.01", 0.5, 2.0, 1.0),
    "se-5": ("seat", "relative_jsd_one_0.01", 0.5, 2.0, 1.0),
    "se-6": ("seat", "jsd_1", 0.5, 2.0, 1.0),
    "se-8": ("seat", "comprehensiveness", 2.0, 0.5, 1.0),
    "se-9": ("seat", "sufficiency", 0.5, 2.0, 1.0),
    "se-10": ("seat", "sensitivity", 0.5, 2.0, 1.0),
    "se-11": ("seat", "tvd_one_0.01", 0.5, 2.0, 1.0),
    "se-12": ("seat", "jsd_one_0.01", 0.5, 2.0, 1.0),
    "se-14": ("word_at", "jsd_one_0.05", 1.0, 1e-8, 1e-6),
    "se-15": ("steady", "sharpness", 1.0, 0.5, 0.9),
    "se-17": ("steady", "jsd_all_0.01", 0.2, 0.5, 1 / 3),
    "se-18": ("steady", "tvd_all_0.01", 0.5, 2.0, 1.0),
    "se-19": ("steady", "jsd_all_0.01", 0.5, 2.0, 1.0),
    "se-20": ("seat", "jsd_all_0.01", 1.0, 0.5, 0.9),
    "se-21": ("consistency", "sharpness", 0.01, 0.5, 0.1),
}


@pytest.mark.parametrize("claim", HELD)
def test_a_claim_holds_fails_or_stays_open(claim):
    method, column, holds, fails, open_ = HELD[claim]
    others = all_but(method)
    assert word(claim, run(method, **{column: holds * WAVE}), *others) == "holds"
    assert word(claim, run(method, **{column: fails * WAVE}), *others) == "does not hold"
    assert word(claim, run(method, **{column: open_ * MIXED}), *others) == "undecided"
    assert word(claim, *others[:1]) == "not measured"


@pytest.mark.parametrize(("claim", "method"), [("se-7", "seat"), ("se-16", "steady")])
def test_claims_about_f1(claim, method):
    vanilla = run("vanilla", wrong=8)
    assert word(claim, run(method, wrong=8), vanilla) == "holds"
    assert word(claim, run(method, wrong=40), vanilla) == "does not hold"
    assert word(claim, run(method, wrong=9), vanilla) == "undecided"
    assert word(claim, vanilla) == "not measured"


def test_the_claim_about_top_items(tmp_path):
    def kept(name: str, swapped: int) -> MeasuredRun:
        """Ten items with falling weights; in some texts the last three are on top."""
        weights = np.tile(np.linspace(1, 0.1, 10), (TEXTS, 1))
        weights[:swapped] = np.roll(weights[:swapped], -3, axis=1)
        folder = tmp_path / f"{name}{swapped}"
        (folder / INSTANCES).mkdir(parents=True)
        frame = pl.DataFrame({"row": range(TEXTS), "weights": weights.tolist()})
        frame.write_parquet(folder / INSTANCES / f"{PREDICTIONS}.parquet")
        return run(name, audited=folder)

    vanilla = kept("vanilla", 0)
    assert word("se-13", vanilla, kept("seat", 0)) == "holds"
    assert word("se-13", vanilla, kept("seat", TEXTS)) == "does not hold"  # 4 of the top 7 are left
    swapped = round(0.07 * TEXTS * 7 / 3)
    assert word("se-13", vanilla, kept("seat", swapped)) == "undecided"
    assert word("se-13", vanilla, run("seat")) == "not measured"
    page = page_of(vanilla, kept("seat", 40), table="1")
    assert rows_of(page, "Table 1")[0][-1] == "–"
    assert rows_of(page, "Table 1")[1][-1].startswith("0.786 (")  # 1 − 3 / 7 / 2
    assert page_of(vanilla, kept("seat", 1), figure="6").sections[0].tables[1].rows[1][8] == "0.995"


def test_a_rival_that_is_ahead_on_its_own_refutes_the_most_stable():
    ahead = [run(name, **({"jsd_one_0.01": 0.1 * WAVE} if name == "word_at" else {})) for name in RIVALS]
    assert word("se-2", run("seat", **{"jsd_one_0.01": 0.5 * WAVE}), *ahead) == "does not hold"
    assert word("se-2", run("seat"), *ahead[1:]) == "not measured"  # seven are seven


def test_flat_heatmaps_do_not_count_among_the_sharp():
    flat = {"jsd_one_0.05": 1e-9 * WAVE, "sharpness": 0.4 * WAVE}
    assert word("se-14", run("vanilla"), run("seat", **flat)) == "holds"
    steady = {"jsd_all_0.01": 0.5 * WAVE}
    others = all_but("steady", "word_at")
    flatter = run("word_at", **{"jsd_all_0.01": 0.01 * WAVE, "sharpness": 0.8 * WAVE})
    assert word("se-19", run("steady", **steady), flatter, *others) == "holds"
    as_sharp = run("word_at", **{"jsd_all_0.01": 0.01 * WAVE, "sharpness": 0.95 * WAVE})
    assert word("se-19", run("steady", **steady), as_sharp, *others) == "does not hold"


def test_methods_are_paired_by_seed_and_text():
    short = run("seat", seed=0)
    frames = {name: frame.filter(pl.col("row") >= 10).reverse() for name, frame in short.frames.items()}
    runs = [run("vanilla"), run("vanilla", seed=1, **{"jsd_one_0.01": 9.0}), replace(short, frames=frames)]
    both = Methods(Results(tuple(runs)), "sst2", ["BiLSTM seat", "BiLSTM vanilla"], "embedding_stability")
    assert both.seeds == [0]
    seat, vanilla = both.mean("BiLSTM seat", "BiLSTM vanilla", column="jsd_one_0.01")
    assert seat.texts == vanilla.texts == TEXTS - 10
    np.testing.assert_allclose(seat.values, vanilla.values)
    alone = Methods(Results(tuple(runs)), "sst2", ["BiLSTM vanilla"], "embedding_stability")
    (mean,) = alone.mean("BiLSTM vanilla", column="jsd_one_0.01")
    assert mean.estimate == pytest.approx((WAVE.mean() + 9) / 2)


def test_draws_are_means_of_drawn_texts():
    values = np.where(np.arange(TEXTS) % 5 == 0, np.nan, WAVE)
    results = Results((run("seat", sensitivity=values),))
    (found,) = Methods(results, "sst2", ["BiLSTM seat"], "rationale").mean(
        "BiLSTM seat", column="sensitivity"
    )
    assert found.texts == TEXTS * 4 // 5
    for times, draw in zip(drawn_texts("sst2", TEXTS)[:20], found.values[0], strict=False):
        assert times.sum() == TEXTS
        assert draw == pytest.approx(np.nanmean(np.repeat(values, times.astype(int))))
    assert not np.array_equal(drawn_texts("sst2", TEXTS), drawn_texts("mr", TEXTS))


def seeds_of(method: str, column: str, *scales: float) -> list[MeasuredRun]:
    """A method whose heatmap moves more with some seeds than with others, for all texts alike."""
    return [run(method, seed=seed, **{column: scale * WAVE}) for seed, scale in enumerate(scales)]


def test_ratios_are_paired_by_seed_and_their_interval_speaks_of_other_seeds():
    column = "jsd_all_0.01"
    runs = [*seeds_of("vanilla", column, 1.0, 10.0, 100.0), *seeds_of("steady", column, 0.2, 1.0, 25.0)]
    (claim,) = [each for each in SEAT.claims if each.id == "se-17"]
    judged = judge(claim, Results(tuple(runs)))
    logs = np.log([5.0, 10.0, 4.0])
    half = stats.t.ppf(0.975, 2) * stats.sem(logs)  # texts move every seed alike, and no ratio
    wanted = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    assert judged.interval[:3] == pytest.approx(wanted, rel=1e-6)
    assert judged.parts[0].seeds == (3,) and judged.word == "undecided"  # 1.8 to 19 times, and 3 is claimed
    assert word("se-17", *(each for each in runs if each.seed < 2)) == "too few seeds"
    assert word("se-17", *(each for each in runs if each.seed < 1)) == "holds"  # of texts alone, as is said
    page = make_page(SEAT, Results(tuple(runs)), SEAT.experiments)
    (line,) = [line for s in page.sections for line in s.lines if line.startswith("se-17")]
    assert f"{TEXTS} texts, 3 seeds, undecided" in line
    assert "5.85 (1.78 to 19.16)" in line


def test_tables_speak_of_other_seeds_and_numbers_that_cannot_be_negative_end_at_zero():
    column = "jsd_one_0.001"
    three, two = (seeds_of("vanilla", column, *scales) for scales in ((1.0, 2.0, 30.0), (1.0, 2.0)))
    mean, interval = rows_of(page_of(*three, table="1"), "Table 1")[0][2].split(" ", 1)
    assert float(mean) == pytest.approx(11 * WAVE.mean(), rel=0.01)
    assert interval.startswith("(0 to ") and float(interval[6:-1]) > 30
    assert rows_of(page_of(*two, table="1"), "Table 1")[0][2] == f"{1.5 * WAVE.mean():.3f}"


def test_f1_is_that_of_the_decisions():
    (found,) = Methods(Results((run("seat", wrong=13),)), "sst2", ["BiLSTM seat"], "embedding_stability").f1(
        "BiLSTM seat"
    )
    said = LABELS.copy()
    said[:13] = 1 - said[:13]
    expected = performance(LABELS, np.eye(2)[said])["f1"]
    assert found.estimate == pytest.approx(expected)
    times = drawn_texts("sst2", TEXTS)[1].astype(int)
    drawn = performance(np.repeat(LABELS, times), np.eye(2)[np.repeat(said, times)])["f1"]
    assert found.values[0, 1] == pytest.approx(drawn)


def test_tables_set_ours_beside_theirs_in_honest_units():
    same = {
        "jsd_one_0.001": 2.5e-6,
        "tvd_one_0.001": 0.004,
        "jsd_all_0.001": 1e-5,
        "tvd_all_0.001": 0.02,
        "sharpness": 0.35,
    }
    page = page_of(run("vanilla", **same), run("seat", seed=1), table="1")
    ours, seat = rows_of(page, "Table 1")
    assert ours == [
        "vanilla",
        "1",
        "2.5e-06 (2.5e-06 to 2.5e-06)",
        "0.027",
        "0.004 (0.004 to 0.004)",
        "18.64",
        "1.000 (1.000 to 1.000)",
        "0.809",
        "1.0e-05 (1.0e-05 to 1.0e-05)",
        "0.02 (0.02 to 0.02)",
        "0.350 (0.350 to 0.350)",
        "–",
    ]
    assert seat[3:6:2] == ["1.8e-08", "0.777"]
    assert seat[-1] == "–"  # there is no vanilla model of its seed
    assert "prints up to 28 and 6.6" in page.lead[0]


def test_every_table_has_its_rows():
    runs = [run(name, encoder=encoder) for encoder in ("RNN", "MiniLM") for name in METHODS]
    page = page_of(*runs)
    assert "MiniLM (the paper: BERT)" in markdown(page)
    lengths = {s.title.split(":")[0]: [len(t.rows) for t in s.tables] for s in page.sections[:17]}
    every, ablated = [len(COMPARED)] * 2, [4, 4]
    assert lengths == {
        "Table 1": every,
        "Table 2": every,
        "Table 3": every,
        "Table 4": ablated,
        "Table 5": [0],
        "Table 6": ablated,
        "Table 7": ablated,
        "Table 8": [24, 24],
        "Table 9": every,
        "Table 10": [16, 16],
        "Figure 1": [],
        "Figure 2": [],
        "Figure 3": [],
        "Figure 4": [],
        "Figure 5": [],
        "Figure 6": [2 * len(COMPARED), *every],
        "Figure 7": [2 * len(SKETCHED)],
    }
    for section in page.sections[:17]:
        for table in section.tables:
            assert {len(row) for row in table.rows} <= {len(table.headings)}
    assert rows_of(page, "Table 6", 1)[1][3:9:2] == ["0.114", "0.056", "0.909"]
    assert rows_of(page, "Table 4")[3][7] == "–"  # not legible
    assert rows_of(page, "Table 10")[0][4] == "–"  # the paper has BERT alone
    assert rows_of(page, "Table 10", 1)[0][2:5] == ["2", rows_of(page, "Table 10", 1)[0][3], "0.343"]
    assert rows_of(page, "Table 9")[0][3:6] == ["5.744", "5.744", "5.744"]


def test_figure_5_follows_the_epochs():
    def epoch(number: int, overlap: float) -> dict[str, Any]:
        terms = {"top_k_loss": 1e-4 * number, "top_k_overlap": overlap}
        return {"epoch": number, "loss": 1.0, "train": terms, "dev": terms}

    runs = [
        run("seat", history=[epoch(1, 0.8), epoch(2, 0.9)]),
        run("seat", seed=1, history=[epoch(1, 0.6)]),
    ]
    first, second = rows_of(page_of(*runs, figure="5"), "Figure 5")
    assert first == ["sst2", "BiLSTM", "1", "2", "1.0e-04", "0.700", "1.0e-04", "0.700"]
    assert second[2:6] == ["2", "1", "2.0e-04", "0.900"]


def test_figure_2_is_by_weight_and_class():
    weight = np.where(np.arange(TEXTS) < 40, 0.1, 0.8)
    rows = {
        "row": range(TEXTS),
        "predicted": ["negative", "positive"] * 40,
        "largest_weight": weight,
        "jsd_max": np.where(LABELS == 1, 0.2, 0.1),
        "relative_jsd": 0.5,
        "sharpness": 0.3,
    }
    seeded = replace(run("seat", encoder="RNN"), frames={"seed_stability": pl.DataFrame(rows)})
    every, negative, positive = rows_of(page_of(seeded, figure="2"), "Figure 2")
    assert every[4:] == ["0.150 [0.100–0.200] 40", "–", "–", "0.150 [0.100–0.200] 40", "0.500", "0.300"]
    assert (negative[4], positive[7]) == ("0.100 [0.100–0.100] 20", "0.200 [0.200–0.200] 20")


def test_the_frontier_names_who_dominates():
    better = {"jsd_all_0.01": 0.5 * WAVE}
    runs = [run("vanilla", wrong=3), run("steady", wrong=3, **better), run("word_at", seed=1, **better)]
    shown = {
        row[0]: (row[1], row[-1]) for row in rows_of(page_of(*runs, figure="6"), "Figure 6", 1)
    }  # another seed dominates nobody
    assert shown == {"vanilla": ("0", "steady"), "steady": ("0", "–"), "word_at": ("1", "–")}
    point = SeedPoint("a", 0, 0.1, 0.3, 0.8)
    assert not point.dominates(point)
    assert not point.dominates(point._replace(jsd=0.2, f1=0.9))


def test_seeds_say_together_how_a_method_compares_with_vanilla():
    def jsd(method: str, seed: int, value: float) -> MeasuredRun:
        return run(method, seed=seed, **{"jsd_all_0.01": value, "sharpness": 0.4 / (1 + seed)})

    runs = [jsd("vanilla", seed, value) for seed, value in enumerate([0.8, 0.2, 0.2])]
    runs += [jsd("steady", seed, value) for seed, value in enumerate([0.4, 0.05, 0.025, 9.0])]
    runs += [jsd("seat", seed, value) for seed, value in enumerate([0.8, 0.2])]
    vanilla, seat, steady = rows_of(page_of(*runs, figure="7"), "Figure 7")
    assert vanilla[2:6] == ["vanilla", "3", "1.000", "0.400"]
    assert vanilla[8:12] == ["–"] * 4
    assert steady[3] == "3"  # seed 3 has no vanilla model
    logs = np.log([2, 4, 8])
    half = stats.t.ppf(0.975, 2) * logs.std(ddof=1) / np.sqrt(3)
    low, high = np.exp(logs.mean() - half), np.exp(logs.mean() + half)
    assert steady[8] == f"4 ({low:.3g} to {high:.3g})"
    assert steady[10] == "1 (1 to 1)"
    assert steady[11] == "+0.000 (+0.000 to +0.000)"
    assert seat[8] == "1"  # two seeds have no interval
    assert (vanilla[12], steady[12]) == ("3 of 3", "0 of 3")


def test_a_page_in_a_file_has_its_drawings_beside_it(tmp_path: Path):
    runs = [
        run("vanilla"),
        run("vanilla", seed=1),
        run("steady", **{"jsd_all_0.01": 0.0}),
        run("consistency", sharpness=0.001),
    ]
    save_page(page := page_of(*runs, run("seat", dataset="mr"), figure="6"), tmp_path / "page.md")
    (drawn,) = (tmp_path / "page-figures").iterdir()
    text = (tmp_path / "page.md").read_text()
    assert f"](page-figures/{drawn.name})" in text
    assert drawn.name == "frontier-sst2-bilstm.svg"
    shown = drawn.read_text()
    assert all(word in shown for word in ("consistency", "steady", "less sharp than vanilla"))
    assert shown.count('aria-roledescription="point"') == len(runs)
    assert "](" not in markdown(page)  # on its own it has no folder to point to
    flat = page_of(run("vanilla", sharpness=0.0), run("steady"), figure="6")
    assert not flat.sections[0].pictures  # nothing to stand against


@pytest.mark.slow
def test_from_nothing_to_a_page(tmp_path: Path):
    lines = ["text,label"]
    for i in range(120):
        first, second = (("dull", "slow", "grim"), ("great", "warm", "funny"))[i % 2], ("plot", "cast")
        lines.append(
            f"film {i} with a {second[i % 2]} was so {first[i % 3]} and {first[i // 3 % 3]},{'np'[i % 2]}"
        )
    data = tmp_path / "films.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tiny = {"epochs": 1, "hidden": 4, "embedding_size": 8, "vectors": None, "test_fraction": 0.4}
    models = tuple(model for model in SEAT.models if model.name in ("RNN vanilla", "RNN seat"))
    recipe = replace(SEAT, datasets={str(data): Dataset(None, tiny)}, models=models)
    asked = [recipe.find("table", "1"), recipe.find("figure", "5"), recipe.find("figure", "6")]
    runs = tmp_path / "runs"
    first = measure_recipe(recipe.cases(asked), [], runs=runs)
    again = measure_recipe(recipe.cases(asked), [], runs=runs, only_finished=True)
    assert [found.model for found in again.runs] == ["RNN vanilla", "RNN seat"]
    pages = [markdown(make_page(recipe, results, asked)) for results in (first, again)]
    assert pages[0] == pages[1]
    page = make_page(recipe, again, asked)
    assert rows_of(page, "Table 1")[1][0] == "seat"
    assert "(" in rows_of(page, "Table 1")[1][-1]  # overlap with vanilla, from the heatmaps that were kept
    (epoch,) = rows_of(page, "Figure 5")
    assert "–" not in epoch
    assert judge(next(c for c in SEAT.claims if c.id == "se-7"), again).interval.count == len(
        again.runs[0].frames["sharpness"]
    )
