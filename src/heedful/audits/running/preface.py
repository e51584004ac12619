"""What a reader must know before a verdict: whether there is a model to explain, and a heatmap to look at."""

from __future__ import annotations

import polars as pl

from heedful.audits.running.result import About
from heedful.audits.verdict import MOST
from heedful.output.numbers import percentage

GUESSING = 0.2
"""From the most frequent label (0) to no error (1): a model below this hardly does better than a guess."""

LEAST_TEXTS = 30
"""With fewer labels than this, nothing is said about how good a model is."""

OFTEN = 1.1
"""Average number of copies of a text from which on a reader should know about them."""

REACH = "reach"
"""The audit that tells whether weights decide anything."""

ALL_OF_IT = 0.99
"""A heatmap whose largest weight is at least this consists of a single item."""


def opening_remarks(
    about: About, sharpness: pl.DataFrame, reach: pl.DataFrame | None = None
) -> tuple[str, ...]:
    """Say if the model guesses, if weights decide nothing, if heatmaps consist of one item, and if texts are copies."""
    remarks = []
    if about.distinct is not None and about.copies > OFTEN:
        remarks.append(
            f"Only {about.distinct:,} of these {about.texts:,} texts {'is' if about.distinct == 1 else 'are'} distinct: "
            f"copies add no evidence and are counted once."
        )
    accuracy, majority = about.performance.get("accuracy"), about.majority
    several = majority is not None and majority < 1 and about.texts >= LEAST_TEXTS
    if (
        several
        and accuracy is not None
        and majority is not None
        and accuracy - majority < GUESSING * (1 - majority)
    ):
        remarks.append(
            f"The model is right for {percentage(accuracy)} of these texts, and always giving the most frequent label would be right for "
            f"{percentage(majority)}: no heatmap explains a guess."
        )
    beyond = 0.0 if reach is None else float((reach["out_of_reach"] > 0).sum() / max(len(reach), 1))
    if beyond > MOST:
        remarks.append(
            f"This place decides nothing: for {percentage(beyond)} of the texts no weights that were tried move the prediction. What shuffled or "
            f"counterfactual weights do counts neither for nor against the heatmap."
        )
    single = float((sharpness["largest_weight"] >= ALL_OF_IT).sum() / max(len(sharpness), 1))
    if single > 0.5:
        remarks.append(
            f"For {percentage(single)} of the texts one item has all the weight: the heatmap is that item, and the order of the "
            f"others says nothing."
        )
    return tuple(remarks)
