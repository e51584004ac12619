"""Parts of a page that are measured on several machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.papers.seat.test_seat import run
from typer.testing import CliRunner

from heedful.cli.app import app
from heedful.errors import BadInput
from heedful.papers.outcome import make_page, split
from heedful.papers.page import markdown
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
    keep(split(SEAT, there, SEAT.experiments), tmp_path)
    assert page(here, kept("seat", tmp_path)) == page(both(here, there))
    assert page(both(here, there)).startswith("# Hu et al. 2023")
    assert "\n\n12 runs (seed 0, 1). " in page(both(here, there))


def test_parts_of_before_say_that_their_intervals_are_of_texts(tmp_path: Path) -> None:
    (path,) = keep(split(SEAT, results("mr", seeds=3), SEAT.experiments), tmp_path)
    assert "Measured before seeds entered intervals" not in page(Results(), kept("seat", tmp_path))
    assert "texts, 3 seeds, " in page(Results(), kept("seat", tmp_path))
    content = json.loads(path.read_text())
    del content["seeded"]
    for samples in content["samples"].values():
        for sample in samples:
            del sample["seeds"]
    path.write_text(json.dumps(content))
    old = page(Results(), kept("seat", tmp_path))
    assert "in all tables, intervals of means are over texts, with the seeds at hand" in old
    assert "80 texts †, " in old and "3 seeds, " not in old
    assert "† Over texts alone, with the seeds at hand" in old
    both_kinds = page(results("sst2", seeds=3), kept("seat", tmp_path))
    assert "in the tables of mr, rnn, intervals of means" in both_kinds


def test_what_is_missing_is_named_once_and_by_the_part_that_counts(tmp_path: Path) -> None:
    keep(split(SEAT, results("mr", seeds=2), SEAT.experiments), tmp_path)
    nothing = Missing("mr RNN steady seed 1", "not trained")
    untouched = Missing("tweeteval_hate RNN seat seed 0", "not trained")
    text = page(Results((), (nothing, untouched)), kept("seat", tmp_path))
    assert nothing.what not in text  # the kept part has that run
    assert text.count(untouched.what) == 1 and text.count("mr RNN word_at seed 0: not trained") == 1


def test_the_part_with_more_counts_and_is_never_overwritten_by_less(tmp_path: Path) -> None:
    less, more = (split(SEAT, results("mr", seeds=n), SEAT.experiments) for n in (1, 2))
    assert [path.name for path in keep(more, tmp_path)] == ["seat-mr-rnn.json"]
    assert keep(less, tmp_path) == []
    (found,) = kept("seat", tmp_path)
    assert (found.runs, found.seeds) == (6, [0, 1])
    assert best([*more, *less], SEAT.places) == more == best([*less, *more], SEAT.places)
    assert keep(more, tmp_path) != []  # measured again: as much, and later


def test_other_recipes_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "attefa-mr-rnn.json").write_text("{}")
    assert kept("seat", tmp_path) == []


@pytest.mark.parametrize("how", ["cut", "no JSON", "version", "uneven"])
def test_a_damaged_part_is_named(tmp_path: Path, how: str) -> None:
    (path,) = keep(split(SEAT, results("mr"), SEAT.experiments), tmp_path)
    text = path.read_text()
    content = json.loads(text)
    if how == "version":
        text = json.dumps(content | {"version": 2})
    elif how == "uneven":
        content["tables"]["Table 1"][0]["rows"][0].pop()
        text = json.dumps(content)
    path.write_text({"cut": text[:100], "no JSON": "x"}.get(how, text))
    with pytest.raises(BadInput, match=r"seat-mr-rnn.json does not hold a part"):
        kept("seat", tmp_path)


def test_only_recipes_that_can_be_put_together_are_joined(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", "attefa", "--join", str(tmp_path)])
    assert isinstance(done.exception, BadInput) and "--join is for seat" in str(done.exception)


def test_the_command_shows_what_is_kept_alone(tmp_path: Path) -> None:
    keep(split(SEAT, results("mr"), SEAT.experiments), tmp_path / "kept")
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
