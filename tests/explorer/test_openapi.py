"""The description of the interface: complete, true, and nothing that fits it or not brings the server down."""

from __future__ import annotations

import os
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from heedful.explorer.application import make_application
from heedful.explorer.naming import shelf_named

TOKEN = "a-token-for-tests"
CALLS = int(os.environ.get("HEEDFUL_EXPLORER_CALLS", "5"))
"""Of every operation, of those that fit its description and of those that do not; 110 make more than 2,200 together."""


@pytest.fixture(scope="module")
def described(client: TestClient) -> Any:
    return client.get("/openapi.json").json()


def operations(described: Any) -> list[tuple[str, str, Any]]:
    return [(method, path, one) for path, some in described["paths"].items() for method, one in some.items()]


def test_every_operation_says_what_it_is_and_how_it_refuses(described: Any) -> None:
    found = operations(described)
    assert len(found) > 14
    for method, path, one in found:
        assert one["summary"], path
        assert one["description"].endswith("."), path
        assert one["tags"], path
        refused = {code for code in one["responses"] if code.startswith("4")}
        assert {"403", "404", "422"} <= refused, (method, path)
        for code in refused:
            schema = one["responses"][code]["content"]["application/json"]["schema"]
            assert schema["$ref"].endswith("/Fault")
        assert all(parameter.get("schema") for parameter in one.get("parameters", []))


def test_no_page_fetches_its_documentation_from_elsewhere(client: TestClient) -> None:
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404


def test_no_call_brings_it_down(runs: Any) -> None:
    """Calls that fit the description and calls that do not: every answer is one that was described, and none says 5xx."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

    headers = {"authorization": f"Bearer {TOKEN}"}
    app = make_application(
        shelf_named([], runs=runs.folder), token=TOKEN, port=80, hosts=("localhost", "testserver")
    )
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=headers)
    client = TestClient(app, base_url="http://localhost", headers=headers)
    audits = [one["id"] for one in client.get(f"/api/models/{runs.plain}/audits").json()]
    known = {"model": [runs.plain, runs.heads, runs.mean], "audit": audits}
    seen: dict[int, int] = {}

    def tried(operation: Any, mode: Any) -> None:
        @settings(
            max_examples=CALLS,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode), st.integers(0, 5))
        def call(case: Any, which: int) -> None:
            for name, values in known.items():  # most names are nobody's: half of the calls reach further
                if name in (case.path_parameters or {}) and which < len(values):
                    case.path_parameters[name] = values[which]
            answer = case.call(headers=headers)
            seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
            assert answer.status_code < 500, (case.as_curl_command(), answer.text)
            case.validate_response(answer, checks=[response_schema_conformance, status_code_conformance])

        call()

    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            if mode is schemathesis.GenerationMode.NEGATIVE and not list(operation.iter_parameters()):
                continue  # nothing could be wrong with it
            try:
                tried(operation, mode)
            except Unsatisfiable:  # any name fits
                assert mode is schemathesis.GenerationMode.NEGATIVE
                assert {one.location for one in operation.iter_parameters()} == {"path"}
    assert sum(seen.values()) >= 20 * CALLS
    assert {200, 404, 422} <= seen.keys(), seen
