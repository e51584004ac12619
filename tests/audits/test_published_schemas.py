"""The published JSON Schemas are those of the code, and what heedful writes and reads keeps them."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
import yaml
from tests.report.conftest import PASSES, compared, make_result, policy_of

from heedful.audits.policy import POLICIES
from heedful.audits.published_schemas import FOLDER, SCHEMAS
from heedful.reports.exports import write
from heedful.reports.material import Material


@pytest.fixture
def published():
    def read(kind: str) -> jsonschema.Draft202012Validator:
        content = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(content)
        return jsonschema.Draft202012Validator(content)

    return read


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_is_published_is_what_the_code_says(kind) -> None:
    """Where this fails: python docs/make_schemas.py."""
    assert json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8")) == SCHEMAS[kind]()


def test_results_of_every_kind_keep_the_schema(published, tmp_path) -> None:
    schema = published("result")
    whole = make_result(names=("sharpness", "agreement", "rationale", "counterfactual"))
    partial = make_result(names=["sharpness"], partial=True)
    few = make_result(policy=policy_of(PASSES, least_texts=99))
    for found in (whole, partial, few):
        folder = found.save(tmp_path / str(id(found)))
        schema.validate(json.loads((folder / "audit.json").read_text(encoding="utf-8")))
    compared(whole, (PASSES,), {"attention": (0.3,), "gradient": (0.5,)})
    (exported,) = json.loads(write([Material.of(whole)], "json"))
    schema.validate(exported)
    schema.validate(
        whole.to_json() | {"alternatives": exported["alternatives"]}
        if "alternatives" in exported
        else whole.to_json()
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict", "verdict"), "perhaps"),
        (("verdict", "judgements", 0, "outcome"), "fine"),
        (("about", "texts"), "many"),
        (("audits", "sharpness", "numbers", 0, "estimate"), "0.2"),
        (("surplus",), 1),
    ],
)
def test_what_is_no_result_does_not(published, path, value) -> None:
    document = json.loads(json.dumps(make_result(names=["sharpness"]).to_json()))
    published("result").validate(document)
    changed = copy.deepcopy(document)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    assert list(published("result").iter_errors(changed))


@pytest.mark.parametrize("name", POLICIES)
def test_policies_of_heedful_keep_theirs(published, name) -> None:
    published("policy").validate(yaml.safe_load(POLICIES[name].read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 3},
        {"surplus": 1},
        {"least_texts": 0},
        {"rules": [{"measure": "sharpness", "show": 1, "reason": "x"}]},
        {"rules": [{"measure": "sharpness.sharpness", "reason": "x"}]},
        {"version": 1, "rules": [{"measure": "sharpness.sharpness", "show": 1, "reason": "x"}]},
    ],
)
def test_what_is_no_policy_does_not(published, change) -> None:
    rule = {"measure": "sharpness.sharpness", "show": 0.1, "forbid": 0.05, "reason": "x"}
    policy = {"version": 2, "name": "mine", "rules": [rule]}
    published("policy").validate(policy)
    assert list(published("policy").iter_errors(policy | change))
