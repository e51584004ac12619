"""Other explainers in attention's place: the same texts, the same rules, none judged by agreement with itself."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from heedful.audits.audit import AUDITS
from heedful.audits.policy import Rule
from heedful.audits.questions import rationale
from heedful.audits.running import compare_explainers as comparison
from heedful.audits.running.alternatives import Alternatives, measured_file, share_of_range
from heedful.audits.running.compare_explainers import EXPLAINERS, compare_explainers
from heedful.audits.running.result import read_frame
from heedful.audits.running.run import audit
from heedful.config import AuditOptions
from heedful.declared import complete

WORDS = ("a", "fine", "film", "dull", "plot", "is", "warm", "funny", "old", "jokes", "thin")
SHARP = {"measure": "sharpness.sharpness", "show": 0.02, "forbid": 0.001, "reason": "flat"}
NEEDED = {"measure": "rationale.comprehensiveness", "show": 0.5, "forbid": -1.0, "reason": "needed"}
ENOUGH = {"measure": "rationale.sufficiency", "show": 0.0, "forbid": 1.0, "reason": "enough"}
GAIN = {"measure": "infidelity.fidelity_gain", "show": 0.5, "forbid": -1.0, "reason": "foretold"}
NOT_COMPARED = {
    "counterfactual.replaceable": "it asks about attention itself",
    "embedding_stability.relative_jsd": "it takes too long for a comparison",
    "agreement.tau_loo_top": "it would compare an explainer with itself",
    "agreement.tau_g": "it would compare an explainer with itself",
    "rationale.first_share": "it would compare an explainer with itself",
    "flip_set.gradient_beats_attention": "it is not measured text by text",
}


@pytest.fixture
def texts(tmp_path) -> str:
    rng = np.random.default_rng(0)
    rows = [" ".join(rng.choice(WORDS, 3 + i % 8)) for i in range(40)]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows))
    return str(path)


@pytest.fixture
def policy(tmp_path):
    def make(*rules: dict[str, object]) -> Path:
        path = tmp_path / "mine.yaml"
        path.write_text(
            yaml.safe_dump({"version": 2, "name": "mine", "least_texts": 1, "rules": [SHARP, *rules]})
        )
        return path

    return make


def numbers(found: Alternatives) -> dict[str, list[float]]:
    return {c.source: [j.number.estimate for j in c.judgements] for c in found.columns}  # type: ignore[union-attr,misc]


def test_every_column_has_the_same_rules_and_the_same_texts(toy_classifier, texts, policy) -> None:
    model, rules = toy_classifier(), policy(NEEDED, ENOUGH, GAIN)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    assert [column.source for column in found.columns] == ["attention", *EXPLAINERS]
    asked = [[j.rule.measure for j in column.judgements] for column in found.columns]
    assert (
        asked
        == [
            [
                "sharpness.sharpness",
                "rationale.comprehensiveness",
                "rationale.sufficiency",
                "infidelity.fidelity_gain",
            ]
        ]
        * 4
    )
    counted = [[j.number.count for j in column.judgements] for column in found.columns]  # type: ignore[union-attr]
    assert counted == [counted[0]] * 4
    assert (found.texts, found.of, found.left_out) == (40, 40, {})


def test_a_rule_that_only_asks_for_a_caveat_is_compared_too(toy_classifier, texts, policy) -> None:
    caveat = {key: value for key, value in ENOUGH.items() if key != "forbid"}
    model, rules = toy_classifier(), policy(NEEDED, caveat)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    assert "rationale.sufficiency" in [j.rule.measure for j in found.attention.judgements]


def test_one_best_is_the_yardstick_of_all_columns(
    toy_classifier, texts, policy, tmp_path, monkeypatch
) -> None:
    share = "rationale.comprehensiveness_share"
    model, rules = toy_classifier(), policy({**NEEDED, "measure": share})
    monkeypatch.setattr(rationale, "LEAST", 1e-5)  # an untrained model loses little
    found = audit(model, texts, policy=rules, permutations=5, folder=tmp_path / "kept")
    assert compare_explainers(found, model, texts, policy=rules) is not None
    columns = [
        read_frame(measured_file(tmp_path / "kept", s))[share].to_numpy() for s in ("attention", *EXPLAINERS)
    ]
    defined = np.isfinite(columns[0])
    assert defined.any() and all((np.isfinite(column) == defined).all() for column in columns)
    # On every text one of them is the best, and none is better than that.
    assert np.max([column[defined] for column in columns], axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("source", EXPLAINERS)
def test_a_column_is_what_an_audit_of_that_explainer_finds(toy_classifier, texts, policy, source) -> None:
    model, rules = toy_classifier(), policy(NEEDED, ENOUGH)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    alone = audit(model, texts, policy=rules, source=source, only=["rationale"])
    expected = [
        alone.summaries[rule["measure"].split(".")[0]].number(rule["measure"].split(".")[1]).estimate
        for rule in (SHARP, NEEDED, ENOUGH)
    ]
    assert numbers(found)[source] == pytest.approx(expected, abs=1e-6)


def test_the_gain_over_attention_is_the_mean_over_rules_of_the_paired_difference(
    toy_classifier, texts, policy
) -> None:
    model, rules = toy_classifier(), policy(NEEDED, ENOUGH)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    for column in found.columns[1:]:
        # Comprehensiveness lies between −1 and 1, higher is better; sufficiency too, and lower is better.
        (_, needed, enough), (_, own_needed, own_enough) = (
            numbers(found)[column.source],
            numbers(found)["attention"],
        )
        assert column.gain is not None
        assert column.gain.estimate == pytest.approx(
            ((needed - own_needed) / 2 - (enough - own_enough) / 2) / 2
        )
    assert found.attention.gain is None


def test_a_text_that_one_cannot_tell_of_is_left_out_for_all() -> None:
    nan = math.nan
    frames = {
        "attention": pl.DataFrame({"a.x": [0.1, nan, 0.3, 0.4], "a.y": [1.0, 2.0, 3.0, 4.0]}),
        "gradient": pl.DataFrame({"a.x": [0.5, 0.6, 0.7, nan], "a.y": [1.0, 2.0, nan, 4.0]}),
    }
    rule = Rule(measure="rationale.comprehensiveness", show=0.5, reason="")
    rules = [rule.model_copy(update={"measure": name}) for name in ("a.x", "a.y")]
    same = comparison._of_the_same_texts(frames, rules)
    assert same["attention"]["a.x"].is_nan().to_list() == [False, True, False, True]
    assert same["gradient"]["a.x"].is_nan().to_list() == [False, True, False, True]
    assert same["attention"]["a.y"].drop_nans().to_list() == [1.0, 2.0, 4.0]
    assert frames["attention"]["a.x"].to_list()[3] == 0.4  # what was measured stays


def test_rules_that_cannot_be_asked_of_all_are_left_out_for_all(toy_classifier, texts, policy) -> None:
    extreme = [
        {
            "measure": name,
            "show": about.high if about.better == "higher" else about.low,
            "reason": "x",
            "forbid": about.low if about.better == "higher" else about.high,
        }
        for name in NOT_COMPARED
        for about in [AUDITS.get(name.split(".")[0]).measures[name.split(".")[1]]]
    ]
    model, rules = toy_classifier(), policy(NEEDED, *extreme)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    assert found.left_out == NOT_COMPARED
    for column in found.columns:
        assert [j.rule.measure for j in column.judgements] == [
            "sharpness.sharpness",
            "rationale.comprehensiveness",
        ]


def test_no_explainer_is_compared_with_itself() -> None:
    """Leave-one-out agrees with itself by τ = 1: a rule on that would always be passed."""
    options = complete(AuditOptions)()
    for number, source in (
        ("tau_loo", "leave_one_out"),
        ("tau_loo_top", "leave_one_out"),
        ("tau_g", "gradient"),
        ("tau_g_significant", "gradient"),
    ):
        rule = Rule(measure=f"agreement.{number}", show=0.5, forbid=0.1, reason="")
        assert comparison._with_itself(AUDITS.get("agreement")(options, source=source), rule)
        assert not comparison._with_itself(AUDITS.get("agreement")(options, source="attention"), rule)


@pytest.mark.parametrize(
    "rule", [[], [{"measure": "permutation.indifferent", "show": 0.1, "forbid": 0.9, "reason": "x"}]]
)
def test_nothing_is_compared_where_only_sharpness_could_be(toy_classifier, texts, policy, rule) -> None:
    model, rules = toy_classifier(), policy(*rule)
    result = audit(model, texts, policy=rules, permutations=5)
    assert compare_explainers(result, model, texts, policy=rules) is None


def test_one_seeded_sample_for_all(toy_classifier, texts, policy, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(comparison, "TEXTS", 7)
    model, rules = toy_classifier(), policy(NEEDED)
    drawn = []
    for seed in (0, 0, 1):
        folder = tmp_path / f"{seed}-{len(drawn)}"
        result = audit(model, texts, policy=rules, folder=folder, permutations=5, seed=seed)
        found = compare_explainers(result, model, texts, policy=rules, permutations=5, seed=seed)
        assert found is not None
        assert (found.texts, found.of) == (7, 40)
        rows = [
            pl.read_parquet(folder / "alternatives" / f"{name}.parquet")["row"].to_list()
            for name in ("attention", *EXPLAINERS)
        ]
        assert rows == [rows[0]] * 4
        drawn.append((rows[0], numbers(found)))
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[2][0]


def test_numbers_do_not_depend_on_the_batch(toy_classifier, texts, policy) -> None:
    model, rules = toy_classifier(), policy(NEEDED, ENOUGH, GAIN)
    one, many = (
        compare_explainers(
            audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules, batch_size=size
        )
        for size in (1, 64)
    )
    assert one is not None and many is not None
    for source, found in numbers(one).items():
        assert found == pytest.approx(numbers(many)[source], abs=1e-6)


def test_it_is_kept_and_not_measured_again(toy_classifier, texts, policy, tmp_path, monkeypatch) -> None:
    model, rules, measure = toy_classifier(), policy(NEEDED), comparison._measure
    result = audit(model, texts, policy=rules, folder=tmp_path / "audit", permutations=5)
    first = compare_explainers(result, model, texts, policy=rules, permutations=5)
    assert first == Alternatives.read(tmp_path / "audit")
    scores = pl.read_parquet(tmp_path / "audit" / "alternatives" / "gradient.parquet")
    assert scores["scores"].list.len().to_list() == result.frames["predictions"]["items"].to_list()
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "_measure", lambda *_: pytest.fail("it was measured before"))
        assert compare_explainers(result, model, texts, policy=rules, permutations=5) == first
        # Other thresholds on what is there need no measuring either.
        stricter = policy(NEEDED | {"show": 0.9})
        again = compare_explainers(result, model, texts, policy=stricter, permutations=5)
        assert again is not None
        assert numbers(again) == numbers(first)  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        asked = []
        patch.setattr(AUDITS.get("rationale"), "revision", 1_000)
        patch.setattr(comparison, "_measure", lambda *given: asked.append(given) or measure(*given))
        compare_explainers(result, model, texts, policy=policy(NEEDED), permutations=5)
        assert len(asked) == 1  # what its numbers mean has changed
    (tmp_path / "audit" / "alternatives" / "gradient.parquet").write_bytes(b"PAR1")
    assert compare_explainers(result, model, texts, policy=policy(NEEDED), permutations=5) == first


def test_where_a_number_lies_from_worst_to_best() -> None:
    higher = Rule(measure="rationale.comprehensiveness", show=0.5, reason="")  # −1 to 1
    lower = Rule(measure="rationale.sufficiency", show=0.5, reason="")
    assert (
        share_of_range(higher, 1.0),
        share_of_range(higher, 0.0),
        share_of_range(lower, 1.0),
        share_of_range(lower, -1.0),
    ) == (1, 0.5, 0, 1)


@pytest.mark.parametrize(
    "shape", [{"hierarchical": True, "encoder": "bigru"}, {"heads": 2, "encoder": "average"}, {"classes": 3}]
)
def test_models_of_every_shape(toy_classifier, texts, policy, shape) -> None:
    rows = Path(texts)
    rows.write_text(
        "".join(
            json.dumps({"text": f"{json.loads(line)['text']}. It is old."}) + "\n"
            for line in rows.read_text().splitlines()
        )
    )
    model, rules = toy_classifier(**shape), policy(NEEDED)
    found = compare_explainers(audit(model, texts, policy=rules, permutations=5), model, texts, policy=rules)
    assert found is not None
    assert all(number is not None for column in numbers(found).values() for number in column)
