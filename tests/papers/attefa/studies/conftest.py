"""Studies small enough to be done in a test: tiny bases, and twins of one epoch in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import heedful.audits.questions.imitation
import heedful.papers.attefa.studies.run_study
import heedful.training.objectives.imitation
import heedful.training.twins
from heedful.papers.attefa.studies.curve import CurvePoint
from heedful.papers.attefa.studies.run_study import Studied, run_study
from heedful.papers.attefa.studies.study import STUDIES, Setting, Study

SMALL: dict[str, Any] = {
    "encoder": "average",
    "vectors": None,
    "hidden": 4,
    "embedding_size": 6,
    "epochs": 1,
    "limit": 60,
    "seeds": (10, 50),
}

Do = Callable[..., Studied]


def _ends(study: Study) -> Study:
    """Keep the first and the last value of a grid, and three points of a curve."""

    def settings(corpus: str) -> list[Setting]:
        grid = list(study.settings(corpus))
        return [grid[0], *grid[1:][-1:]]

    twins = tuple(twin for twin in study.twins if twin.label in ("0.001", "1", "AtteFa"))
    return replace(study, settings=settings, corpora=study.corpora[:1], twins=twins)


@contextmanager
def _small() -> Iterator[None]:
    """Make studies small while one is done, and no longer: other tests need real processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heedful.training.objectives.imitation, "EPOCHS", 1)
        patch.setattr(heedful.papers.attefa.studies.run_study, "QUICK_TEXTS", SMALL["limit"])
        for name, size in (("limit", SMALL["limit"]), ("epochs", 1)):
            patch.setitem(heedful.audits.questions.imitation.QUICK, name, size)
        # New processes would take longer than all that they do.
        patch.setattr(heedful.training.twins, "USUAL", "here")
        yield


@pytest.fixture(scope="session")
def do() -> Do:
    """Give a function that does a small study by its name."""

    def do(name: str, runs: Path, **options: Any) -> Studied:
        with _small():
            return run_study(_ends(STUDIES.get(name)), runs=runs, **{**SMALL, **options})

    return do


@pytest.fixture(scope="session")
def curve(do: Do, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Studied]:
    """Give a curve that was followed, and the folder of its runs, to be read only."""
    runs = tmp_path_factory.mktemp("curve")
    return runs, do("curve", runs)


@pytest.fixture
def point() -> Callable[..., CurvePoint]:
    """Give a function that makes a point by hand."""

    def make(jsd: float, tvd: float, **changes: Any) -> CurvePoint:
        usual = CurvePoint(
            "mock_1", "average", "0.1", 0.1, "kl", jsd, jsd, jsd, tvd, tvd, tvd, 0.8, 0.9, 0.4, 2, 1
        )
        return replace(usual, **changes)

    return make
