"""Another package brings an audit and an explainer: installed, both are there wherever ours are."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import heedful

AUDIT = '''
import polars as pl
from pydantic import Field

from heedful.audits.audit import Audit, Measure, register
from heedful.audits.citations import Citation
from heedful.config import AuditOptions, Count
from heedful.output.numbers import value


class BrevityOptions(AuditOptions):
    """Options of this one alone."""

    shortest: Count = Field(1, description="What counts as short (brevity).")


@register
class Brevity(Audit):
    """Counts items."""

    name = "brevity"
    question = "How short is the text?"
    paper = "tiny"
    options = ("shortest",)
    citation = Citation("Tiny, T. (2026). On brevity.", "", "@misc{tiny}")
    measures = {"shortness": Measure("one over the number of items", better="higher")}

    def rows(self, reading):
        return {"shortness": self.config.shortest / reading.mask.sum(1)}

    def summarise(self, rows):
        number = self.number("shortness", rows["shortness"])
        return self.summary(rows, f"The shortness of a text is {value(number)}.", [number])
'''

EXPLAINER = """
import torch

from heedful.explainers.explainer import EXPLAINERS


@EXPLAINERS.register("lastness", "the later an item stands, the more it counts")
def lastness(model, batch, *, seed):
    with torch.no_grad():
        mask = model.encode(model.embed(batch), batch).mask
    return torch.arange(mask.shape[1]) * mask / mask.shape[1]
"""

FILES = {
    "tiny/__init__.py": "",
    "tiny/brevity.py": AUDIT,
    "tiny/lastness.py": EXPLAINER,
    "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.dist-info/entry_points.txt": (
        "[heedful.audits]\nbrevity = tiny.brevity\n\n[heedful.explainers]\nlastness = tiny.lastness\n"
    ),
}


def _wheel(folder: Path) -> Path:
    path = folder / "tiny-1.0-py3-none-any.whl"
    lines = []
    for name, content in FILES.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content.encode())}")
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in FILES.items():
            wheel.writestr(name, content)
        wheel.writestr("tiny-1.0.dist-info/RECORD", "\n".join([*lines, "tiny-1.0.dist-info/RECORD,,"]) + "\n")
    return path


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A machine on which the package is installed, and two small runs; gives what runs a command there."""
    folder = tmp_path_factory.mktemp("plugins")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, str(folder / "site"), str(_wheel(folder))], check=True)
    runs = [
        heedful.train(
            "mock_2_strong",
            limit=300,
            epochs=1,
            hidden=4,
            embedding_size=8,
            seed=seed,
            runs=folder / "runs",
            progress=False,
        ).run
        for seed in (0, 1)
    ]
    known = os.pathsep.join([str(folder / "site"), os.environ.get("PYTHONPATH", "")])

    def call(*words: str | Path) -> str:
        found = subprocess.run(
            [sys.executable, "-m", "heedful", *map(str, words)],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": known},
            check=False,
        )
        assert found.returncode in (0, 1, 3), found.stderr
        return found.stdout

    return call, [run for run in runs if run is not None], folder


def test_both_are_listed(installed):
    call, _, _ = installed
    assert "How short is the text?" in call("list", "audits")
    assert "the later an item stands" in call("list", "explainers")


def test_the_audit_is_asked_cited_and_reported(installed):
    call, runs, folder = installed
    found = json.loads(call("audit", runs[0], "--limit", "40", "--only", "brevity", "--json"))
    assert "brevity" in json.dumps(found)
    call("report", runs[0], "-o", folder / "report.html", "--partial")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "How short is the text?" in page and "On brevity" in page


def test_its_option_has_a_flag_with_help_and_repeats_no_other_audit(installed):
    call, runs, _ = installed
    assert "--shortest N" in call("audit", "--help") and "What counts as short" in call("audit", "--help")
    words = ("audit", runs[1], "--limit", "30", "--only", "brevity,permutation")
    one, two = (json.loads(call(*words, "--shortest", value, "--json")) for value in ("1", "2"))
    (first,), (second,) = (found["audits"]["brevity"]["numbers"] for found in (one, two))
    assert second["estimate"] == pytest.approx(2 * first["estimate"])
    assert one["audits"]["permutation"] == two["audits"]["permutation"]  # taken, its seconds with it


def test_the_explainer_explains_and_is_audited(installed):
    call, runs, _ = installed
    assert "one" in call("explain", runs[0], "one two three", "-e", "lastness")
    assert "lastness" in call(
        "audit", runs[0], "--limit", "40", "--source", "lastness", "--only", "sharpness"
    )


def test_the_audit_is_compared_and_named_in_a_policy(installed):
    call, runs, folder = installed
    assert "shortness" in call("compare", *runs, "--limit", "40", "--only", "brevity", "--format", "csv")
    policy = folder / "policy.yaml"
    policy.write_text(
        "version: 2\nname: mine\nleast_texts: 10\nrules:\n"
        "  - {measure: brevity.shortness, show: 0.9, forbid: 0.5, optional: true, reason: short is good}\n"
        "  - {measure: sharpness.sharpness, show: 0.05, forbid: 0.01, reason: as ever}\n",
        encoding="utf-8",
    )
    found = call("audit", runs[0], "--limit", "40", "--only", "brevity", "--policy", policy, "--json")
    assert "brevity.shortness" in found
