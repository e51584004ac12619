"""Corpora are counted as training reads them, without training."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import BadInput
from heedful.papers.corpus_counts import (
    DEVIATION,
    SENTENCES,
    TEXTS,
    VOCABULARY,
    WORDS,
    by_class_cell,
    classes,
    count_cell,
    count_corpora,
    join_counts,
    keep_counts,
    kept_counts,
    of_class,
)
from heedful.papers.measured_numbers import Numbers
from heedful.training.train import resolve

ROWS = {
    "train": ["a good film,good", "bad bad,bad", "so so so so,bad", "good,good", "bad film here,bad"],
    "dev": ["good good,good", "bad bad,bad"],
    "test": ["one two three,good", "one. Two? Three and four!,bad", "one two,bad"],
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name, rows in ROWS.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return {name: str(tmp_path / f"{name}.csv") for name in ROWS}


def counted(files: dict[str, str], **options: object) -> Numbers:
    given = {"dataset": files["train"], "dev_file": files["dev"], "test_file": files["test"], **options}
    found, missing = count_corpora({"films": resolve(given)})
    assert not missing
    return found


def test_texts_words_and_classes_are_counted(files):
    found = counted(files, punctuation=False)

    def number(measure: str, group: str = "") -> float:
        one = found.get("films", "", "corpus", measure, group=group)
        assert one is not None
        return one.estimate

    assert number(VOCABULARY) == len({"a", "good", "film", "bad", "so", "here"})
    assert [number(TEXTS, split) for split in ("train", "dev", "test")] == [5, 2, 3]
    assert classes(found, "films") == ["bad", "good"]
    assert number(of_class("bad"), "train") == 3 and number(of_class("good"), "test") == 1
    assert number(WORDS, "test") == (3 + 5 + 2) / 3
    assert number(WORDS + DEVIATION, "test") == pytest.approx(
        (sum((n - 10 / 3) ** 2 for n in (3, 5, 2)) / 2) ** 0.5
    )
    assert found.get("films", "", "corpus", SENTENCES, group="test") is None
    assert by_class_cell(found, "films", "train") == "3 / 2"
    assert count_cell(found, "films", WORDS, "test", 1) == "3.3"
    assert count_cell(found, "films", "nothing") == "–"


def test_sentences_are_counted_where_texts_are_read_by_them(files):
    found = counted(files, hierarchical=True)
    sentences = found.get("films", "", "corpus", SENTENCES, group="test")
    assert sentences is not None and sentences.estimate == pytest.approx((1 + 3 + 1) / 3)


def test_texts_that_are_too_short_do_not_count(files):
    assert count_cell(counted(files, min_words=2, punctuation=False), "films", TEXTS, "train") == "4"


def test_counts_are_kept_and_put_together(files, tmp_path: Path):
    found = counted(files)
    assert kept_counts("x", tmp_path).rows == ()
    keep_counts("x", found, tmp_path)
    again = kept_counts("x", tmp_path)
    assert again.to_frame().equals(found.to_frame())
    changed = Numbers(tuple(n._replace(estimate=n.estimate + 1) for n in found.rows))
    other = Numbers(tuple(n._replace(dataset="other") for n in found.rows))
    whole = join_counts(["other", "films"], found, other, changed)
    assert whole.datasets == ["other", "films"]
    assert [n for n in whole.rows if n.dataset == "films"] == list(changed.rows)  # the later ones stand
    (tmp_path / "corpora-x.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="does not hold the counts of corpora"):
        kept_counts("x", tmp_path)


def test_what_is_not_there_is_missing_or_refused(tmp_path: Path):
    config = {"films": resolve({"dataset": str(tmp_path / "gone.csv")})}
    found, (lack,) = count_corpora(config, lenient=True)
    assert not found.rows and lack.what == "films, its texts" and "gone.csv" in lack.why
    with pytest.raises(BadInput, match=r"gone\.csv"):
        count_corpora(config)
