"""Wiegreffe & Pinter's curve: how far predictions move (TVD) against how far attention does (JSD), for λ after λ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful.measures.divergence import LN_2


@dataclass(frozen=True)
class CurvePoint:
    """Where the twins of one λ stand: means over the whole test split and over twins, and the ends among twins."""

    corpus: str
    encoder: str
    value: str
    strength: float
    """λ."""
    divergence: str
    """What λ weighs: kl for the curve, jsd for AtteFa's own point beside it."""
    jsd: float
    """Of attention, over ln 2: in [0, 1]."""
    jsd_least: float
    jsd_most: float
    tvd: float
    """Of predictions, over all classes: in [0, 1]."""
    tvd_least: float
    tvd_most: float
    f1: float
    """Of the twins."""
    base_f1: float
    blind_tvd: float
    """TVD of the best prediction that is the same for every text, over the texts that were audited."""
    classes: int
    twins: int

    @property
    def line(self) -> str:
        """What it is a point of."""
        return f"{Path(self.corpus).stem} {Path(self.encoder).name}"

    @property
    def on_curve(self) -> bool:
        """Whether it is one of Wiegreffe & Pinter's."""
        return self.divergence == "kl"

    @property
    def papers_jsd(self) -> float:
        """JSD in nats, at most ln 2, as the papers print it."""
        return self.jsd * LN_2

    @property
    def papers_tvd(self) -> float | None:
        """TVD of the one sigmoid, at most 0.5, as the papers print it; they have two classes only."""
        return self.tvd / 2 if self.classes == 2 else None


def place(
    tests: Sequence[Mapping[str, float]],
    *,
    corpus: str,
    encoder: str,
    value: str,
    strength: float,
    divergence: str,
    base_f1: float,
    blind_tvd: float,
    classes: int,
) -> CurvePoint:
    """Make a point of what each twin of one λ reached on test."""
    jsd, tvd, f1 = (np.array([test[name] for test in tests]) for name in ("jsd", "tvd", "f1"))
    return CurvePoint(
        corpus,
        encoder,
        value,
        strength,
        divergence,
        float(jsd.mean()),
        float(jsd.min()),
        float(jsd.max()),
        float(tvd.mean()),
        float(tvd.min()),
        float(tvd.max()),
        float(f1.mean()),
        base_f1,
        blind_tvd,
        classes,
        len(tests),
    )


def trace(points: Sequence[CurvePoint]) -> tuple[np.ndarray, np.ndarray]:
    """JSD and TVD along the curve, in the order of JSD; it begins at the base, which moves neither."""
    places = sorted((point.jsd, point.tvd) for point in points if point.on_curve)
    jsd, tvd = np.array([(0.0, 0.0), *places]).T
    return jsd, tvd


def height(jsd: np.ndarray, tvd: np.ndarray, at: float) -> float | None:
    """TVD at a JSD, on the straight line between two points; None beyond the end of the curve.

    >>> jsd, tvd = np.array([0.0, 0.4, 0.8]), np.array([0.0, 0.1, 0.3])
    >>> height(jsd, tvd, 0.2), height(jsd, tvd, 0.9)
    (0.05, None)
    """
    return float(np.interp(at, jsd, tvd)) if at <= jsd[-1] else None


def mean_height(jsd: np.ndarray, tvd: np.ndarray) -> float:
    """Area under the curve over its reach: the mean TVD from a JSD of 0 to the largest.

    >>> mean_height(np.array([0.0, 0.5]), np.array([0.0, 0.2]))
    0.1
    """
    return float(np.trapezoid(tvd, jsd) / jsd[-1]) if jsd[-1] > 0 else float(tvd.mean())
