"""What a policy makes of numbers, and which policies are refused."""

from __future__ import annotations

import polars as pl
import pytest
import torch
import yaml

import heedful
from heedful.audits.audit import AUDITS, Number, Summary
from heedful.audits.policy import DEFAULT, Policy, Rule, judge, read_policy
from heedful.errors import BadInput

NAMES = (
    "sharpness", "agreement", "certificate", "counterfactual", "embedding_stability", "flip_set", "permutation", "rationale",
    "single_erasure",
)  # fmt: skip
LOW = {"measure": "counterfactual.replaceable", "show": 0.1, "forbid": 0.5, "reason": "because"}
HIGH = {"measure": "agreement.tau_loo", "show": 0.6, "forbid": 0.2, "reason": "because"}


def number(name, low, high, count=100):
    return Number(name=name, estimate=(low + high) / 2, low=low, high=high, std=0.1, count=count, missing=0)


def summaries(**of_measure):
    """Summaries in which every number of the default policy passes, but for those that are given."""
    found = {}
    for rule in read_policy().rules:
        good = {"higher": rule.about.high, "lower": rule.about.low}[rule.about.better]
        low, high = of_measure.get(rule.number, (good, good))
        found.setdefault(rule.audit, []).append(number(rule.number, low, high))
    return {
        name: Summary(
            audit=name,
            question="?",
            finding=f"found by {name}",
            numbers=tuple(numbers),
            caveats=(),
            instances=100,
        )
        for name, numbers in found.items()
    }


def rule_of(audit):
    return next(rule for rule in read_policy().rules if rule.audit == audit)


def unclear(audit):
    """Numbers of an audit that neither pass nor fail, whatever the thresholds of the default are."""
    rule = rule_of(audit)
    return {rule.number: (rule.show, rule.forbid)}


def failing(audit):
    rule = rule_of(audit)
    worst = {"higher": rule.about.low, "lower": rule.about.high}[rule.about.better]
    return {rule.number: (worst, worst)}


@pytest.mark.parametrize(
    ("rule", "low", "high", "outcome"),
    [
        (LOW, 0.02, 0.1, "good"),
        (LOW, 0.02, 0.11, "unclear"),
        (LOW, 0.2, 0.4, "unclear"),
        (LOW, 0.5, 0.9, "unclear"),
        (LOW, 0.51, 0.9, "bad"),
        (HIGH, 0.6, 0.7, "good"),
        (HIGH, 0.59, 0.9, "unclear"),
        (HIGH, -0.1, 0.2, "unclear"),
        (HIGH, -0.1, 0.19, "bad"),
    ],
)
def test_the_whole_interval_must_pass_or_fail(rule, low, high, outcome):
    found = Rule(**rule)
    assert found.judge(number(found.number, low, high), least_texts=30) == outcome


def test_few_texts_are_unclear_and_none_are_not_measured():
    rule = Rule(**LOW)
    for value in (0.0, 0.9):
        assert rule.judge(number("replaceable", value, value, count=29), least_texts=30) == "unclear"
    assert rule.judge(number("replaceable", 0.0, 0.0, count=30), least_texts=30) == "good"
    nothing = Number(name="replaceable", estimate=None, low=None, high=None, std=None, count=0, missing=5)
    assert rule.judge(nothing, least_texts=30) == "not measured"
    assert rule.judge(None, least_texts=30) == "not measured"


def test_everything_must_pass_to_show():
    policy = read_policy()
    verdict = judge(policy, summaries())
    assert str(verdict) == "show"
    assert 1 <= len(verdict.because) <= 3
    assert {j.outcome for j in verdict.judgements} == {"good"}


def test_one_unclear_number_calls_for_a_caveat_and_says_which():
    verdict = judge(read_policy(), summaries(**unclear("counterfactual")))
    assert str(verdict) == "show with caveat"
    assert verdict.because == ("found by counterfactual",)
    assert verdict.judgements[0].rule == rule_of("counterfactual")


