"""Where address space is limited the drawing engine would end the process: it draws in another, or a sentence says why not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from heedful.errors import HeedfulError
from heedful.output import drawing

SPEC = {
    "mark": "point",
    "data": {"values": [{"a": 1}]},
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30,) * 2)
from heedful.output.charts import as_svg
try:
    print(as_svg({spec})[:4])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_under_a_limit_there_is_a_figure_or_a_sentence():
    script = LIMITED.replace("{spec}", repr(SPEC))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert (
        done.stdout.startswith("<svg")
        or "HeedfulError Figures cannot be drawn within the limit of 6.0 GiB" in done.stdout
    )


def test_another_process_draws_the_same(monkeypatch):
    here = drawing.converted(SPEC, "svg")
    monkeypatch.setattr(drawing, "address_space", lambda: 2**50)
    assert drawing.converted(SPEC, "svg") == here
    assert drawing.converted(SPEC, "png").startswith(b"\x89PNG")


def test_a_process_that_dies_is_a_sentence(monkeypatch):
    monkeypatch.setattr(drawing, "address_space", lambda: 2**30)
    monkeypatch.setattr(drawing, "_CHILD", "import os, signal; os.kill(os.getpid(), signal.SIGTRAP)")
    with pytest.raises(HeedfulError, match=r"within the limit of 1\.0 GiB on address space: raise it"):
        drawing.converted(SPEC, "svg")
