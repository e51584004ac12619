"""Shapes are those of the model that would be built, and asking for them builds nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from heedful.declared import complete
from heedful.models.encoders.encoder import ENCODERS
from heedful.models.model import Architecture, AttentionModel
from heedful.models.weight_shapes import weight_shapes

SIZES = {"embedding_size": 8, "attention_size": 4, "vocabulary_size": 9, "classes": 3}
MORE = [
    {},
    {"attention": "dot"},
    {"heads": 2},
    {"pooling": "mean"},
    {"decoder": "mlp"},
    {"hierarchical": True},
]
WITHOUT_COMPILER = """
import sys
from heedful.declared import complete
from heedful.models.model import Architecture
from heedful.models.weight_shapes import weight_shapes
weight_shapes(complete(Architecture)(encoder="bilstm", embedding_size=8, attention_size=4, vocabulary_size=9, classes=3))
assert "torch._dynamo" not in sys.modules
"""


@pytest.mark.parametrize("more", MORE, ids=str)
@pytest.mark.parametrize(
    "encoder", [name for name in ENCODERS if not name.startswith(("hf", "hierarchical"))]
)
def test_shapes_are_those_of_the_model(encoder, more):
    architecture = complete(Architecture)(encoder=encoder, **SIZES, **more)
    built = AttentionModel(architecture).state_dict()
    assert weight_shapes(architecture) == {name: tuple(tensor.shape) for name, tensor in built.items()}


def test_nothing_is_allocated_or_drawn():
    before = torch.get_rng_state()
    immense = {**SIZES, "embedding_size": 60_000, "vocabulary_size": 10**9}
    shapes = weight_shapes(complete(Architecture)(encoder="average", **immense))
    assert (10**9, 60_000) in shapes.values()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_compiler_of_torch_is_not_imported():
    """It takes a second, whenever any command reads a model."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