def test_one_clear_failure_forbids_whatever_else_is_unclear():
    verdict = judge(read_policy(), summaries(**unclear("counterfactual"), **failing("permutation")))
    assert str(verdict) == "do not show"
    assert verdict.because == ("found by permutation",)


def test_what_was_not_asked_is_not_passed():
    few = summaries()
    del few["flip_set"], few["agreement"]
    verdict = judge(read_policy(), few)
    assert str(verdict) == "show with caveat"
    assert "flip_set was not measured (heedful audit --only flip_set)." in verdict.because


def test_what_was_asked_without_an_answer_is_not_said_to_be_unasked():
    found = summaries()
    nothing = Number(name="gradient_beats_attention", estimate=None, low=None, high=None, std=None, count=0, missing=0)  # fmt: skip
    found["flip_set"] = found["flip_set"].model_copy(update={"numbers": (nothing,)})
    verdict = judge(read_policy(), found)
    assert str(verdict) == "show with caveat"
    assert verdict.because[0].startswith("flip_set could not tell the share of texts")


@pytest.mark.parametrize("values", [{"sharpness": (0.0, 0.001)}, {"sharpness": (0.03, 0.06)}, {"flat": (0.9, 1.0)}])  # fmt: skip
def test_flat_attention_is_never_shown(values):
    assert str(judge(read_policy(), summaries(**values))) != "show"


def test_a_flat_model_is_never_shown(model, many_texts, tmp_path):
    classifier = model(encoder="average")
    torch.nn.init.zeros_(classifier.model.attention.similarity.vector)
    found = heedful.audit(classifier, many_texts, progress=False, only=["sharpness"])
    assert found.summaries["sharpness"].number("flat").estimate == 1.0
    verdict = judge(read_policy(), summaries() | found.summaries)
    assert str(verdict) == "do not show"
    # Nor by a policy that forgets to ask.
    lenient = write(tmp_path, {"version": 1, "name": "mine", "rules": [LOW]})
    assert str(judge(read_policy(lenient), summaries() | found.summaries)) == "do not show"


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_flat_scores_are_never_shown_however_sharp_attention_is(model, many_texts, value):
    classifier = model(encoder="average")
    texts = pl.read_csv(many_texts)["text"].to_list()
    scores = [[value] * len(p.items) for p in heedful.explain(classifier, texts, "attention")]
    found = heedful.audit(classifier, many_texts, scores=scores, progress=False, only=["sharpness"])
    rows = found.to_frame("sharpness")
    assert rows["sharpness"].to_list() == pytest.approx([0] * len(rows), abs=1e-12)
    assert rows["largest_weight"].to_list() == pytest.approx((1 / rows["items"]).to_list())
    assert found.summaries["sharpness"].number("flat").estimate == 1.0
    assert str(judge(read_policy(), summaries() | found.summaries, source="own")) == "do not show"


def test_only_some_audits_never_show(model, many_texts):
    for name in NAMES:
        found = heedful.audit(model(encoder="average"), many_texts, progress=False, only=[name])
        assert set(found.summaries) == {"sharpness", name}
        assert str(found.verdict) != "show"


def test_rules_about_weights_are_not_asked_of_other_scores():
    verdict = judge(read_policy(), summaries(), source="gradient")
    assert {j.rule.audit for j in verdict.judgements} == {a for a in AUDITS if not AUDITS.get(a).of_weights}
    nothing = judge(Policy(version=1, name="mine", rules=(Rule(**LOW),)), summaries(), source="gradient")
    assert str(nothing) == "show with caveat"
    assert "No rule of the policy" in nothing.because[0]


def test_the_default_gives_a_reason_for_every_rule():
    policy = read_policy()
    assert policy.version == 1
    assert all(len(rule.reason) > 40 for rule in policy.rules)
    asked = {rule.audit for rule in policy.rules}
    assert asked == set(AUDITS)
    named = {rule.audit for rule in policy.rules if AUDITS.get(rule.audit).costly}
    assert all(rule.optional for rule in policy.rules if rule.audit in named)


