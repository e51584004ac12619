"""A base with its twins, as tables and claims read them: one record per seed, and scores with draws."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from heedful.measures.divergence import LN_2
from heedful.measures.imitation import LEAST_BLIND, attefa, attefa_draws, blind_tvd
from heedful.papers.results import MeasuredRun
from heedful.training.twins import finished_twins


class TwinRecord(NamedTuple):
    """What one seed reached, in AtteFa's units; NaN where its run is not available."""

    seed: int
    epoch: float
    f1: float
    tvd: float
    """Of one sigmoid: half of the TVD over both classes."""
    jsd: float
    attefa: float
    corrected: float


@dataclass(frozen=True)
class Twinned:
    """TVD and JSD of every text and twin [texts, twins], both in [0, 1]."""

    name: str
    twins: tuple[TwinRecord, ...]
    tvds: np.ndarray
    jsds: np.ndarray
    probabilities: np.ndarray
    """What the base said of every text [texts, classes]: how well it is imitated without reading."""

    def scores(self, *, corrected: bool = False, seed: int | None = None) -> Float[np.ndarray, "twins draws"]:
        """AtteFa of every twin, or the corrected one; of the texts as they are, and of texts drawn anew.

        Every model has draws of its own, so that differences of scores do not look surer than they are; unless
        a seed is given, for bases that read the same texts.
        """
        seed = zlib.crc32(self.name.encode()) if seed is None else seed
        return attefa_draws(self.tvds, self.jsds, self.probabilities if corrected else None, seed=seed)


def twinned(run: MeasuredRun) -> Twinned:
    """Put the rows of the audit and the runs of the twins together."""
    rows = run.frames["imitation"]
    seeds = [int(name.removeprefix("tvd_")) for name in rows.columns if name.startswith("tvd_")]
    tvds, jsds = (
        np.stack([rows[f"{name}_{seed}"].to_numpy() for seed in seeds], 1) for name in ("tvd", "jsd")
    )
    probabilities = np.array(rows["chances"].to_list())
    blind = max(blind_tvd(probabilities), LEAST_BLIND)
    records = finished_twins(run.folder)
    twins = []
    for place, seed in enumerate(seeds):
        tvd, jsd, record = tvds[:, place], jsds[:, place], records.get(seed)
        twins.append(
            TwinRecord(
                seed,
                record["epoch"] if record else math.nan,
                record["test"]["f1"] if record else math.nan,
                float(tvd.mean() / 2),
                float(jsd.mean() * LN_2),
                attefa(tvd, jsd),
                attefa(tvd / blind, jsd),
            )
        )
    return Twinned(f"{run.dataset} {run.model}", tuple(twins), tvds, jsds, probabilities)
