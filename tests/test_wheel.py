"""heedful as a package: built, installed into an empty environment, and used there without make and without these sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import heedful

ROOT = Path(__file__).parents[1]
Run = Callable[..., str]


WITH_A_DATASET = """
import datasets, heedful
texts = [f"film {i} was {('dull', 'great')[i % 2]} and {('slow', 'warm')[i % 2]} ." for i in range(40)]
names = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])})
data = datasets.Dataset.from_dict({"text": texts, "label": [i % 2 for i in range(40)]}, features=names)
open("synonyms.txt", "w").write("great dull\\nwarm slow\\ndull great\\nslow warm\\n")
model = heedful.train(data, encoder="average", embedding_size=8, hidden=4, epochs=1, progress=False)
audit = heedful.audit(model, data, only=["sharpness"], progress=False)
attack = heedful.attack(model, data.select(range(8)), synonyms="synonyms.txt", similarity=False, same_part_of_speech=False, progress=False)
whole = heedful.train(datasets.DatasetDict(train=data, test=data), encoder="average", embedding_size=8, hidden=4, epochs=1, progress=False)
found = len(heedful.predict(model, data)), len(heedful.explain(model, data, "gradient")), audit.about.texts, len(attack.to_frame())
print(*model.labels, *found, "train" if whole.labels == model.labels else "")
"""


@pytest.fixture
def away(tmp_path: Path) -> Run:
    """Give a function that runs a command in an empty folder, where nothing of this checkout is known."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    folder = tmp_path / "away"
    folder.mkdir()

    def run(*words: object, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=folder,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode in codes, done.stderr
        return done.stdout

    return run


@pytest.mark.slow
@pytest.mark.usefixtures("package_index")
def test_a_wheel_works_in_an_empty_environment(away, tmp_path) -> None:
    pip = ["-m", "pip", "--disable-pip-version-check", "-q"]
    away(sys.executable, *pip, "wheel", "--no-deps", "-w", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("heedful-*.whl")
    assert wheel.name == f"heedful-{heedful.__version__}-py3-none-any.whl"
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "heedful/py.typed",
        "heedful/audits/schemas/result.json",
        "heedful/reports/templates/page.html",
    } <= inside
    assert not any(name.startswith(("tests/", "docs/", "benchmarks/")) for name in inside)

    away(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    away(python, *pip, "install", "-c", ROOT / "constraints.txt", wheel)
    assert not Path(away(python, "-c", "import heedful; print(heedful.__file__)").strip()).is_relative_to(
        ROOT
    )
    command = tmp_path / "env" / "bin" / "heedful"
    assert away(command, "--version") == f"heedful {heedful.__version__}\n"
    assert "Does the heatmap point anywhere at all?" in away(command, "list", "audits")
    assert json.loads(away(command, "schema", "policy"))["title"] == "Policy of heedful"

    small = ("--embedding-size", "8", "--hidden", "4", "--epochs", "1", "--limit", "200")
    away(command, "train", "mock_2_strong", *small)
    (run,) = (tmp_path / "away" / "runs").iterdir()
    found = json.loads(
        away(command, "audit", run, "--permutations", "5", "--no-instead", "--json", codes=(0, 1, 3))
    )
    assert found["audits"]["sharpness"]["numbers"]
    (page,) = run.glob("audits/*/report.html")
    assert "Every question and its evidence" in page.read_text(encoding="utf-8")

    # The extra brings a library that the other tests do without: with it there, names of datasets are sought on the hub.
    away(python, *pip, "install", "-c", ROOT / "constraints.txt", f"{wheel}[hub]")
    assert away(python, "-c", WITH_A_DATASET).split() == ["neg", "pos", "40", "40", "40", "8", "train"]


def test_the_version_stands_in_one_place() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in project and heedful.__version__ not in project
    assert f"## {heedful.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_types_are_shipped() -> None:
    assert (Path(heedful.__file__).parent / "py.typed").is_file()
