"""What Amini & Kosseim claim of AtteFa, and one claim of ours, as numbers that decide."""

from __future__ import annotations

import polars as pl

from heedful.papers.attefa.score_samples import (
    F1_LOSS,
    LADDER,
    TWO_MODELS,
    f1_kept,
    falls,
    falls_corrected,
    gap,
    real_below_mock,
)
from heedful.papers.claims import LEAST_TEXTS, Claim

NEAR_BOUND = 0.9
"""Share of the bound of JSD from which attention is nearly as far away as it can be."""

RULE = (
    "A claim about AtteFa is a difference of scores, averaged over corpora that count the same; its 95 % interval speaks of other twins (Student's) and "
    "other texts (drawn anew; for the corrected score the reference is drawn with them). A claim about F1 has Student's interval over twins, and one about JSD the bootstrap interval over "
    f"texts. A fall along the ladder of Mock corpora holds only if no step clearly rises. It holds if the interval lies inside the claimed range, and the same is so for most corpora of {LEAST_TEXTS} texts or three twins or "
    "more; it does not hold if the interval lies outside; else it is undecided. There is one base of each: intervals do not "
    "speak of other bases. The ranges are our reading of the paper's words."
)
_LADDER = "the ladder is " + ", ".join(LADDER)

CLAIMS = (
    Claim(
        "at-1",
        "Over an MLP, AtteFa falls as informative tokens become frequent.",
        "6.2, Table 3",
        f"AtteFa of a corpus − that of a richer one ({_LADDER})",
        "imitation",
        falls("MLP"),
        ("MLP",),
        above=0.0,
        unit="twins",
        throughout=True,
        published="0.82, 0.51, 0.50, 0.50, 0.27, 0.20, 0.001, 0.0002: “the general trend”, with a bump from Mock-5 to Mock-10",
    ),
    Claim(
        "at-2",
        "Over an LSTM it falls too, on a smaller scale.",
        "6.2, Table 3",
        f"AtteFa of a corpus − that of a richer one ({_LADDER})",
        "imitation",
        falls("LSTM"),
        ("LSTM",),
        above=0.0,
        unit="twins",
        throughout=True,
        published="0.030, 0.033, 0.004, 0.001, 0.0006, 0.0008, 0.0003, 0.0002: with bumps at Mock-2 and Mock-2q",
    ),
    Claim(
        "at-3",
        "On every corpus attention is more faithful over an MLP than over an LSTM.",
        "6.1, Table 3",
        "AtteFa of MLP − AtteFa of LSTM",
        "imitation",
        gap,
        TWO_MODELS,
        above=0.0,
        unit="twins",
        published="positive but on Mock-4q, a tie",
    ),
    Claim(
        "at-4",
        f"The twins' attention is nearly as far from the base's as it can be (over {NEAR_BOUND} of the bound).",
        "6.4, Figure 2",
        "JSD over ln 2",
        "imitation",
        pl.col("twin_jsd"),
        TWO_MODELS,
        above=NEAR_BOUND,
        published="below 0.9 for the MLP on Mock-1 alone, 0.57",
    ),
    Claim(
        "at-5",
        f"On real text the twins of an LSTM classify as well as it does (F1 lower by less than {F1_LOSS}).",
        "6, Tables 2, 3",
        "F1 of a twin − F1 of its base",
        "imitation",
        f1_kept,
        ("LSTM",),
        above=-F1_LOSS,
        unit="twins",
        published="-0.001 to -0.019, and -0.070 on 20News",
    ),
    Claim(
        "at-6",
        "On real text AtteFa over an MLP is lower than on Mock-1 to Mock-10.",
        "6.3, Table 3",
        "least AtteFa of Mock-1, 2, 5, 10 − AtteFa",
        "imitation",
        real_below_mock,
        ("MLP",),
        above=0.0,
        unit="twins",
        published="0.50 against 0.19 to 0.44",
    ),
    Claim(
        "at-7",
        "A score that takes the base's own performance into account (ours; the paper wishes for one) orders the Mock corpora in "
        "the same way.",
        "6.2",
        f"corrected score of a corpus − that of a richer one ({_LADDER})",
        "imitation",
        falls_corrected("MLP"),
        ("MLP",),
        above=0.0,
        unit="twins",
        throughout=True,
    ),
)
