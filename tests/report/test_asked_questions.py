"""One row for each question: what came of it by word, shape and place, and what unfolds."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import CAVEAT, FAILS, NAMES, PASSES, policy_of

from heedful.audits.audit import AUDITS, Measure, Number
from heedful.audits.policy import Rule
from heedful.reports.asked_questions import asked_questions, counted, in_one_line
from heedful.reports.figures import figures
from heedful.reports.material import Material
from heedful.reports.page import render
from heedful.reports.threshold_bar import threshold_bar

UNASKED = Rule(measure="rationale.comprehensiveness_share", show=0.7, forbid=0.3, reason="needed")
SHARE = Rule(measure="rationale.sufficiency_share", show=0.75, reason="enough")


def number(estimate: float, low: float | None = None, high: float | None = None) -> Number:
    return Number(name="x", estimate=estimate, low=low, high=high, std=None, count=9, missing=0)


def test_every_question_has_a_row_and_the_worst_stands_first(result) -> None:
    rows = asked_questions(Material.of(result(policy=policy_of(PASSES, FAILS, CAVEAT, UNASKED))))
    assert [(row.name, row.outcome) for row in rows[:4]] == [
        ("agreement", "bad"),
        ("rationale", "not measured"),
        ("permutation", "unclear"),
        ("sharpness", "good"),
    ]
    assert {row.name for row in rows[4:]} == set(NAMES) - {"agreement", "permutation", "sharpness"}
    assert {row.outcome for row in rows[4:]} == {"informs"}
    assert (
        in_one_line(counted(rows))
        == "1 fails, 1 is not measured, 1 asks for a caveat, 1 passes; 3 inform and decide nothing."
    )


def test_a_question_with_two_rules_is_as_good_as_the_worse_and_tells_both(result) -> None:
    two = policy_of(
        PASSES, SHARE, SHARE.model_copy(update={"measure": "rationale.comprehensiveness_share", "show": -1.0})
    )
    (row,) = [
        row
        for row in asked_questions(Material.of(result(names=("sharpness", "rationale"), policy=two)))
        if row.name == "rationale"
    ]
    assert row.outcome == "unclear"
    assert sorted(answer.outcome for answer in row.answers) == ["good", "unclear"]
    missing = asked_questions(Material.of(result(names=["sharpness"], policy=two)))
    (row,) = [row for row in missing if row.name == "rationale"]
    assert len(row.answers) == 1  # there is one thing to say of what was not asked


def test_what_informs_is_told_in_plain_words_with_a_bar_and_no_threshold(result) -> None:
    rows = {row.name: row for row in asked_questions(Material.of(result(policy=policy_of(PASSES))))}
    (answer,) = rows["permutation"].answers
    assert re.fullmatch(
        r"For \d+ % of the texts the answer stays the same when the heatmap is shuffled at random\.",
        answer.sentence,
    )
    assert answer.bar is not None and (answer.bar.zones, answer.bar.good) == ((), "left")
    assert answer.needs == "No rule of the policy looks at it; less speaks for showing."


@pytest.mark.parametrize(
    ("better", "show", "forbid", "zones"),
    [
        ("higher", 0.75, 0.6, [("bad", 0, 60), ("unclear", 60, 15), ("good", 75, 25)]),
        ("higher", 0.75, None, [("unclear", 0, 75), ("good", 75, 25)]),
        ("higher", 0.5, 0.5, [("bad", 0, 50), ("good", 50, 50)]),
        ("lower", 0.1, 0.5, [("good", 0, 10), ("unclear", 10, 40), ("bad", 50, 50)]),
        ("lower", 0.1, None, [("good", 0, 10), ("unclear", 10, 90)]),
    ],
)
def test_zones_of_a_bar_by_hand(better, show, forbid, zones) -> None:
    rule = Rule(measure="a.b", show=show, forbid=forbid, reason="x")
    bar = threshold_bar(number(0.3, 0.2, 0.4), Measure("x", better=better), share=False, rule=rule)
    assert bar is not None
    assert [(z.outcome, round(z.start, 6), round(z.width, 6)) for z in bar.zones] == zones
    assert (bar.at, bar.low, bar.high) == (pytest.approx(30), pytest.approx(20), pytest.approx(40))
    assert bar.good == {"higher": "right", "lower": "left"}[better]


@given(
    st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1), st.sampled_from(["higher", "lower"]), st.booleans()
)
def test_zones_fill_the_line_and_agree_with_the_rule(at, one, other, better, forbids) -> None:
    show, forbid = (
        (max(one, other), min(one, other)) if better == "higher" else (min(one, other), max(one, other))
    )
    rule = Rule(measure="a.b", show=show, forbid=forbid if forbids else None, reason="x")
    bar = threshold_bar(number(at), Measure("x", low=-1.0, better=better), share=False, rule=rule)
    assert bar is not None
    assert sum(zone.width for zone in bar.zones) == pytest.approx(100)
    assert all(
        a.start + a.width == pytest.approx(b.start) for a, b in zip(bar.zones, bar.zones[1:], strict=False)
    )
    inside = [z.outcome for z in bar.zones if z.start + 1e-6 < bar.at < z.start + z.width - 1e-6]
    sign = 1 if better == "higher" else -1
    true = (
        "good" if sign * at >= sign * show else "bad" if forbids and sign * at < sign * forbid else "unclear"
    )
    assert inside in ([], [true])  # at an edge it may be either


def test_a_number_of_any_size_has_no_bar() -> None:
    assert threshold_bar(number(3), Measure("x", high=float("inf")), share=False) is None


def test_no_two_outcomes_have_the_same_shape(result) -> None:
    """Colours alone would not tell them apart to everybody, nor on paper."""
    rules = policy_of(PASSES, FAILS, CAVEAT, UNASKED)
    page = render([Material.of(result(policy=rules))])
    few = render([Material.of(result(policy=policy_of(PASSES, least_texts=99)))])
    badges = re.findall(r'<span class="badge ([a-z-]+)"><svg[^>]*>(.*?)</svg>', page + few, re.S)
    shapes = {outcome: re.sub(r"\s+", " ", shape) for outcome, shape in badges}
    assert set(shapes) == {"bad", "unclear", "good", "informs", "not-measured", "too-few"}
    assert len(set(shapes.values())) == len(shapes)
    assert not any(re.search("fill=|stroke=|color", shape) for shape in shapes.values())


def test_thresholds_and_the_mean_are_drawn_into_the_figure_of_a_judged_number(result) -> None:
    found = result(names=("sharpness", "rationale"), policy=policy_of(PASSES, SHARE, UNASKED))
    material = Material.of(found)
    audit, rows = material.audit("rationale"), material.numbers("rationale")
    assert audit is not None
    plain = figures(audit, rows, ())
    marked = figures(audit, rows, [j for j in found.verdict.judgements if j.rule.audit == "rationale"])
    assert len(marked) == len(plain) + 2  # of the numbers that the audit's own figures do not show
    by_caption = {figure.caption: figure for figure in marked}
    (with_both,) = [caption for caption in by_caption if "Solid line: less than 0.3 forbids." in caption]
    (with_one,) = [caption for caption in by_caption if "at least 0.75" in caption]
    assert "Dashed line: showing asks for at least 0.7." in with_both and "Solid line" not in with_one
    dashes = [by_caption[caption].svg.count('stroke-dasharray="5,3"') for caption in (with_both, with_one)]
    assert dashes == [1, 1]
    assert "what is lost without the top words" in by_caption[with_both].svg  # the axis keeps its title


def test_a_share_of_yes_and_no_is_no_histogram(result) -> None:
    found = result(names=("sharpness", "permutation"), policy=policy_of(PASSES, CAVEAT))
    found.frames["permutation"] = found.frames["permutation"].with_columns(
        indifferent=pl.Series([0.0, 1.0] * 30)
    )
    audit = AUDITS.get("permutation")(Material.of(found).audit("permutation").config)  # type: ignore[union-attr]
    rows = Material.of(found).numbers("permutation")
    judged = [j for j in found.verdict.judgements if j.rule.audit == "permutation"]
    assert len(figures(audit, rows, judged)) == len(figures(audit, rows, ()))


def test_a_set_of_nearly_all_words_is_told_and_not_underlined(visit, result, tmp_path) -> None:
    found = result(["one two three four", "five six seven eight"])
    flips = found.frames["flip_set"].with_columns(
        members=pl.Series([[0, 1, 2], [0, 1]]), minimum_fraction=pl.lit(0.5)
    )
    found.frames["flip_set"] = flips
    page = visit(found.report(tmp_path / "a.html")).page
    page.locator("[data-choice=order]").select_option(label="in the order of the data")
    nearly, half = page.locator(".card").all()
    assert (
        "The smallest set whose erasure changes the decision holds nearly all of the text: 3 of 4 items."
        in nearly.inner_text()
    )
    assert nearly.locator(".marked, u").count() == 0
    assert half.locator(".heat").first.locator(".marked").all_inner_texts() == ["five", "six"]


def test_a_row_unfolds_by_keyboard_and_by_a_link_to_it(visit, report) -> None:
    page = visit(report).page
    row = page.locator("#a1-counterfactual")
    assert not row.evaluate("d => d.open")
    row.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert row.evaluate("d => d.open") and row.locator(".caveats").is_visible()
    decided = page.locator(".findings a").first
    target = decided.get_attribute("href")
    decided.click()
    assert page.locator(target).evaluate("d => d.open")
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details.question:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details.question[open]").count() == 0
