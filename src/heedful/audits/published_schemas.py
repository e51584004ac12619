"""JSON Schemas of what heedful gives and takes: the result of an audit, and a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from heedful.audits.audit import Summary
from heedful.audits.policy import Policy
from heedful.audits.running.alternatives import Alternatives
from heedful.audits.running.result import About
from heedful.audits.verdict import Verdict

FOLDER = Path(__file__).with_name("schemas")
"""Where they lie as files, which docs/make_schemas.py writes."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class ResultDocument(BaseModel):
    """What `heedful audit --json` prints, what an audit's folder holds as audit.json, and each part of `heedful report --format json`."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict
    about: About
    audits: dict[str, Summary]
    """By the name of the audit."""
    not_asked: dict[str, str] = {}
    """Audits that cannot be asked here, each with the reason."""
    alternatives: Alternatives | None = None
    """Attention beside other explainers, where that was compared; not in audit.json, but in alternatives.json beside it."""


def result_schema() -> dict[str, Any]:
    """Of a result. What has a default is always written, but for the two parts that not every document has."""
    found = ResultDocument.model_json_schema(mode="serialization")
    found["required"] = ["verdict", "about", "audits"]
    found["properties"]["alternatives"] = {"$ref": "#/$defs/Alternatives"}
    return _named(found, "result", "Result of an audit by heedful")


def policy_schema() -> dict[str, Any]:
    """Of a policy file. In version 1 every rule has a line that forbids."""
    found = Policy.model_json_schema(mode="validation")
    found["$defs"]["Rule"]["properties"]["measure"]["pattern"] = r"^[^.]+\.[^.]+$"
    found["if"] = {"properties": {"version": {"const": 1}}}
    found["then"] = {"properties": {"rules": {"items": {"required": ["forbid"]}}}}
    return _named(found, "policy", "Policy of heedful")


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {"result": result_schema, "policy": policy_schema}


def _named(schema: dict[str, Any], name: str, title: str) -> dict[str, Any]:
    return {"$schema": _DRAFT, "$id": f"urn:heedful:schema:{name}:1", **schema, "title": title}
