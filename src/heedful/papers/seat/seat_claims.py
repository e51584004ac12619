"""What SEAT claims, what we claim of it, and what of our own method, as numbers that decide."""

from __future__ import annotations

from functools import partial

from heedful.output.numbers import percentage
from heedful.papers.claims import LEAST_TEXTS, Claim
from heedful.papers.recipe import published
from heedful.papers.seat.methods import named
from heedful.papers.seat.paired_samples import (
    f1_change,
    least_of_the_sharp,
    minus_best_rival,
    over,
    over_best_rival,
    over_the_sharp,
    top_items,
)

NOISE, WORDS, RATIONALE = "embedding_stability", "word_stability", "rationale"
F1_LOSS, OUR_F1_LOSS = 0.01, 0.005
NOTHING_MOVES = 1e-6
STEADIER = 3
_OVERLAP: float = published("seat")["figure_5"]["overlap"]
_SEAT, _STEADY = named("seat"), named("steady")
_LOWEST = "lowest in every cell, by a factor of 100 and more"

RULE = (
    "A claim that something is lowest (or highest) of all compares with the best of the other methods: it holds if the 95 % interval of "
    "that ratio or difference lies inside the claimed range; which of them is the best is taken from the same numbers, so that such a claim is judged a "
    "little hard. Ratios and differences are of means over texts, seed by seed, with the seeds that all methods have. Intervals speak of other seeds and other "
    "texts: Student's over seeds, widened by texts drawn anew, the same ones for all methods (1,000 times). Two seeds have no interval, and that of one "
    "seed (MiniLM) speaks of texts alone. Seeds, corpora and "
    "encoders count the same, and the mean of ratios is geometric. Over all of them together the interval must lie inside the range, and the same must be so for most that have "
    f"{LEAST_TEXTS} texts or more; a claim does not hold if the interval lies outside; else it is undecided. "
    "The ranges are our reading of the paper's words. Claims from se-14 on are ours."
)

