"""A base with its twins, as tables and claims read them: one record per seed, and scores with draws."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heedful.measures.divergence import LN_2
from heedful.measures.imitation import attefa, attefa_draws, blind_tvd
from heedful.papers.results import Measured
from heedful.training.twins import finished_twins


class Twin(NamedTuple):
    """What one seed reached, in AtteFa's units; NaN where its run is not at hand."""

    seed: int
    epoch: float
    f1: float
    tvd: float
    """Of one sigmoid: half of the TVD over both classes."""
    jsd: float
    attefa: float
    corrected: float


class Score(NamedTuple):
    """AtteFa over all twins, with what it may be for other texts and twins."""

    estimate: float
    draws: np.ndarray

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return float(np.quantile(self.draws, 0.025))

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return float(np.quantile(self.draws, 0.975))


@dataclass(frozen=True)
class Twinned:
    """TVD and JSD of every text and twin [texts, twins], both in [0, 1]."""

    name: str
    twins: tuple[Twin, ...]
    tvds: np.ndarray
    jsds: np.ndarray
    blind: float
    """TVD of the best prediction that is the same for every text."""

    def score(self, *, corrected: bool = False) -> Score:
        """AtteFa, or the corrected one."""
        # Every model has draws of its own, so that differences of scores do not look surer than they are.
        seed = zlib.crc32(self.name.encode())
        draws = attefa_draws(self.tvds / (self.blind if corrected else 1.0), self.jsds, seed=seed)
        return Score(float(np.mean([t.corrected if corrected else t.attefa for t in self.twins])), draws)


def twinned(run: Measured) -> Twinned:
    """Put the rows of the audit and the runs of the twins together."""
    rows = run.frames["imitation"]
    seeds = [int(name.removeprefix("tvd_")) for name in rows.columns if name.startswith("tvd_")]
    tvds, jsds = (
        np.stack([rows[f"{name}_{seed}"].to_numpy() for seed in seeds], 1) for name in ("tvd", "jsd")
    )
    blind = max(blind_tvd(np.array(rows["chances"].to_list())), 1e-12)
    records = finished_twins(run.folder)
    twins = []
    for place, seed in enumerate(seeds):
        tvd, jsd, record = tvds[:, place], jsds[:, place], records.get(seed)
        twins.append(
            Twin(
                seed,
                record["epoch"] if record else math.nan,
                record["test"]["f1"] if record else math.nan,
                float(tvd.mean() / 2),
                float(jsd.mean() * LN_2),
                attefa(tvd, jsd),
                attefa(tvd / blind, jsd),
            )
        )
    return Twinned(f"{run.dataset} {run.model}", tuple(twins), tvds, jsds, blind)