def test_an_optional_rule_counts_only_where_it_was_measured():
    low = {**LOW, "measure": "counterfactual.needless"}
    rule = Rule(**low, optional=True)
    other = Rule(**{**LOW, "measure": "sharpness.sharpness", "show": 0.0, "forbid": 0.0})
    policy = Policy(version=1, name="mine", rules=(rule, other))
    found = summaries()
    without = {name: summary for name, summary in found.items() if name != rule.audit}
    assert rule.measure in {j.rule.measure for j in judge(policy, found).judgements}
    assert rule.measure not in {j.rule.measure for j in judge(policy, without).judgements}
    strict = Policy(version=1, name="mine", rules=(Rule(**low), other))
    assert str(judge(strict, without)) == "show with caveat"


def write(folder, content):
    path = folder / "policy.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return path


def test_a_copy_of_the_default_is_the_default(tmp_path):
    assert read_policy(write(tmp_path, DEFAULT.read_text(encoding="utf-8"))) == read_policy()


GOOD = {"version": 1, "name": "mine", "rules": [LOW]}
BAD = {
    "unknown key": (GOOD | {"naem": "x"}, "unknown key naem: did you mean name"),
    "unknown key of a rule": (GOOD | {"rules": [LOW | {"shwo": 1}]}, "unknown key rules.1.shwo: did you mean show"),
    "unknown measure": (GOOD | {"rules": [LOW | {"measure": "counterfactual.replacable"}]}, "did you mean counterfactual.replaceable"),
    "unknown audit": (GOOD | {"rules": [LOW | {"measure": "counterfactul.replaceable"}]}, "did you mean counterfactual.replaceable"),
    "measure without a good side": (GOOD | {"rules": [LOW | {"measure": "agreement.tau_g_loo"}]}, "no measure 'agreement.tau_g_loo' to judge by"),
    "threshold too high": (GOOD | {"rules": [LOW | {"forbid": 1.5}]}, "forbid of counterfactual.replaceable in .* is 1.5, and must lie between 0 and 1"),
    "threshold too low": (GOOD | {"rules": [HIGH | {"forbid": -1.5}]}, "must lie between -1 and 1"),
    "JSD beyond ln 2": (GOOD | {"rules": [LOW | {"measure": "counterfactual.eps_max_jsd", "forbid": 0.7}]}, "between 0 and 0.6931"),
    "no number": (GOOD | {"rules": [LOW | {"show": "much"}]}, "rules.1.show in .* cannot be 'much'"),
    "not a number": (GOOD | {"rules": [LOW | {"show": float("nan")}]}, "rules.1.show in .* cannot be nan"),
    "show laxer than forbid": (GOOD | {"rules": [LOW | {"show": 0.6}]}, "asks for less than forbid"),
    "no reason": (GOOD | {"rules": [{k: v for k, v in LOW.items() if k != "reason"}]}, "lacks rules.1.reason"),
    "version": (GOOD | {"version": 2}, "is of version 2, and this heedful reads version 1"),
    "no version": ({"name": "mine", "rules": [LOW]}, "lacks version"),
    "no rules": (GOOD | {"rules": []}, "has no rules"),
    "rules not a list": (GOOD | {"rules": "none"}, "rules in .* cannot be 'none'"),
    "least texts": (GOOD | {"least_texts": 0}, "least_texts in .* cannot be 0"),
    "a list": ([LOW], "must hold version, name and rules"),
    "nothing": ("", "must hold version, name and rules"),
    "not YAML": ("rules: [\n", "cannot be read as YAML"),
    "numbers as keys": ({1: 2}, "has a key that is not a word"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_a_bad_policy_is_refused_in_one_sentence(tmp_path, content, said):
    with pytest.raises(BadInput, match=said) as refused:
        read_policy(write(tmp_path, content))
    assert "\n" not in str(refused.value)


def test_a_policy_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match="There is no policy"):
        read_policy(tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_policy(tmp_path)
