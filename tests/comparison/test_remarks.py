"""What a reader is told of intervals, by how many seeds the methods have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heedful.comparison.remarks import _intervals

TWO, ONE, STUDENT = (
    "Two seeds give no interval",
    "with one seed speaks of texts alone",
    "Student's over the seeds",
)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ((1, 1), ()),
        ((3, 5), (STUDENT,)),
        ((3, 2), (STUDENT, TWO)),
        ((3, 1), (STUDENT, ONE)),
        ((2, 1), (STUDENT, TWO, ONE)),
    ],
)
def test_intervals_say_which_seeds_they_speak_of(seeds, said):
    told = _intervals([SimpleNamespace(runs=range(count)) for count in seeds])
    assert [part for part in (STUDENT, TWO, ONE) if part in told] == list(said)
    assert ("do not speak of other seeds" in told) == (not said)
