"""Audits that attack share their options: each is in the help once, and says whose it is."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from heedful.audits.audit import AUDITS
from heedful.audits.subject.attacked_rows import ATTACK_OPTIONS
from heedful.cli.app import app
from heedful.config import AuditOptions


@pytest.mark.parametrize("option", ATTACK_OPTIONS)
def test_every_option_once(option):
    shown = CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "160", "NO_COLOR": "1"}).output
    flag = option.replace("_", "-")
    assert len(re.findall(rf"--(?:\[no-\])?{flag}\b(?!-)", shown)) == 1
    assert "(robustness, consistency)" in (AuditOptions.model_fields[option].description or "")
    assert all(option in AUDITS.get(audit).options for audit in ("robustness", "consistency"))
