"""Four answers and findings: what stands first, how they are told apart, and why something does not count."""

from __future__ import annotations

import re

import pytest
from tests.report.conftest import CAVEAT, FAILS, PASSES, policy_of

from heedful.audits.audit import Number
from heedful.audits.policy import ErrorRates, Rule
from heedful.audits.verdict import Judgement
from heedful.reports.exports import write
from heedful.reports.material import Material
from heedful.reports.page import render
from heedful.reports.sections import findings, why

SHARE = Rule(measure="rationale.sufficiency_share", show=0.7, forbid=0.35, reason="enough")
BOUND = Rule(measure="counterfactual.eps_max_jsd", show=0.2, forbid=0.5, reason="another heatmap")
RATES = {"recurrent": ErrorRates(unfaithful=60, shown=1, faithful=70, forbidden=4)}

ANSWERS = {
    "show": ({"policy": policy_of(PASSES)}, "You may show this model’s attention"),
    "show with caveat": ({"policy": policy_of(PASSES, CAVEAT)}, "only with a caveat"),
    "do not show": ({"policy": policy_of(PASSES, FAILS)}, "Do not show"),
    "not enough evidence": ({"policy": policy_of(PASSES, FAILS, least_texts=61)}, "Not enough evidence"),
    "findings, not a verdict": (
        {"policy": policy_of(PASSES, FAILS), "partial": True},
        "These are findings on this model’s attention, and not a verdict.",
    ),
}


def emblem(page: str) -> str:
    return re.search(r'<svg class="emblem".*?</svg>', page, re.S)[0]  # type: ignore[index]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_has_its_own_heading(result, answer) -> None:
    options, said = ANSWERS[answer]
    material = Material.of(result(**options))
    assert material.answer == answer
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", render([material]))[1]  # type: ignore[index]
    assert said in heading


def test_no_two_answers_have_the_same_shape(result) -> None:
    """What is told by colour alone is not told to everybody."""
    shapes = [emblem(render([Material.of(result(**options))])) for options, _ in ANSWERS.values()]
    assert len(set(shapes)) == len(ANSWERS)
    assert not any(re.search("fill=|stroke=|color", shape) for shape in shapes)


def test_what_must_be_known_first_stands_first_and_the_error_rates_right_below(result) -> None:
    found = result(policy=policy_of(PASSES, errors=RATES), first=("The model <guesses>.",))
    page = render([Material.of(found)])
    said = ["The model &lt;guesses&gt;.", "<h1", "Of 60 unfaithful models 1 passed", "What decided"]
    places = [page.index(part) for part in said]
    assert places == sorted(places)
    card = write([Material.of(found)], "card")
    assert (
        card.index("guesses")
        < card.index("**You may show")
        < card.index("of 70 faithful ones 4 were refused")
    )


def test_findings_have_no_error_rates_and_no_model_card(result) -> None:
    found = result(
        names=["sharpness", "permutation"],
        policy=policy_of(PASSES, FAILS, CAVEAT, errors=RATES),
        partial=True,
    )
    page = render([Material.of(found)])
    assert "unfaithful models" not in page
    assert "only sharpness and permutation were asked" in page
    assert "For the model card" not in page
    assert "There is no section for a model card" in page
    assert "Take it out" not in page
    assert "heedful audit toy-run<" in page


def test_findings_are_told_also_where_no_rule_looks(result) -> None:
    material = Material.of(
        result(names=["sharpness", "permutation"], policy=policy_of(PASSES, FAILS), partial=True)
    )
    shown, other = findings(material)
    assert [f.audit for f in shown] == ["sharpness", "permutation"]
    assert shown[1].sentence == material.summaries["permutation"].finding
    assert [(f.audit, f.word) for f in other] == [("agreement", "not measured")]


def test_too_few_texts_give_no_model_card(result) -> None:
    material = Material.of(result(policy=policy_of(PASSES, least_texts=61)))
    assert material.lacks == "it is of 60 texts, and the policy asks for 61"
    assert "For the model card" not in render([material])
    assert Material.of(result(policy=policy_of(PASSES, least_texts=60))).lacks == ""


def test_a_rule_that_never_forbids_has_one_line_in_its_bar_and_says_so(result) -> None:
    (finding,), _ = findings(Material.of(result(policy=policy_of(PASSES, CAVEAT))))
    assert (
        finding.needs
        == "Showing asks for at most 10 %; otherwise a caveat is due, and no more: this alone never forbids."
    )
    assert finding.bar is not None
    assert [(zone.outcome, zone.start, zone.width) for zone in finding.bar.zones] == [
        ("good", 0, pytest.approx(10)),
        ("unclear", pytest.approx(10), pytest.approx(90)),
    ]
    page = render([Material.of(result(names=["sharpness", "permutation"], policy=policy_of(PASSES, CAVEAT)))])
    decided, caveat, passes = re.findall(r'<span class="bar">.*?</svg>', page, re.S)
    assert decided.split("<svg")[1] == caveat.split("<svg")[1]
    assert (caveat.count('"limit"'), passes.count('"limit"')) == (1, 2)
    assert ("zone-bad" in caveat, "zone-bad" in passes) == (False, True)


def number(low: float, high: float, count: int, **fields: object) -> Number:
    return Number(
        name="x",
        estimate=(low + high) / 2,
        low=low,
        high=high,
        std=0.1,
        count=count,
        **{"missing": 0, **fields},
    )


def judged(rule: Rule, measured: Number, lacking: int = 0) -> str:
    outcome = rule.judge(measured, least_texts=100)
    return why(Judgement(rule=rule, number=measured, outcome=outcome, lacking=lacking), least_texts=100)


def test_an_interval_beyond_the_line_that_is_of_too_few_texts_says_why_it_does_not_forbid() -> None:
    said = judged(SHARE, number(0.05, 0.15, 31, missing=9), 69)
    assert "The whole interval lies beyond 0.35, which would forbid, and yet it is not counted." in said
    assert "Only 31 texts have an answer (9 others have none)" in said
    assert "counts nothing from fewer than 100" in said
    assert "About 69 more texts would decide." in said
    assert "more texts" not in judged(SHARE, number(0.05, 0.15, 31))  # where nobody knows how many
    assert judged(SHARE, number(0.05, 0.15, 100)) == ""  # it counts


def test_too_few_and_undecided_say_how_many_more() -> None:
    few = judged(SHARE, number(0.8, 0.9, 40), 60)
    assert "beyond" not in few
    assert "About 60 more texts would decide." in few
    open_one = judged(SHARE, number(0.25, 0.65, 200), 600)
    assert "lies on both sides of 0.35" in open_one
    assert "About 600 more texts would decide." in open_one
    assert judged(SHARE, number(0.4, 0.6, 200)) == ""  # a caveat, which is clear


def test_a_lower_bound_is_called_one_and_a_number_without_interval_is_not_counted() -> None:
    assert "true number may lie on either side" in judged(BOUND, number(0.1, 0.12, 200, bound="lower"))
    assert judged(BOUND, number(0.6, 0.65, 200, bound="lower")) == ""  # it forbids as it is
    alone = Number(name="x", estimate=0.5, low=None, high=None, std=None, count=200, missing=0)
    assert judged(SHARE, alone) == "It has no interval, so that it is not counted."
