"""What a sweep asks for, and what is wrong with one."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadInput, did_you_mean
from heedful.scale.sweeps import grid
from heedful.scale.sweeps.grid import read_sweep

KNOWN = {"a": 1, "b": 2, "c": 3}


def check(command, options):
    if command != "train":
        raise BadInput(f"There is no command {command!r}.")
    for name in options:
        if name not in KNOWN and name != "run":
            raise BadInput(f"There is no option {name!r}: {did_you_mean(name, KNOWN)}")
    return {**KNOWN, **options}


def read(tmp_path: Path, content: object):
    path = tmp_path / "spec.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
    return read_sweep(path, check)


def test_each_entry_with_every_combination(tmp_path):
    content = {"command": "train", "options": {"c": 9}, "grid": {"a": [1, 2]}, "list": [{"b": 3}, {"b": 4}]}
    pieces = read(tmp_path, content)
    assert [dict(piece.options) for piece in pieces] == [
        {"c": 9, "b": b, "a": a} for b, a in itertools.product([3, 4], [1, 2])
    ]
    assert [piece.name for piece in pieces] == ["b 3, a 1", "b 3, a 2", "b 4, a 1", "b 4, a 2"]
    assert len({piece.key for piece in pieces}) == 4


@given(
    st.dictionaries(
        st.sampled_from(sorted(KNOWN)),
        st.lists(st.integers(10, 20), min_size=1, max_size=3, unique=True),
        min_size=1,
    )
)
def test_as_many_pieces_as_combinations(tmp_path_factory, asked):
    pieces = read(tmp_path_factory.mktemp("grid"), {"command": "train", "grid": asked})
    wanted = {frozenset(zip(asked, values, strict=True)) for values in itertools.product(*asked.values())}
    assert {frozenset(piece.options.items()) for piece in pieces} == wanted
    assert len({piece.key for piece in pieces}) == len(pieces) == len(wanted)


def test_a_key_depends_on_options_alone(tmp_path):
    first = read(tmp_path, {"command": "train", "grid": {"a": [5], "b": [6]}})
    second = read(tmp_path, {"command": "train", "options": {"b": 6}, "list": [{"a": 5}]})
    assert [piece.key for piece in first] == [piece.key for piece in second]
    then = read(tmp_path, {"command": "train", "grid": {"a": [5], "b": [6]}, "then": {"train": {"c": 2}}})
    assert then[0].key != first[0].key


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"comand": "train"}, "There is no key 'comand' in .*spec.yaml: did you mean command?"),
        ({"grid": {"a": [1]}}, "No command is named"),
        ({"command": "train"}, "There is no grid and no list"),
        ({"command": "train", "grid": {}}, "There is no grid and no list"),
        ({"command": "train", "list": []}, "The list in .* holds nothing"),
        ({"command": "train", "grid": {"a": []}}, "a of the grid in .* is an empty list"),
        ({"command": "train", "grid": {"a": 1}}, r"has no list of values: write 'a: \[1\]'"),
        ({"command": "train", "grid": [1]}, "What stands under grid in .* must be options"),
        ({"command": "train", "list": [1]}, "entry 1 of the list"),
        ({"command": "train", "grid": {"a": [1, 1]}}, r"Two pieces in .* are the same \(a 1 and a 1\)"),
        ({"command": "train", "list": [{"a": 1}, {"b": 2}]}, "are the same"),
        ({"command": "train", "grid": {"a": [1]}, "list": [{"a": 2}]}, "stands in the grid and in the list"),
        (
            {"command": "train", "grid": {"aa": [1]}},
            "piece 1 .aa 1.: There is no option 'aa': did you mean a?",
        ),
        ({"command": "train", "grid": {"a": [1]}, "then": {"sing": {}}}, "There is no command 'sing'"),
        ({"command": "sing", "grid": {"a": [1]}}, "There is no command 'sing'"),
        ("[1, 2]", "must hold options"),
        ("a: [", "cannot be read"),
        ("", "No command is named"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, content, said):
    with pytest.raises(BadInput, match=said):
        read(tmp_path, content)


def test_a_grid_like_the_world_is_refused_before_it_is_made(tmp_path, monkeypatch):
    many = {"a": list(range(1000)), "b": list(range(1000)), "c": list(range(1000))}
    monkeypatch.setattr(grid.itertools, "product", lambda *values: pytest.fail("it was made"))
    with pytest.raises(BadInput, match="1,000,000,000 pieces"):
        read(tmp_path, {"command": "train", "grid": many})


def test_no_file(tmp_path):
    with pytest.raises(BadInput, match=r"There is no file .*: check the path given to SPEC"):
        read_sweep(tmp_path / "none.yaml", check)
