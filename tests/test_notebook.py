"""A small notebook as a person would write it, run from its first cell to its last."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

import heedful

CELLS = [
    "import sys\nimport heedful\nassert 'torch' not in sys.modules",
    "good, bad = ('great', 'warm', 'funny', 'lovely'), ('dull', 'slow', 'grim', 'boring')\n"
    "texts = [f'film {i} was {(bad, good)[i % 2][i % 4]} and {(bad, good)[i % 2][i // 4 % 4]} .' for i in range(200)]\n"
    "labels = ['no', 'yes'] * 100",
    "model = heedful.train(texts, labels, encoder='average', embedding_size=8, hidden=4, epochs=3, learning_rate=0.02)\nmodel",
    "model(['a great and funny film', '<script>document.title = 1</script> dull'])",
    "heedful.explain(model, texts[:2], 'leave_one_out')",
    "audit = heedful.audit(model, texts, labels, limit=40)\naudit",
    "audit.verdict",
    "audit.verdict == 'show', audit.verdict in ('show', 'show with caveat', 'do not show', 'not enough evidence')",
    "open('synonyms.txt', 'w').write('great dull\\nwarm slow\\nfunny grim\\nlovely boring\\n')\n"
    "heedful.attack(model, texts, labels, synonyms='synonyms.txt', similarity=False, same_part_of_speech=False, limit=10)",
    "heedful.report(audit, 'audit.html').name",
]
DRAWN = {
    3: "h-heat",
    4: "leave one out",
    5: "What the policy looks at",
    6: "h-big",
    8: "after-attack accuracy",
}


@pytest.mark.slow
def test_a_notebook_runs_and_draws(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join(filter(None, [str(_source()), os.environ.get("PYTHONPATH")]))
    )
    for name in ("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    where = tmp_path / "work"
    where.mkdir()
    nbclient.NotebookClient(
        notebook,
        timeout=900,
        kernel_name=_kernel(tmp_path, monkeypatch),
        resources={"metadata": {"path": str(where)}},
    ).execute()
    for place, words in DRAWN.items():
        data = _shown(notebook.cells[place])
        assert words in data["text/html"] and "<script" not in data["text/html"]
        assert len(data["text/plain"].splitlines()) <= 8 and len(data["text/plain"]) < 1500
    assert re.fullmatch(
        r"Classifier\(texts-\w{8}-average-vanilla-seed0-\w{8}: average, no / yes\)",
        _shown(notebook.cells[2])["text/plain"],
    )
    assert _shown(notebook.cells[7])["text/plain"].endswith(", True)")
    assert (where / "audit.html").is_file()


def _shown(cell):
    (result,) = (output for output in cell.outputs if output.output_type == "execute_result")
    return result.data


def _source():
    return Path(heedful.__file__).parent.parent


def _kernel(folder, monkeypatch):
    """A kernel of this very Python, whatever others the machine has."""
    there = folder / "kernels" / "kernels" / "heedful-test"
    there.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (there / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "test", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(folder / "kernels"))
    return "heedful-test"
