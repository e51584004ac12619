"""Claims that were decided are decided the same from the numbers that were kept."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from tests.papers.conftest import Make

from heedful.papers.claims import judge_all
from heedful.papers.jain_wallace.recipe import JAIN_WALLACE
from heedful.papers.judged import judged_from, numbers_of
from heedful.papers.measured_numbers import Numbers
from heedful.papers.outcome import claims, whole
from heedful.papers.parts import keep, kept_whole
from heedful.papers.results import Missing, Results


def results(measured: Make) -> Results:
    texts = np.linspace(0.1, 0.5, 40)
    columns = {"tau_g": texts, "tau_loo": texts + 0.4, "tau_g_loo": texts + 0.1}
    runs = [
        measured("bilstm", "agreement", dataset=name, seed=seed, **columns)
        for name in ("sst2", "imdb")
        for seed in (0, 1)
    ]
    runs.append(measured("average", "agreement", **(columns | {"tau_g": texts + 0.3})))
    return Results(tuple(runs), (Missing("snli bilstm seed 0", "not trained"),))


def test_claims_are_decided_again_from_their_numbers(measured: Make) -> None:
    judged = judge_all(JAIN_WALLACE.claims, results(measured))
    again = judged_from(JAIN_WALLACE.claims, Numbers(tuple(numbers_of(judged))))
    assert {found.word for found in judged} > {"holds", "not measured"}
    assert [(j.word, j.held, j.able, j.parts) for j in again] == [
        (j.word, j.held, j.able, j.parts) for j in judged
    ]
    assert claims(JAIN_WALLACE, again) == claims(JAIN_WALLACE, judged)


def test_seeds_that_an_interval_speaks_of_are_kept(measured: Make) -> None:
    judged = judge_all(JAIN_WALLACE.claims[:1], results(measured))
    parts = tuple(
        part._replace(seeds=seeds) for part, seeds in zip(judged[0].parts, [(3, 2), ()], strict=True)
    )
    (again,) = judged_from(
        JAIN_WALLACE.claims, Numbers(tuple(numbers_of([judged[0]._replace(parts=parts)])))
    )[:1]
    assert [part.seeds for part in again.parts] == [(3, 2), ()]


def test_what_decided_a_papers_claims_is_kept_with_its_lead_and_what_is_missing(
    measured: Make, tmp_path: Path
) -> None:
    found = results(measured)
    assert kept_whole("jain-wallace", tmp_path) is None
    (path,) = keep([whole(JAIN_WALLACE, found)], tmp_path)
    assert path.name == "jain-wallace.parquet"
    part = kept_whole("jain-wallace", tmp_path)
    assert part is not None and part.notes == (JAIN_WALLACE.lead(found),) and part.missing == found.missing
    again = judged_from(JAIN_WALLACE.claims, part.numbers)
    assert claims(JAIN_WALLACE, again) == claims(JAIN_WALLACE, judge_all(JAIN_WALLACE.claims, found))
    assert math.isnan(again[-1].interval.estimate)
