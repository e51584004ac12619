"""Parts of a page that are measured on several machines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.papers.seat.test_seat import run
from typer.testing import CliRunner

from heedful.cli.app import app
from heedful.errors import BadInput
from heedful.papers.corpus_counts import kept_counts
from heedful.papers.measured_numbers import MeasuredNumber, Numbers
from heedful.papers.outcome import make_page, split
from heedful.papers.paper_page import markdown
from heedful.papers.parts import best, keep, kept
from heedful.papers.results import Missing, Results
from heedful.papers.seat.recipe import SEAT

METHODS = ("vanilla", "seat", "steady")


def results(dataset: str, encoder: str = "RNN", seeds: int = 1) -> Results:
    runs = [run(m, dataset=dataset, encoder=encoder, seed=s) for m in METHODS for s in range(seeds)]
    return Results(tuple(runs), (Missing(f"{dataset} {encoder} word_at seed 0", "not trained"),))


def both(*found: Results) -> Results:
    return Results(
        tuple(run for each in found for run in each.runs),
        tuple(lack for each in found for lack in each.missing),
    )


def page(at_hand: Results, elsewhere=()) -> str:
    return markdown(make_page(SEAT, at_hand, SEAT.experiments, elsewhere))


def test_two_machines_write_the_page_of_one(tmp_path: Path) -> None:
    here, there = results("sst2", seeds=2), both(results("mr"), results("mr", "BiLSTM"))
    keep(split(SEAT, there), tmp_path)
    assert page(here, kept("seat", tmp_path)) == page(both(here, there))
    assert page(both(here, there)).startswith("# Hu et al. 2023")
    assert "\n\n12 runs (seed 0, 1). " in page(both(here, there))


def test_parts_of_before_say_that_their_intervals_are_of_texts(tmp_path: Path) -> None:
    (path,) = keep(split(SEAT, results("mr", seeds=3)), tmp_path)
    assert "Measured before seeds entered intervals" not in page(Results(), kept("seat", tmp_path))
    assert "texts, 3 seeds, " in page(Results(), kept("seat", tmp_path))
    frame, seeded = pl.read_parquet(path), pl.col("measure") == "seeded"
    numbers = pl.when(pl.col("audit") == "part").then("each")
    frame.with_columns(
        numbers, pl.when(seeded).then(0.0).otherwise("estimate").alias("estimate")
    ).write_parquet(path)
    old = page(Results(), kept("seat", tmp_path))
    assert "in all tables, intervals of means are over texts, with the seeds at hand" in old
    assert "80 texts †, " in old and "3 seeds, " not in old
    assert "† Over texts alone, with the seeds at hand" in old
    both_kinds = page(results("sst2", seeds=3), kept("seat", tmp_path))
    assert "in the tables of mr, rnn, intervals of means" in both_kinds


def test_what_is_missing_is_named_once_and_by_the_part_that_counts(tmp_path: Path) -> None:
    keep(split(SEAT, results("mr", seeds=2)), tmp_path)
    nothing = Missing("mr RNN steady seed 1", "not trained")
    untouched = Missing("tweeteval_hate RNN seat seed 0", "not trained")
    text = page(Results((), (nothing, untouched)), kept("seat", tmp_path))
    assert nothing.what not in text  # the kept part has that run
    assert text.count(untouched.what) == 1 and text.count("mr RNN word_at seed 0: not trained") == 1


def test_the_part_with_more_counts_and_is_never_overwritten_by_less(tmp_path: Path) -> None:
    less, more = (split(SEAT, results("mr", seeds=n)) for n in (1, 2))
    assert [path.name for path in keep(more, tmp_path)] == ["seat-mr-rnn.parquet"]
    assert keep(less, tmp_path) == []
    (found,) = kept("seat", tmp_path)
    assert (found.runs, found.seeds) == (6, (0, 1))
    assert best([*more, *less], SEAT.places) == more == best([*less, *more], SEAT.places)
    assert keep(more, tmp_path) != []  # measured again: as much, and later


def test_other_recipes_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "attefa-mr-rnn.parquet").write_text("{}")
    assert kept("seat", tmp_path) == []


@pytest.mark.parametrize("how", ["cut", "no Parquet", "columns", "nothing of the whole"])
def test_a_damaged_part_is_named(tmp_path: Path, how: str) -> None:
    (path,) = keep(split(SEAT, results("mr")), tmp_path)
    frame = pl.read_parquet(path)
    if how == "columns":
        frame.drop("draws").write_parquet(path)
    elif how == "nothing of the whole":
        frame.filter(pl.col("measure") != "amount").write_parquet(path)
    else:
        path.write_bytes({"cut": path.read_bytes()[:100], "no Parquet": b"x"}[how])
    with pytest.raises(BadInput, match=r"seat-mr-rnn.parquet does not hold a part"):
        kept("seat", tmp_path)


def test_a_kept_part_is_the_part_that_was_measured(tmp_path: Path) -> None:
    (part,) = split(SEAT, results("mr", seeds=2))
    keep([part], tmp_path)
    (again,) = kept("seat", tmp_path)
    assert part.to_frame().equals(again.to_frame())
    assert (again.missing, again.notes, again.seeded) == (part.missing, part.notes, True)
    for claim in SEAT.claims:
        for one, other in zip(part.samples(claim.id), again.samples(claim.id), strict=True):
            assert np.array_equal(one.draws, other.draws, equal_nan=True)
            assert one._replace(draws=other.draws) == other


def test_numbers_tell_the_command_commit_and_versions_of_their_runs(tmp_path: Path) -> None:
    runs = []
    for at_hand in results("mr", seeds=2).runs:
        folder = tmp_path / f"{at_hand.model} {at_hand.seed}"
        folder.mkdir()
        told = {
            "command": ["heedful", "x y"],
            "commit": f"c{at_hand.seed}",
            "versions": {"torch": "2", "gone": None},
        }
        if at_hand.model != "RNN steady":
            (folder / "environment.json").write_text(json.dumps(told))
        runs.append(replace(at_hand, folder=folder))
    (part,) = split(SEAT, Results(tuple(runs)))
    frame = part.to_frame().filter(pl.col("measure") == "f1", pl.col("audit") == "training")
    shown = {
        (model, seed): told
        for model, seed, *told in frame.select("model", "seed", "command", "commit", "versions").iter_rows()
    }
    assert shown["RNN seat", 1] == ["heedful 'x y'", "c1", "torch 2"]
    assert shown["RNN seat", None][1] == "c0; c1"
    assert shown["RNN steady", 0] == [None, None, None]


def test_what_the_repository_holds_makes_its_page() -> None:
    """The numbers of docs/measured, without any run, give docs/seat.md."""
    docs = Path(__file__).parents[2] / "docs"
    written = (docs / "seat.md").read_text(encoding="utf-8")
    made = markdown(
        make_page(
            SEAT,
            Results(corpora=kept_counts("seat", docs / "measured")),
            SEAT.experiments,
            kept("seat", docs / "measured"),
        ),
        Path("seat-figures"),
    )
    assert made == written


def test_only_recipes_that_can_be_put_together_are_joined(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "attefa", "--join", str(tmp_path)])
    assert isinstance(
        done.exception, BadInput
    ) and "--join is for flat, jain-wallace, seat, serrano-smith" in str(done.exception)


def test_the_command_shows_what_is_kept_alone(tmp_path: Path) -> None:
    keep(split(SEAT, results("mr")), tmp_path / "kept")
    given = [
        "--only-finished",
        "--join",
        str(tmp_path / "kept"),
        "--runs",
        str(tmp_path / "runs"),
        "--format",
        "md",
    ]
    done = CliRunner().invoke(app, ["reproduce", "seat", *given])
    assert done.exit_code == 0 and "**mr, RNN**" in done.output


def test_a_part_with_more_takes_what_it_lacks_and_nothing_else(tmp_path: Path) -> None:
    less, more = (split(SEAT, results("mr", seeds=n))[0] for n in (1, 2))
    new = MeasuredNumber("mr", "RNN seat", "example", "jsd", 0.25, group="words", texts=1)
    deciding = MeasuredNumber("mr", "RNN", "example", "se-1", 0.5, draws=[0.5, 0.6])
    changed = [n._replace(estimate=99.0) for n in less.numbers.rows]
    origin = pl.DataFrame({"command": ["c"], "commit": ["d"], "versions": ["v"]})
    richer = replace(
        less, numbers=Numbers((*changed, new, deciding)), origin=pl.concat([origin] * (len(changed) + 2))
    )
    keep([more], tmp_path)
    (before,) = kept("seat", tmp_path)
    assert [path.name for path in keep([richer], tmp_path)] == ["seat-mr-rnn.parquet"]
    (after,) = kept("seat", tmp_path)
    assert len(after.numbers.rows) == len(before.numbers.rows) + 1
    assert after.numbers.get("mr", "RNN seat", "example", "jsd", group="words") is not None
    assert (
        after.numbers.get("mr", "RNN", "example", "se-1") is None
    )  # what decides a claim is of the same runs
    assert 99.0 not in [n.estimate for n in after.numbers.rows]
    assert after.origin is not None and after.origin.row(-1) == ("c", "d", "v")
    assert (after.runs, after.amount) == (more.runs, more.amount)
    assert keep([richer], tmp_path) == []  # there is nothing new any more
