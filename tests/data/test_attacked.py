"""Attacked texts: kept as Parquet, read back the same, and refused in one sentence where they are something else."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from heedful.data.attacked import AttackedTexts
from heedful.data.words.substitution import Change
from heedful.errors import BadInput


@pytest.fixture
def texts() -> AttackedTexts:
    return AttackedTexts(
        rows=np.array([4, 2, 7]),
        originals=["a fine film", "dull", "so so"],
        attacked=["a good film", "dull", "so tired"],
        labels=np.array([1, 0, 0]),
        statuses=["successful", "skipped", "failed"],
        changes=[[Change((2, 6), (2, 6))], [], [Change((3, 5), (3, 8))]],
    )


def test_what_is_written_is_read(texts, tmp_path):
    texts.write(tmp_path / "texts.parquet")
    again = AttackedTexts.read(tmp_path / "texts.parquet")
    assert again.to_frame().equals(texts.to_frame())
    assert (again.changes, again.fingerprint) == (texts.changes, texts.fingerprint)
    assert again.counts() == {"successful": 1, "failed": 1, "skipped": 1}
    assert texts.to_frame().columns == ["row", "original", "attacked", "label", "status", "changed"]
    assert not list(tmp_path.glob(".partial*"))


def test_no_changes_at_all_and_no_texts_at_all(tmp_path):
    same = AttackedTexts(np.array([0]), ["dull"], ["dull"], np.array([1]), ["failed"], [[]])
    none = AttackedTexts(np.array([], dtype=np.int64), [], [], np.array([], dtype=np.int64), [], [])
    for texts in (same, none):
        texts.write(tmp_path / "texts.parquet")
        assert AttackedTexts.read(tmp_path / "texts.parquet").changes == texts.changes


def test_parts_are_put_together(texts):
    both = AttackedTexts.joined([texts, texts])
    assert both.originals == texts.originals * 2
    assert both.fingerprint != texts.fingerprint


def test_a_frame_with_more_columns_and_without_rows_is_read(texts):
    frame = texts.to_frame().drop("row").with_columns(queries=pl.lit(7))
    assert AttackedTexts.from_frame(frame).rows.tolist() == [0, 1, 2]


def test_changes_may_say_more_than_where_they_are(texts):
    """As those of heedful attack do, which name the words."""
    changed = [
        [
            {"word": 3, "old": "x", "start": b[0], "end": b[1], "new_start": a[0], "new_end": a[1]}
            for b, a in row
        ]
        for row in texts.changes
    ]
    frame = texts.to_frame().with_columns(changed=pl.Series(changed))
    assert AttackedTexts.from_frame(frame).fingerprint == texts.fingerprint


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda f: f.drop("changed"), "has no column 'changed'"),
        (lambda f: f.with_columns(status=pl.lit("maybe")), "has the status 'maybe', and a status is one of"),
        (lambda f: f.with_columns(label=pl.lit("good")), "something else than attacked texts"),
        (lambda f: f.with_columns(attacked=pl.lit(None, pl.String)), "an empty cell in 'attacked'"),
    ],
)
def test_another_frame_is_refused(texts, tmp_path, spoil, said):
    path = tmp_path / "texts.parquet"
    spoil(texts.to_frame()).write_parquet(path)
    with pytest.raises(BadInput, match=said) as told:
        AttackedTexts.read(path)
    assert str(path) in str(told.value)


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "texts.parquet").write_text("no")
    for name in ("texts.parquet", "absent.parquet"):
        with pytest.raises(BadInput, match=rf"Cannot read the attacked texts in .*{name}"):
            AttackedTexts.read(tmp_path / name)