Ratio = partial(Claim, ratio=True)
CLAIMS = (
    Ratio(
        "se-1",
        "Under noise of 0.001 on one word, SEAT's heatmap moves least of the seven methods.",
        "Stability Evaluation, Table 1",
        "JSD of SEAT / lowest JSD of the six others",
        NOISE,
        over_best_rival(NOISE, "jsd_one_0.001"),
        _SEAT,
        below=1.0,
        published=_LOWEST,
    ),
    Ratio(
        "se-2",
        "The same under noise of 0.01.",
        "Appendix, Table 8",
        "JSD of SEAT / lowest JSD of the six others",
        NOISE,
        over_best_rival(NOISE, "jsd_one_0.01"),
        _SEAT,
        below=1.0,
        published=_LOWEST,
    ),
    Ratio(
        "se-3",
        "Under noise of 0.001 on one word, SEAT's prediction moves least of the seven methods.",
        "Stability Evaluation, Table 1",
        "TVD of SEAT / lowest TVD of the six others",
        NOISE,
        over_best_rival(NOISE, "tvd_one_0.001"),
        _SEAT,
        below=1.0,
        published="lowest in every cell",
    ),
    Ratio(
        "se-4",
        "The same under noise of 0.01.",
        "Appendix, Table 8",
        "TVD of SEAT / lowest TVD of the six others",
        NOISE,
        over_best_rival(NOISE, "tvd_one_0.01"),
        _SEAT,
        below=1.0,
        published="lowest in every cell",
    ),
    Ratio(
        "se-5",
        "SEAT's heatmap moves least also for how sharp it is (noise of 0.01 on one word; our reading at equal sharpness).",
        "Stability Evaluation, Table 8",
        "relative JSD of SEAT / lowest relative JSD of the six others",
        NOISE,
        over_best_rival(NOISE, "relative_jsd_one_0.01"),
        _SEAT,
        below=1.0,
    ),
    Ratio(
        "se-6",
        "When a word is replaced by a synonym, SEAT's heatmap moves least of the seven methods.",
        "Stability Evaluation, Table 3",
        "JSD of SEAT / lowest JSD of the six others",
        WORDS,
        over_best_rival(WORDS, "jsd_1"),
        _SEAT,
        below=1.0,
        published=_LOWEST,
    ),
    Claim(
        "se-7",
        f"SEAT costs almost no F1 (less than {F1_LOSS}).",
        "Evaluating Interpretability and Utility, Tables 1, 3",
        "F1 of SEAT − F1 of vanilla",
        NOISE,
        f1_change("seat"),
        _SEAT,
        above=-F1_LOSS,
        published="-0.008 to 0.058",
    ),
    Claim(
        "se-8",
        "SEAT's top words are needed most of the seven methods (comprehensiveness).",
        "Evaluating Interpretability and Utility, Table 2",
        "comprehensiveness of SEAT − highest of the six others",
        RATIONALE,
        minus_best_rival(RATIONALE, "comprehensiveness", lower=False),
        _SEAT,
        above=0.0,
        published="highest in every cell",
    ),
    Claim(
        "se-9",
        "SEAT's top words are most nearly enough (sufficiency).",
        "Evaluating Interpretability and Utility, Table 2",
        "sufficiency of SEAT − lowest of the six others",
        RATIONALE,
        minus_best_rival(RATIONALE, "sufficiency", lower=True),
        _SEAT,
        below=0.0,
        published="lowest in 11 of 12 cells, one tie",
    ),
    Claim(
        "se-10",
        "SEAT has the lowest sensitivity, which the paper takes for the best.",
        "Evaluating Interpretability and Utility, Table 2",
        "sensitivity of SEAT − lowest of the six others",
        RATIONALE,
        minus_best_rival(RATIONALE, "sensitivity", lower=True),
        _SEAT,
        below=0.0,
        published="lowest in 10 of 12 cells, two ties",
    ),
    Ratio(
        "se-11",
        "The stability term matters: without it the prediction moves more under noise of 0.01.",
        "Ablation Study, Tables 4, 6",
        "TVD of SEAT / TVD without the term",
        NOISE,
        over("seat", "seat, no stability", "tvd_one_0.01"),
        named("seat", "seat, no stability"),
        below=1.0,
        published="0.18 to 0.63",
    ),
    Ratio(
        "se-12",
        "The top-k term matters: without it the heatmap moves more under noise of 0.01.",
        "Ablation Study, Table 6",
        "JSD of SEAT / JSD without the term",
        NOISE,
        over("seat", "seat, no top-k", "jsd_one_0.01"),
        named("seat", "seat, no top-k"),
        below=1.0,
        published="0.85 (BiLSTM), below 1e-5 (RNN, BERT)",
    ),
    Claim(
        "se-13",
        f"Trained with the surrogate, {percentage(_OVERLAP)} of SEAT's top 7 are vanilla's, or more.",
        "Appendix, Figure 5",
        "share of the top 7 items, on test",
        "sharpness",
        top_items(published("seat")["figure_5"]["corpora"]),
        _SEAT,
        above=_OVERLAP,
        published=percentage(_OVERLAP),
    ),
    Claim(
        "se-14",
        "A JSD of 1e-6 or less, as the paper prints for SEAT, needs flat attention: under noise of 0.05 on one word no method that is "
        "more than half as sharp as vanilla reaches it.",
        "ours",
        "lowest JSD of such methods",
        NOISE,
        least_of_the_sharp("jsd_one_0.05"),
        named("vanilla"),
        above=NOTHING_MOVES,
        published="at most 4e-8 for SEAT with RNN and BiLSTM",
    ),
    Ratio(
        "se-15",
        "Our steady is as sharp as vanilla, within 10 %.",
        "ours",
        "sharpness of steady / sharpness of vanilla",
        NOISE,
        over("steady", "vanilla", "sharpness"),
        _STEADY,
        above=0.9,
        below=1.1,
    ),
    Claim(
        "se-16",
        f"It costs less than {OUR_F1_LOSS} of F1.",
        "ours",
        "F1 of steady − F1 of vanilla",
        NOISE,
        f1_change("steady"),
        _STEADY,
        above=-OUR_F1_LOSS,
    ),
    Ratio(
        "se-17",
        f"Under noise of 0.01 on all words its heatmap moves less than vanilla's, by a factor of {STEADIER} at least.",
        "ours",
        "JSD of vanilla / JSD of steady",
        NOISE,
        over("vanilla", "steady", "jsd_all_0.01"),
        _STEADY,
        above=STEADIER,
    ),
    Ratio(
        "se-18",
        "And its prediction moves less than vanilla's.",
        "ours",
        "TVD of steady / TVD of vanilla",
        NOISE,
        over("steady", "vanilla", "tvd_all_0.01"),
        _STEADY,
        below=1.0,
    ),
    Ratio(
        "se-19",
        "No method of the paper that is at most 10 % less sharp moves less under noise of 0.01 on all words.",
        "ours",
        "JSD of steady / lowest JSD of such methods",
        NOISE,
        over_the_sharp("jsd_all_0.01"),
        _STEADY,
        below=1.0,
    ),
    Ratio(
        "se-20",
        "Equation 6 as printed does not make the heatmap steadier than vanilla's, by a tenth or more (noise of 0.01 on all words).",
        "ours",
        "JSD of SEAT / JSD of vanilla",
        NOISE,
        over("seat", "vanilla", "jsd_all_0.01"),
        _SEAT,
        above=0.9,
    ),
    Ratio(
        "se-21",
        "Stability that stands alone makes attention flat: less than a tenth of vanilla's sharpness is left.",
        "ours",
        "sharpness of consistency / sharpness of vanilla",
        NOISE,
        over("consistency", "vanilla", "sharpness"),
        named("vanilla", "consistency", encoders=("RNN", "BiLSTM")),
        below=0.1,
    ),
)
