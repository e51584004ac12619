"""The FLAT recipe: its published numbers, its cases, its tables beside them, and its claims decided three ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from heedful.papers.attacked_training import AttackChoices
from heedful.papers.claims import judge
from heedful.papers.flat import claim_samples, word_tables
from heedful.papers.flat.attention_under_attack import attentive
from heedful.papers.flat.methods import (
    ABLATED,
    ABLATIONS,
    ATTACKS,
    DATASETS,
    ENCODERS,
    GROUPS,
    METHODS,
    NO_BETA,
    NO_GAMMA,
    OTHER_ATTACKS,
    WHOLE,
    ablated,
    by_lime,
    grouped,
    model_name,
    named,
    printed,
    transferred,
)
from heedful.papers.flat.recipe import FLAT
from heedful.papers.flat.word_importance import WordCounts, correlations
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import Page, markdown
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results
from heedful.training.train import resolve

TEXTS = 80
LABELS = ("negative", "positive")


def run(
    model: str, *, dataset: str = "sst2", seed: int = 0, accuracy: float = 0.8, **columns: Any
) -> MeasuredRun:
    """A model whose every text has these values; None is a value that no text has."""
    usual = {"row": range(TEXTS), "predicted": [LABELS[i % 2] for i in range(TEXTS)], "items": [19] * TEXTS}
    robustness = {
        "accuracy": 1.0,
        "after_attack": 0.25,
        "words_changed": 0.2,
        "only_unknown": 0.0,
    }
    consistency = {
        "tau": 0.5,
        **{f"top_{k}": k / 10 for k in range(1, 11)},
        "tau_successful": 0.3,
        "top_5_successful": 0.4,
    }
    frames = {
        audit: pl.DataFrame(
            usual | {name: np.broadcast_to(columns.get(name, value), TEXTS) for name, value in own.items()}
        )
        for audit, own in {
            "robustness": robustness,
            "consistency": consistency,
            "sharpness": {"sharpness": 0.1},
        }.items()
    }
    metrics = {
        "test": {"accuracy": accuracy, "f1": 0.8},
        "dev": {"accuracy": accuracy - 0.01},
        "sizes": {"train": 6920, "dev": 872, "test": 1821},
        "notes": [],
    }
    return MeasuredRun(dataset, model, seed, Path("runs/x"), metrics, LABELS, TEXTS, (), frames)


def word(claim: str, *runs: MeasuredRun) -> str:
    (found,) = [each for each in FLAT.claims if each.id == claim]
    return judge(found, Results(runs)).word


def page_of(*runs: MeasuredRun, **asked: str) -> Page:
    return make_page(FLAT, Results(runs), [FLAT.find(kind, number) for kind, number in asked.items()])


def rows_of(page: Page, section: str, table: int = 0) -> list[list[str]]:
    (found,) = [part for part in page.sections if part.title.startswith(section)]
    return [list(row) for row in found.tables[table].rows]


def test_published_numbers_are_whole_and_those_of_the_paper():
    paper = published("flat")
    assert set(paper["order"]) == set(paper["corpora"]) == set(DATASETS) == set(FLAT.datasets)
    models = [f"{e}-{m}" for e in ("LSTM", "CNN", "BERT", "DeBERTa") for m in METHODS]
    for table, numbers in (("table_3", 3), ("table_8", 2)):
        assert list(paper[table]) == list(ATTACKS)
        for block in paper[table].values():
            assert list(block) == models
            assert {(len(row), *map(len, row)) for row in block.values()} == {(4, *[numbers] * 4)}
    for table in ("table_2", "table_7"):
        assert len(paper[table]) == 20
        assert {len(row) for row in paper[table].values()} == {4}
    assert list(paper["table_4"]) == models
    assert {len(row) for row in paper["table_4"].values()} == {6}
    assert list(paper["table_5"]) == [WHOLE, *ABLATIONS]
    assert list(paper["table_10"]) == list(GROUPS)
    assert printed("table_3", "sst2", "CNN", "FLAT", "textfooler") == [37.07, 0.70, 0.82]
    assert printed("table_3", "trec", "LSTM", "adv", "pwws") == [64.20, 0.61, 0.88]
    assert printed("table_3", "ag_news", "MiniLM", "FLAT", "pwws") == [49.16, 0.30, 0.42]  # BERT's
    assert printed("table_2", "imdb", "LSTM", "FLAT", "textfooler") == [89.17]
    assert printed("table_2", "trec", "CNN", "base", "pwws") == [91.20]
    assert printed("table_8", "ag_news", "LSTM", "FLAT", "textfooler") == [0.41, 0.52]
    assert printed("table_3", "mr", "LSTM", "base", "pwws") == [None] * 3


def test_table_3_has_all_72_cells_of_lstm_and_cnn_on_sst2_and_trec():
    cells = [
        number
        for attack in ATTACKS
        for encoder in ("LSTM", "CNN")
        for method in METHODS
        for dataset in ("sst2", "trec")
        for number in printed("table_3", dataset, encoder, method, attack)
    ]
    assert len(cells) == 72
    assert all(isinstance(cell, float) for cell in cells)


def test_flat_is_the_best_of_its_column_in_the_paper():
    """Words of the paper that its own numbers must bear out; a slip of the pen here would break them."""
    for block in published("flat")["table_3"].values():
        for encoder in ("LSTM", "CNN", "BERT", "DeBERTa"):
            best, *others = (np.array(block[f"{encoder}-{method}"]) for method in ("FLAT", "adv", "base"))
            for other in others:
                assert (best > other).all()
    for row in published("flat")["table_2"].values():
        assert all(80 < number < 98 for number in row)


def test_usual_cases_are_lstm_and_cnn_on_sst2_and_trec():
    cases = FLAT.cases()
    assert {case.dataset for case in cases} == {"sst2", "trec"}
    assert {case.config.encoder for case in cases} == {"lstm", "cnn"}
    every = named(*METHODS, encoders=("LSTM", "CNN"))
    assert {case.model for case in cases if case.dataset == "trec"} == set(every)
    assert {case.model for case in cases if case.dataset == "sst2"} == {*every, *ABLATED}
    for case in cases:
        assert (case.rounds is None) == ("-base" in case.model)
        assert case.audit["source"] == "integrated_gradients"
        assert case.audit["attacks"] == (("textfooler",) if "TextFooler" in case.model else ("pwws",))


def test_others_are_cases_when_asked_for():
    imdb = FLAT.cases(datasets=["imdb"], encoders=["lstm"])
    assert {case.texts for case in imdb} == {500}
    assert {case.rounds.texts for case in imdb if case.rounds} == {200}
    transformer = FLAT.cases(datasets=["trec"], encoders=["hf:minilm-l6"])
    assert [case.model for case in transformer] == list(named(*METHODS, encoders=("MiniLM",)))
    four = FLAT.cases([FLAT.find("table", "4")])
    assert len(four) == 2 * 3 * 6 and {case.dataset for case in four} == {"sst2"}
    assert {case.audit["attacks"][0] for case in four} == set(OTHER_ATTACKS)
    assert {case.texts for case in four} == {300}
    eight = FLAT.cases([FLAT.find("table", "8")], datasets=["sst2"])
    assert {(case.audit["source"], case.texts) for case in eight} == {("lime", 100)}
    ten = FLAT.cases([FLAT.find("table", "10")])
    assert [case.model for case in ten][1:] == [grouped(number) for number in GROUPS]
    assert {case.dataset for case in ten} == {"ag_news"}
    everything = FLAT.cases(FLAT.experiments, costly=True)
    assert {case.dataset for case in everything} == {"sst2", "trec", "ag_news"}
    on_ag_news = {case.model for case in everything if case.dataset == "ag_news"}
    assert on_ag_news == {case.model for case in ten}  # other experiments stay on their own datasets


def test_a_case_is_what_the_flags_of_train_make():
    (case,) = [
        case for case in FLAT.cases(datasets=["sst2"], encoders=["lstm"]) if case.model == ablated(NO_GAMMA)
    ]
    assert case.config == resolve(
        {
            "dataset": "sst2",
            "preset": "flat",
            "encoder": "lstm",
            "objective": "flat",
            "gamma": 0.0,
            "vectors": "glove-840b-300d",
            "train_embeddings": False,
        }
    )
    assert case.config.word_mask == "word"
    assert case.rounds is not None and (case.rounds.rounds, case.rounds.texts) == (3, None)


def test_choices_reach_the_attacks_that_read_them():
    choices = AttackChoices(vectors="near.json", similarity=False, rounds=2, texts=500)
    cases = FLAT.cases(datasets=["trec"], encoders=["cnn"], attacks=choices)
    by_name = {case.model: case for case in cases}
    fooled, spared = by_name["CNN-FLAT (TextFooler)"], by_name["CNN-FLAT (PWWS)"]
    assert fooled.rounds is not None and spared.rounds is not None
    assert (fooled.rounds.attack.vectors, fooled.rounds.attack.similarity) == ("near.json", False)
    assert (fooled.rounds.rounds, fooled.rounds.texts) == (2, 500)
    assert fooled.audit["attack_vectors"] == "near.json" and not fooled.audit["attack_similarity"]
    # PWWS reads neither: what was measured of it is found whatever vectors are given.
    assert spared.rounds.attack.model_dump(exclude_defaults=True) == {"recipe": "pwws"}
    assert "attack_vectors" not in spared.audit


def test_table_3_sets_ours_beside_theirs():
    found = page_of(
        run("LSTM-FLAT (TextFooler)", after_attack=np.repeat([0.0, 1.0], TEXTS // 2)),
        run("LSTM-base (PWWS)", dataset="trec"),
        table="3",
    )
    (row,) = rows_of(found, "Table 3")
    assert row[:3] == ["sst2", "LSTM-FLAT", "1"]
    assert row[3].startswith("50.0 (") and row[4:10:2] == ["17.76", "0.58", "0.75"]
    assert row[5:10:2] == ["0.50 (0.50 to 0.50)"] * 2 + [row[9]]
    assert row[9] == "0.30 (0.30 to 0.30)"  # where the attack succeeded
    (row,) = rows_of(found, "Table 3", 1)
    assert row[:5] == ["trec", "LSTM-base", "1", "25.0 (25.0 to 25.0)", "54.40"]


def test_accuracy_is_that_of_the_whole_test_set_and_a_base_stands_once():
    runs = [
        run("LSTM-base (TextFooler)", accuracy=0.85),
        run("LSTM-base (PWWS)", accuracy=0.85),
        run("LSTM-FLAT (PWWS)", accuracy=0.84),
        run("LSTM-FLAT (PWWS)", accuracy=0.86, seed=1),
    ]
    page = page_of(*runs, table="2")
    assert rows_of(page, "Table 2") == [
        ["sst2", "LSTM-base", "1", "85.00", "84.40"],
        ["sst2", "LSTM-FLAT (PWWS)", "2", "85.00 ± 1.41", "83.69"],
    ]
    assert rows_of(page_of(*runs, table="7"), "Table 7")[0] == ["sst2", "LSTM-base", "1", "84.00", "85.21"]
    assert rows_of(page_of(*runs, table="1"), "Table 1") == [
        ["sst2", "2", "2", "19.0", "19", "6,920", "6,920", "872", "872", "1,821", "1,821"]
    ]


def test_other_tables_set_ours_beside_theirs():
    runs = [
        run(transferred("CNN", "FLAT", "genetic")),
        run(ablated(NO_BETA), accuracy=0.843),
        run(by_lime("LSTM-FLAT (TextFooler)")),
        run(grouped(20), dataset="ag_news", accuracy=0.9),
        run("LSTM-base (TextFooler)"),
    ]
    (four,) = rows_of(page_of(*runs, table="4"), "Table 4")
    assert four[:4] == ["sst2", "CNN-FLAT", "1", "80"]
    assert four[4:8] == ["–", "42.56", "25.0 (25.0 to 25.0)", "55.02"]
    (five,) = rows_of(page_of(*runs, table="5"), "Table 5")
    assert five == ["sst2", NO_BETA, "1", "84.30", "84.34", "25.0 (25.0 to 25.0)", "8.18"]
    (eight,) = rows_of(page_of(*runs, table="8"), "Table 8")
    assert eight[:5] == ["TextFooler", "sst2", "LSTM-FLAT", "1", "80"]
    assert eight[5:] == ["0.50 (0.50 to 0.50)", "0.39", "0.50 (0.50 to 0.50)", "0.69"]
    (ten,) = rows_of(page_of(*runs, table="10"), "Table 10")
    assert ten == ["ag_news", "20", "1", "90.00", "90.97", "25.0 (25.0 to 25.0)", "1.92"]
    (six,) = rows_of(page_of(*runs, figure="6"), "Figure 6")
    assert six[3:] == [f"{k / 10:.2f}" for k in range(1, 11)]


MIXED = np.resize([0.0, 1.0], TEXTS)


@pytest.mark.parametrize(
    ("claim", "one", "other", "column"),
    [
        ("fa-1", "LSTM-FLAT (PWWS)", "LSTM-adv (PWWS)", "after_attack"),
        ("fa-2", "LSTM-FLAT (PWWS)", "LSTM-base (PWWS)", "after_attack"),
        ("fa-3", "CNN-adv (TextFooler)", "CNN-base (TextFooler)", "after_attack"),
        ("fa-4", "LSTM-FLAT (PWWS)", "LSTM-adv (PWWS)", "tau"),
        ("fa-5", "LSTM-FLAT (PWWS)", "LSTM-base (PWWS)", "tau"),
        ("fa-6", "LSTM-FLAT (PWWS)", "LSTM-adv (PWWS)", "top_5"),
        ("fa-7", "LSTM-FLAT (PWWS)", "LSTM-base (PWWS)", "top_5"),
        (
            "fa-9",
            transferred("LSTM", "FLAT", "bae"),
            transferred("LSTM", "adv", "bae"),
            "after_attack",
        ),
        (
            "fa-10",
            transferred("LSTM", "FLAT", "bae"),
            transferred("LSTM", "base", "bae"),
            "after_attack",
        ),
        ("fa-11", model_name("LSTM", "FLAT", "textfooler"), ablated(NO_GAMMA), "after_attack"),
        ("fa-12", model_name("LSTM", "FLAT", "textfooler"), ablated(NO_BETA), "after_attack"),
        ("fa-17", by_lime("CNN-FLAT (PWWS)"), by_lime("CNN-adv (PWWS)"), "tau"),
    ],
)
def test_a_difference_holds_does_not_hold_or_is_undecided(claim, one, other, column):
    low, high = 0.2, 0.6
    assert word(claim, run(one, **{column: high}), run(other, **{column: low})) == "holds"
    assert word(claim, run(one, **{column: low}), run(other, **{column: high})) == "does not hold"
    assert word(claim, run(one, **{column: MIXED}), run(other, **{column: 0.5})) == "undecided"
    assert word(claim, run(one, **{column: high})) == "not measured"


def test_accuracy_is_kept_if_it_falls_by_little():
    one, base = "LSTM-FLAT (PWWS)", "LSTM-base (PWWS)"
    assert word("fa-8", run(one), run(base)) == "holds"
    kept = run(one)
    lower = kept.frames["robustness"].with_columns(accuracy=np.repeat([0.0, 1.0], [20, TEXTS - 20]))
    fallen = replace(kept, frames={**kept.frames, "robustness": lower})
    assert word("fa-8", fallen, run(base)) == "does not hold"


def counts(importance: np.ndarray, frequency: np.ndarray, substitutions: np.ndarray) -> WordCounts:
    return WordCounts([f"w{i}" for i in range(len(importance))], importance, frequency, substitutions)


RANDOM = np.random.default_rng(0)
WORDS = 500
NOISE = RANDOM.uniform(size=WORDS)


@pytest.mark.parametrize(
    ("masks", "said"),
    [
        (0.97 + 0.02 * NOISE, "holds"),
        (0.5 + 0.1 * NOISE, "does not hold"),
        (np.where(NOISE < 0.2, 0.5, 1.0), "undecided"),
    ],
)
def test_masks_close_to_one_without_beta(monkeypatch, masks, said):
    ones = np.ones(WORDS, dtype=np.int64)
    monkeypatch.setattr(claim_samples, "word_counts", lambda run: counts(masks, ones, ones))
    assert word("fa-13", run(ablated(NO_BETA))) == said
    assert word("fa-13", run(model_name("LSTM", "FLAT", "textfooler"))) == "not measured"


@pytest.mark.parametrize(("shift", "said"), [(-0.1, "holds"), (0.1, "does not hold"), (0.0, "undecided")])
def test_gamma_narrows_the_gap_word_by_word(monkeypatch, shift, said):
    gaps = {
        ablated(NO_GAMMA): 0.3 + 0.2 * NOISE,
        model_name("LSTM", "FLAT", "textfooler"): 0.3 + 0.2 * RANDOM.permutation(NOISE) + shift,
    }
    monkeypatch.setattr(claim_samples, "synonym_gaps", lambda run: gaps[run.model])
    assert word("fa-14", *map(run, gaps)) == said
    assert word("fa-14", run(ablated(NO_GAMMA))) == "not measured"


@pytest.mark.parametrize(
    ("importance", "said"), [(NOISE, "holds"), (np.arange(WORDS) / WORDS, "does not hold")]
)
def test_importance_and_frequency(monkeypatch, importance, said):
    seen = np.arange(1, WORDS + 1)
    monkeypatch.setattr(claim_samples, "word_counts", lambda run: counts(importance, seen, seen))
    assert word("fa-15", run("LSTM-FLAT (PWWS)")) == said
    assert word("fa-16", run("LSTM-FLAT (PWWS)")) == said


def test_correlations_with_substitutions_are_over_words_that_were_replaced(monkeypatch):
    importance = np.array([0.1, 0.2, 0.3, 0.9, 0.5])
    found = counts(importance, np.array([1, 2, 3, 4, 0]), np.array([3, 2, 1, 0, 0]))
    pairs = correlations(found)
    assert pairs["importance, frequency"].words == 4  # the last word is in no attacked text
    assert pairs["importance, substitutions"].words == 3
    assert pairs["importance, substitutions"].r == pytest.approx(-1.0)
    assert pairs["importance, frequency"].r == pytest.approx(np.corrcoef(importance[:4], [1, 2, 3, 4])[0, 1])
    monkeypatch.setattr(word_tables, "word_counts", lambda run: found)
    page = page_of(run("LSTM-FLAT (TextFooler)"), table="9")
    assert rows_of(page, "Table 9")[1][3:6] == ["importance, substitutions", "-1.000", "0.087"]


def test_every_claim_that_is_not_measured_says_how():
    text = markdown(page_of(table="3"))
    for claim in FLAT.claims:
        assert f"- {claim.id} ({'ours)' if claim.source == 'ours' else 'section'}" in text
    assert text.count("is not measured: heedful reproduce flat --") == len(FLAT.claims) >= 8
    assert "fa-9 (section 6, Table 4) is not measured: heedful reproduce flat --table 4" in text


def test_every_encoder_has_numbers_of_the_paper_beside_it():
    for encoder in ENCODERS.values():
        assert f"{encoder.printed}-base" in published("flat")["table_2"]


def test_attention_under_attack_counts_successful_attacks_alone():
    base, still = attentive("base"), attentive("steady")
    won = pl.Series("status", ["successful", "skipped"] * (TEXTS // 2))

    def with_attention(model: str, jsd: float, sharp: float = 0.2) -> MeasuredRun:
        found = run(model)
        moved = pl.Series("jsd", [jsd, 0.0] * (TEXTS // 2))
        columns = [
            won,
            moved,
            pl.Series("sharpness", [sharp] * TEXTS),
            pl.Series("sharpness_after", [sharp / 2] * TEXTS),
        ]
        consistency = found.frames["consistency"].with_columns(columns)
        return replace(found, frames={**found.frames, "consistency": consistency})

    runs = with_attention(base, 0.4), with_attention(still, 0.1)
    rows = rows_of(page_of(*runs, table="11"), "Table 11")
    assert [row[:3] for row in rows] == [
        ["sst2", "BiLSTM-base", "any words"],
        ["sst2", "BiLSTM-steady", "any words"],
    ]
    assert [row[6].split(" ")[0] for row in rows] == ["0.400", "0.100"]
    assert [row[7].split(" ")[0] for row in rows] == ["1.333", "0.333"]
    assert word("fa-18", *runs) == "holds" and word("fa-19", *runs) == "not measured"
    flatter = with_attention(still, 0.3, sharp=0.1)
    assert word("fa-18", with_attention(base, 0.4), flatter) == "does not hold"
