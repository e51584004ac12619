"""JUnit and SARIF: files that CI reads keep the rules of their formats, and say what the exit code says."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from tests.report.conftest import CAVEAT, FAILS, PASSES, policy_of

from heedful.audits.policy import Rule
from heedful.reports.asked_questions import asked_questions
from heedful.reports.junit import junit
from heedful.reports.material import Material
from heedful.reports.sarif import sarif

UNASKED = Rule(measure="rationale.comprehensiveness_share", show=0.7, forbid=0.3, reason="needed")
ANSWERS = {
    "show": {"policy": policy_of(PASSES)},
    "show with caveat": {"policy": policy_of(PASSES, CAVEAT)},
    "do not show": {"policy": policy_of(PASSES, FAILS, CAVEAT)},
    "not enough evidence": {"policy": policy_of(PASSES, UNASKED)},
    "findings": {"policy": policy_of(PASSES, FAILS), "partial": True},
}
HOSTILE = "]]></system-out><x a=\"'&\x00\x1b\ud800\ufffe\u2028 <b>"


def suite_of(text: str) -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(text.encode()).iter("testsuite")
    return suite


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_junit_file_counts_what_it_holds_and_agrees_with_the_exit_code(result, answer) -> None:
    found = result(**ANSWERS[answer])
    suite = suite_of(junit(found))
    cases = suite.findall("testcase")
    rows = asked_questions(Material.of(found))
    assert len(cases) == 1 + len(rows) == int(suite.get("tests"))  # type: ignore[arg-type]
    for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(count)) == sum(case.find(tag) is not None for case in cases)  # type: ignore[arg-type]
    assert all({"classname", "name", "time"} == set(case.attrib) for case in cases)
    order = ["properties", *["testcase"] * len(cases)]  # the order that the schema asks for
    assert [child.tag for child in suite] == order
    refused = cases[0].find("failure") is not None or cases[0].find("error") is not None
    assert refused == (found.verdict.exit_code != 0)
    by_name = {case.get("classname"): case for case in cases}
    outcomes = {
        row.name: next(
            (tag for tag in ("failure", "skipped") if by_name[f"heedful.{row.name}"].find(tag) is not None),
            "",
        )
        for row in rows
    }
    wanted = {"bad": "failure", "open": "skipped", "too few": "skipped", "not measured": "skipped"}
    assert outcomes == {row.name: wanted.get(row.outcome, "") for row in rows}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_sarif_file_keeps_the_rules_of_the_standard(result, answer) -> None:
    found = result(**ANSWERS[answer])
    document = json.loads(sarif(found))
    assert document["version"] == "2.1.0" and set(document) == {"$schema", "version", "runs"}
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) == len(run["results"])
    for place, one in enumerate(run["results"]):
        assert (rules[one["ruleIndex"]]["id"], one["ruleIndex"]) == (one["ruleId"], place)
        assert one["message"]["text"]
        assert one["kind"] in ("pass", "fail", "open", "informational", "notApplicable")
        assert one["level"] in ("none", "warning", "error")
        assert (one["level"] == "none") == (one["kind"] != "fail")  # 3.27.10
        (place_,) = one["locations"]
        assert place_["physicalLocation"]["artifactLocation"]["uri"] == "report.html"
    levels = [one["level"] for one in run["results"]]
    assert (levels[0] == "error") == (found.verdict.verdict == "do not show")
    assert ("error" in levels[1:]) == any(j.outcome == "bad" for j in found.verdict.judgements)


def test_names_of_others_cannot_break_either_file(result) -> None:
    found = result(
        labels=(HOSTILE.replace("\ud800", ""), "b"), model=HOSTILE, policy=policy_of(PASSES, FAILS)
    )
    found.about = found.about.model_copy(update={"data": HOSTILE})
    suite = suite_of(junit(found))
    assert suite.find("x") is None and "]]></system-out>" in suite.get("name", "")
    text = sarif(found)
    assert "\ud800" not in text
    assert json.loads(text.encode())["version"] == "2.1.0"


def test_the_report_is_named_from_where_the_command_ran(result, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = result()
    found.save(tmp_path / "runs" / "a b" / "audits" / "one")
    (first, *_) = json.loads(sarif(found))["runs"][0]["results"]
    uri = first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "runs/a%20b/audits/one/report.html"
