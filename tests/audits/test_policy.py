"""What a policy makes of numbers, and which policies are refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

import heedful
from heedful.audits.audit import AUDITS, Number, Summary
from heedful.audits.policy import POLICIES, Policy, Rule, read_policy
from heedful.audits.verdict import EXIT_CODES, judge_findings
from heedful.errors import BadInput
from heedful.measures.intervals import bootstrap_interval

NAMES = (
    "sharpness",
    "agreement",
    "certificate",
    "counterfactual",
    "embedding_stability",
    "flip_set",
    "permutation",
    "rationale",
    "single_erasure",
)
LOW = {"measure": "counterfactual.replaceable", "show": 0.1, "forbid": 0.5, "reason": "because"}
HIGH = {"measure": "agreement.tau_loo", "show": 0.6, "forbid": 0.2, "reason": "because"}


CAVEAT = {"measure": "agreement.tau_loo", "show": 0.6, "reason": "because"}
MINE = Policy(version=2, name="mine", least_texts=100, rules=(Rule(**LOW), Rule(**HIGH)))


def number(name, low, high, count=100, bound=None):
    middle = (low + high) / 2
    return Number(
        name=name, estimate=middle, low=low, high=high, std=0.1, count=count, missing=0, bound=bound
    )


def summary(name, *numbers):
    return Summary(
        audit=name, question="?", finding=f"found by {name}", numbers=numbers, caveats=(), instances=100
    )


def summaries(policy=None, count=100, **of_measure):
    """Summaries in which every number of a policy passes, but for those that are given."""
    found = {}
    for rule in (policy or read_policy()).rules:
        good = {"higher": rule.about.high, "lower": rule.about.low}[rule.about.better]
        low, high = of_measure.get(rule.number, (good, good))
        found.setdefault(rule.audit, []).append(number(rule.number, low, high, count))
    return {name: summary(name, *numbers) for name, numbers in found.items()}


def asked(policy, **of_measure):
    return judge_findings(policy, summaries(policy, **of_measure))


@pytest.mark.parametrize(
    ("rule", "low", "high", "outcome"),
    [
        (LOW, 0.02, 0.1, "good"),
        (LOW, 0.02, 0.11, "unclear"),
        (LOW, 0.2, 0.4, "unclear"),
        (LOW, 0.4, 0.5, "unclear"),
        (LOW, 0.4, 0.51, "open"),
        (LOW, 0.5, 0.9, "open"),
        (LOW, 0.05, 0.9, "open"),
        (LOW, 0.51, 0.9, "bad"),
        (HIGH, 0.6, 0.7, "good"),
        (HIGH, 0.59, 0.9, "unclear"),
        (HIGH, 0.2, 0.3, "unclear"),
        (HIGH, 0.19, 0.3, "open"),
        (HIGH, -0.1, 0.2, "open"),
        (HIGH, -0.1, 0.19, "bad"),
        (CAVEAT, 0.6, 0.7, "good"),
        (CAVEAT, 0.59, 0.7, "unclear"),
        (CAVEAT, -1.0, -1.0, "unclear"),
    ],
)
def test_the_whole_interval_must_pass_or_fail(rule, low, high, outcome):
    found = Rule(**rule)
    assert found.judge(number(found.number, low, high), least_texts=30) == outcome


@pytest.mark.parametrize(
    ("rule", "low", "high", "outcome"),
    [(LOW, 0.0, 0.05, "open"), (LOW, 0.6, 0.7, "bad"), (HIGH, 0.7, 0.8, "good"), (HIGH, 0.0, 0.1, "open")],
)
def test_a_lower_bound_forbids_and_does_not_pass_where_high_is_bad(rule, low, high, outcome):
    found = Rule(**rule)
    assert found.judge(number(found.number, low, high, bound="lower"), least_texts=30) == outcome


def test_no_number_of_texts_makes_a_bound_certain_and_texts_without_an_answer_count():
    bound = {
        "counterfactual": summary("counterfactual", number("replaceable", 0.0, 0.05, 5000, bound="lower"))
    }
    verdict = judge_findings(Policy(version=2, name="mine", rules=(Rule(**LOW),)), bound)
    assert str(verdict) == "not enough evidence" and verdict.judgements[0].lacking == 0
    assert "It is a bound" in verdict.because[0]
    # Of 100 texts 10 have an answer: to have 30 takes 200 more.
    rare = number("replaceable", 0.2, 0.2, 10).model_copy(update={"missing": 90})
    assert Rule(**LOW).missing_texts(rare, least_texts=30) == 200


def test_an_optional_rule_that_was_asked_of_too_few_texts_is_no_leave_to_show():
    rules = (Rule(**HIGH), Rule(**LOW, optional=True))
    policy = Policy(version=1, name="mine", least_texts=100, rules=rules)
    found = summaries(policy, replaceable=(0.9, 0.9))
    assert str(judge_findings(policy, found)) == "do not show"
    few = {"counterfactual": summary("counterfactual", number("replaceable", 0.9, 0.9, 40))}
    assert str(judge_findings(policy, found | few)) == "not enough evidence"


def test_few_texts_tell_nothing_and_none_are_not_measured():
    rule = Rule(**LOW)
    for value in (0.0, 0.9):
        assert rule.judge(number("replaceable", value, value, count=29), least_texts=30) == "too few"
    assert rule.judge(number("replaceable", 0.0, 0.0, count=30), least_texts=30) == "good"
    nothing = Number(name="replaceable", estimate=None, low=None, high=None, std=None, count=0, missing=5)
    assert rule.judge(nothing, least_texts=30) == "not measured"
    assert rule.judge(None, least_texts=30) == "not measured"


def test_everything_must_pass_to_show():
    verdict = asked(MINE)
    assert str(verdict) == "show" and verdict.exit_code == 0
    assert 1 <= len(verdict.because) <= 3
    assert {j.outcome for j in verdict.judgements} == {"good"}


def test_one_number_between_the_thresholds_calls_for_a_caveat_and_says_which():
    verdict = asked(MINE, tau_loo=(0.3, 0.5))
    assert str(verdict) == "show with caveat" and verdict.exit_code == 0
    assert verdict.because == ("found by agreement",)
    assert verdict.judgements[0].rule.measure == "agreement.tau_loo"


def test_a_rule_that_cannot_forbid_asks_for_a_caveat_at_most_also_where_it_was_not_asked():
    policy = MINE.model_copy(update={"rules": (Rule(**LOW), Rule(**CAVEAT))})
    assert str(asked(policy, tau_loo=(-1.0, -1.0))) == "show with caveat"
    found = summaries(policy)
    del found["agreement"]
    assert str(judge_findings(policy, found)) == "show with caveat"


def test_one_clear_failure_forbids_whatever_else_is_not_told():
    verdict = asked(MINE, tau_loo=(-0.5, 0.9), replaceable=(0.6, 0.7))
    assert str(verdict) == "do not show" and verdict.exit_code == 1
    assert verdict.because == ("found by counterfactual",)


def test_an_interval_across_the_line_that_forbids_is_not_enough_evidence_and_says_how_many_texts_would_be():
    verdict = asked(MINE, replaceable=(0.4, 0.56))
    assert str(verdict) == "not enough evidence" and verdict.exit_code == 3
    # Half the width is .08 and the estimate .02 away: sixteen times as many texts as the hundred there are.
    assert verdict.judgements[0].lacking == 1500
    assert "about 1,500 more would" in verdict.because[0]


def test_what_decides_and_was_not_asked_leaves_no_verdict():
    few = summaries(MINE)
    del few["agreement"]
    verdict = judge_findings(MINE, few)
    assert str(verdict) == "not enough evidence"
    assert verdict.because == ("agreement was not measured (heedful audit RUN --only agreement).",)


def test_what_was_asked_without_an_answer_is_not_said_to_be_unasked():
    nothing = Number(name="tau_loo", estimate=None, low=None, high=None, std=None, count=0, missing=0)
    found = summaries(MINE) | {"agreement": summary("agreement", nothing)}
    verdict = judge_findings(MINE, found)
    assert str(verdict) == "not enough evidence"
    assert verdict.because[0].startswith(
        "agreement was asked, and for no text is there an answer to “Kendall"
    )


def test_findings_of_some_questions_are_no_verdict():
    verdict = judge_findings(MINE, summaries(MINE, replaceable=(0.9, 0.9)), partial=True)
    assert str(verdict) == "not enough evidence" and verdict.partial
    assert verdict.because == ("found by counterfactual",)


SEVERITY = {"show": 0, "show with caveat": 1, "not enough evidence": 2, "do not show": 2}
"""Neither of the last two lets a heatmap pass: without evidence there is no leave to show it."""


@given(
    st.floats(0, 1),
    st.integers(0, 2**31 - 1),
    st.sampled_from([3, 40, 99, 100, 150, 300]),
    st.sampled_from([0.02, 0.3]),
)
def test_a_verdict_never_gets_milder_with_fewer_texts(mean, seed, few, spread):
    """All 600 texts of a model that is clearly on one side of a line, against a sample of them."""
    rng = np.random.default_rng(seed)
    values = np.clip(rng.normal(mean, spread, 600), -1, 1)
    rule = Rule(**HIGH)
    # At the very line a sample is a coin toss: the property is about models that all their texts tell.
    assume(
        min(abs(values.mean() - rule.show), abs(values.mean() - rule.forbid)) > 6 * spread / few**0.5
        or few < 100
    )
    policy = Policy(version=2, name="mine", least_texts=100, rules=(rule,))

    def severity(some):
        interval = bootstrap_interval(some, resamples=300)
        found = number("tau_loo", interval.low, interval.high, count=interval.count)
        return SEVERITY[str(judge_findings(policy, {"agreement": summary("agreement", found)}))]

    assert severity(values) <= severity(rng.permutation(values)[:few])


def test_every_answer_has_its_exit_code_and_none_is_that_of_bad_input():
    assert EXIT_CODES == {"show": 0, "show with caveat": 0, "do not show": 1, "not enough evidence": 3}


def test_the_verdict_says_how_often_it_is_wrong_on_models_of_this_kind():
    rates = {"recurrent": {"unfaithful": 60, "shown": 1, "faithful": 70, "forbidden": 4}}
    policy = Policy(version=2, name="mine", rules=MINE.rules, errors=rates)
    record = judge_findings(policy, summaries(MINE), encoder="bilstm").record
    assert record.startswith(
        "Of 60 unfaithful models 1 passed, and of 70 faithful ones 4 were refused (models with encoders of this kind"
    )
    few = {"pointer": {"unfaithful": 0, "shown": 0, "faithful": 1, "forbidden": 0}, "all": rates["recurrent"]}
    rare = Policy(version=2, name="mine", rules=MINE.rules, errors=few)
    for encoder in ("pointer", "hf:some"):
        record = judge_findings(rare, summaries(MINE), encoder=encoder).record
        assert record.startswith("None or few models of this kind")
        assert "hardly known. Of 60 unfaithful" in record and "(models of all kinds, whose truth" in record
    assert "never measured" in judge_findings(MINE, summaries(MINE), encoder="bilstm").record


@pytest.mark.parametrize(
    "values", [{"sharpness": (0.0, 0.001)}, {"sharpness": (0.03, 0.06)}, {"flat": (0.9, 1.0)}]
)
def test_flat_attention_is_never_shown(values):
    version_1 = read_policy("version-1")
    assert str(asked(version_1, **values)) != "show"


def test_a_flat_model_is_never_shown(model, many_texts, tmp_path):
    classifier = model(encoder="average")
    torch.nn.init.zeros_(classifier.model.attention.similarity.vector)
    found = heedful.audit(classifier, many_texts, progress=False, only=["sharpness"])
    assert found.summaries["sharpness"].number("flat").estimate == 1.0
    enough = read_policy().model_copy(update={"least_texts": 30})
    verdict = judge_findings(enough, summaries() | found.summaries)
    assert str(verdict) == "do not show"
    # Nor by a policy that forgets to ask.
    lenient = write(tmp_path, {"version": 2, "name": "mine", "least_texts": 30, "rules": [LOW]})
    assert str(judge_findings(read_policy(lenient), summaries() | found.summaries)) == "do not show"


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
    enough = read_policy().model_copy(update={"least_texts": 30})
    assert str(judge_findings(enough, summaries() | found.summaries, source="own")) == "do not show"


def test_only_some_audits_never_show(model, many_texts):
    for name in NAMES:
        found = heedful.audit(model(encoder="average"), many_texts, progress=False, only=[name])
        assert set(found.summaries) == {"sharpness", name}
        assert str(found.verdict) == "not enough evidence" and found.verdict.partial


def test_rules_about_weights_are_not_asked_of_other_scores():
    verdict = judge_findings(MINE, summaries(MINE), source="gradient")
    assert {j.rule.audit for j in verdict.judgements} == {"agreement"}
    nothing = judge_findings(
        Policy(version=1, name="mine", rules=(Rule(**LOW),)), summaries(MINE), source="gradient"
    )
    assert str(nothing) == "not enough evidence"
    assert "No rule of the policy" in nothing.because[0]


@pytest.mark.parametrize("name", POLICIES)
def test_policies_by_name_give_a_reason_for_every_rule(name):
    policy = read_policy(name)
    assert all(len(rule.reason) > 40 for rule in policy.rules)
    costly = {rule.audit for rule in policy.rules if AUDITS.get(rule.audit).only_named}
    assert all(rule.optional for rule in policy.rules if rule.audit in costly)


def test_the_default_is_of_version_2_and_version_1_stays():
    assert read_policy().version == 2 and read_policy("version-1").version == 1
    assert read_policy() == read_policy("default")
    assert any(rule.measure == "counterfactual.replaceable_needed" for rule in read_policy("version-1").rules)


def test_the_default_forbids_by_what_changes_words_and_by_flatness_alone():
    assert {rule.audit for rule in read_policy().rules if rule.forbid is not None} <= {
        "sharpness",
        "rationale",
        "infidelity",
    }


def test_an_optional_rule_counts_only_where_it_was_measured():
    low = {**LOW, "measure": "counterfactual.needless"}
    rule = Rule(**low, optional=True)
    other = Rule(**{**LOW, "measure": "sharpness.sharpness", "show": 0.0, "forbid": 0.0})
    policy = Policy(version=1, name="mine", rules=(rule, other))
    found = summaries(policy)
    without = {name: summary for name, summary in found.items() if name != rule.audit}
    assert rule.measure in {j.rule.measure for j in judge_findings(policy, found).judgements}
    assert rule.measure not in {j.rule.measure for j in judge_findings(policy, without).judgements}
    strict = Policy(version=1, name="mine", rules=(Rule(**low), other))
    assert str(judge_findings(strict, without)) == "not enough evidence"


def write(folder, content):
    path = folder / "policy.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return path


def test_a_copy_of_the_default_judges_as_the_default_and_does_not_pass_for_it(tmp_path):
    copied = POLICIES["default"].read_text(encoding="utf-8")
    path = write(tmp_path, copied)
    found = read_policy(path)
    assert found.name == f"default, from {path.name}"
    # Error rates are those of the file that was measured.
    assert found == read_policy().model_copy(update={"errors": {}, "name": found.name})


def test_copies_of_a_text_count_once():
    rule = Rule(measure="rationale.comprehensiveness_share", show=0.75, forbid=0.6, reason="because")
    rules = Policy(version=2, name="mine", least_texts=100, rules=(rule,))

    def word(low, high, count, copies):
        number = Number(name=rule.number, estimate=0.8, low=low, high=high, std=0.1, count=count, missing=0)
        summary = Summary(
            audit="rationale", question="", finding="", numbers=(number,), caveats=(), instances=count
        )
        return judge_findings(rules, {"rationale": summary}, copies=copies).verdict

    assert word(0.79, 0.81, 240, 1) == "show"
    assert word(0.79, 0.81, 240, 40) == "not enough evidence"  # six texts
    assert word(0.76, 0.84, 400, 4) == "show with caveat"  # a hundred texts, and 0.72 to 0.88


GOOD = {"version": 1, "name": "mine", "rules": [LOW]}
BAD = {
    "unknown key": (GOOD | {"naem": "x"}, "unknown key naem: did you mean name"),
    "unknown key of a rule": (
        GOOD | {"rules": [LOW | {"shwo": 1}]},
        "unknown key rules.1.shwo: did you mean show",
    ),
    "unknown measure": (
        GOOD | {"rules": [LOW | {"measure": "counterfactual.replacable"}]},
        "did you mean counterfactual.replaceable",
    ),
    "unknown audit": (
        GOOD | {"rules": [LOW | {"measure": "counterfactul.replaceable"}]},
        "did you mean counterfactual.replaceable",
    ),
    "measure without a good side": (
        GOOD | {"rules": [LOW | {"measure": "agreement.tau_g_loo"}]},
        "no measure 'agreement.tau_g_loo' to judge by",
    ),
    "threshold too high": (
        GOOD | {"rules": [LOW | {"forbid": 1.5}]},
        "forbid of counterfactual.replaceable in .* is 1.5, and must lie between 0 and 1",
    ),
    "threshold too low": (GOOD | {"rules": [HIGH | {"forbid": -1.5}]}, "must lie between -1 and 1"),
    "JSD beyond ln 2": (
        GOOD | {"rules": [LOW | {"measure": "counterfactual.eps_max_jsd", "forbid": 0.7}]},
        "between 0 and 0.6931",
    ),
    "no number": (GOOD | {"rules": [LOW | {"show": "much"}]}, "rules.1.show in .* cannot be 'much'"),
    "not a number": (GOOD | {"rules": [LOW | {"show": float("nan")}]}, "rules.1.show in .* cannot be nan"),
    "show laxer than forbid": (GOOD | {"rules": [LOW | {"show": 0.6}]}, "asks for less than forbid"),
    "no reason": (
        GOOD | {"rules": [{k: v for k, v in LOW.items() if k != "reason"}]},
        "lacks rules.1.reason",
    ),
    "version": (GOOD | {"version": 3}, "is of version 3, and this heedful reads versions 1 and 2"),
    "nothing forbids": ({"version": 2, "name": "mine", "rules": [CAVEAT]}, "has no rule that could forbid"),
    "version 1 without forbid": (GOOD | {"rules": [CAVEAT, LOW]}, "lacks forbid, which version 1 asks for"),
    "no version": ({"name": "mine", "rules": [LOW]}, "lacks version"),
    "no rules": (GOOD | {"rules": []}, "has no rule that could forbid"),
    "rules not a list": (GOOD | {"rules": "none"}, "rules in .* cannot be 'none'"),
    "least texts": (GOOD | {"least_texts": 0}, "least_texts in .* cannot be 0"),
    "a list": ([LOW], "must hold version, name and rules"),
    "nothing": ("", "must hold version, name and rules"),
    "not YAML": ("rules: [\n", "cannot be read as YAML"),
    "numbers as keys": ({1: 2}, "has a key that is not a word"),
}


@pytest.mark.parametrize(("content", "sentence"), BAD.values(), ids=BAD.keys())
def test_a_bad_policy_is_refused_in_one_sentence(tmp_path, content, sentence):
    with pytest.raises(BadInput, match=sentence) as refused:
        read_policy(write(tmp_path, content))
    assert "\n" not in str(refused.value)


def test_a_policy_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match="There is no policy"):
        read_policy(tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_policy(tmp_path)


def test_what_other_weights_do_counts_neither_way_where_the_place_decides_nothing():
    """Shuffled weights that change nothing are no evidence there, and a rule that is set aside is no leave to show."""
    policy = read_policy("version-1")
    found = summaries(policy, indifferent=(0.9, 0.95), replaceable_needed=(0.9, 0.95))
    reaching = found | {"reach": summary("reach", number("out_of_reach", 0.1, 0.2))}
    still = found | {"reach": summary("reach", number("out_of_reach", 0.7, 0.9))}
    failing = {"permutation", "counterfactual"}
    assert judge_findings(policy, found).verdict == judge_findings(policy, reaching).verdict == "do not show"
    verdict = judge_findings(policy, still)
    assert verdict.verdict == "not enough evidence"
    assert {j.rule.audit for j in verdict.judgements if j.outcome == "not counted"} == failing
    assert any("this place decides nothing" in because for because in verdict.because)
    assert judge_findings(policy, summaries(policy) | {"reach": still["reach"]}).verdict != "show"
    assert judge_findings(read_policy(), summaries() | {"reach": still["reach"]}).verdict == "show"
