"""Texts of 2,000 items stay under 2 GB, whatever the decoder."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

AUDIT = """
import resource, sys
import torch
import heedful
from heedful.models.classifier import Classifier

torch.set_num_threads(1)
model, texts, *only = sys.argv[1:]
found = heedful.audit(Classifier.from_pretrained(model), texts, only=only, progress=False, random_rankings=1)
assert found.to_frame()["items"].min() == 2000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
WORDS = ("a", "fine", "film", "the", "plot", "is", "thin", "jokes", "nobody", "laughed", "warm", "dull")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "texts"),
    [
        ({"hidden": 128}, 64),
        ({"hidden": 128, "classes": 5}, 8),
        ({"hidden": 64, "decoder": "mlp", "heads": 2}, 4),
    ],
    ids=["exact", "searched", "any decoder"],
)
def test_long_texts_fit_in_memory(toy_classifier, tmp_path, shape, texts):
    toy_classifier(encoder="average", embedding_size=128, **shape).save_pretrained(tmp_path / "model")
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(WORDS, size=2000)) for _ in range(texts)]
    (tmp_path / "long.csv").write_text("text\n" + "\n".join(lines) + "\n")
    command = [
        sys.executable,
        "-c",
        AUDIT,
        tmp_path / "model",
        tmp_path / "long.csv",
        "counterfactual",
        "flip_set",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2048
