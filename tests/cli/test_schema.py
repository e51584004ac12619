"""heedful schema, and what heedful audit writes for CI."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest


@pytest.mark.parametrize("kind", ["result", "policy"])
def test_a_schema_is_printed(run, kind):
    shown = run("schema", kind)
    assert shown.code == 0
    found = json.loads(shown.out)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["$id"] == f"urn:heedful:schema:{kind}:1"


def test_an_unknown_schema_is_one_sentence(run):
    shown = run("schema", "polcy")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "Error: There is no schema 'polcy': did you mean policy?\n"


def test_an_audit_keeps_its_schema_and_writes_for_ci(run, trained, tmp_path):
    folder = shutil.copytree(trained, tmp_path / "run")
    schema = json.loads(run("schema", "result").out)
    shown = run(
        "audit", folder, "--permutations", "5", "--json", "--junit", "ci/a.xml", "--sarif", "ci/a.sarif"
    )
    found = json.loads(shown.out)
    jsonschema.Draft202012Validator(schema).validate(found)
    (kept,) = (folder / "audits").glob("*/audit.json")
    jsonschema.Draft202012Validator(schema).validate(json.loads(kept.read_text()))
    root = ElementTree.parse("ci/a.xml").getroot()
    values = {p.get("name"): p.get("value") for p in root.iter("property")}
    assert values["verdict"] == found["verdict"]["verdict"]
    results = json.loads(Path("ci/a.sarif").read_text())["runs"][0]["results"]
    assert {one["ruleId"] for one in results} >= {"verdict", *found["audits"]}
    uri = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert Path(uri).is_file()


@pytest.mark.parametrize("flag", ["--junit", "--sarif"])
def test_a_folder_is_no_file(run, trained, tmp_path, flag):
    folder = shutil.copytree(trained, tmp_path / "run")
    shown = run("audit", folder, flag, ".")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == "Error: . is a folder: name a file to write.\n"
    assert not (folder / "audits").exists()
