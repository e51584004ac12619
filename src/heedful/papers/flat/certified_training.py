"""Beyond the paper: FLAT beside training that proves what it promises."""

from __future__ import annotations

import polars as pl

from heedful.output.tables import Table
from heedful.papers.claims import Claim
from heedful.papers.flat.methods import ENCODERS, METHODS, model_name, named
from heedful.papers.flat.paper_tables import ROBUSTNESS, accuracy_cell, mean_cell
from heedful.papers.recipe import Model
from heedful.papers.results import Results

ON = ("sst2",)
CERTIFIED = "CNN-certified (TextFooler)"
MODELS = (
    Model(
        CERTIFIED,
        "cnn",
        {**ENCODERS["CNN"].options, "objective": "certified", "epochs": 20},
        attacks=("textfooler",),
        near_words="substitutes",
    ),
)
COMPARED = (*named(*METHODS, encoders=("CNN",), attacks=("textfooler",)), CERTIFIED)


def table_12(results: Results) -> list[Table]:
    """What attacks leave right and what is proven, of convolutions."""
    rows = []
    for dataset in results.datasets:
        if not results.of(dataset, CERTIFIED, ROBUSTNESS):
            continue
        for name in COMPARED:
            if not (runs := results.of(dataset, name, ROBUSTNESS)):
                continue
            cells = [
                mean_cell(results, dataset, name, ROBUSTNESS, column, percent=True)
                for column in ("after_attack", "certified")
            ]
            rows.append([dataset, name, str(len(runs)), accuracy_cell(runs, "test"), *cells])
    title = "CNNs under TextFooler, in percent: right before, under attack, and whatever words are replaced"
    return [Table(["dataset", "model", "seeds", "SA", "AA", "certified"], rows, title)] if rows else []


def _more(number: str, column: str, statement: str) -> Claim:
    return Claim(
        number,
        statement,
        "ours",
        f"{column.replace('_', ' ')} of certified training − of FLAT, by text",
        ROBUSTNESS,
        pl.col(column),
        (CERTIFIED,),
        above=0.0,
        against={CERTIFIED: model_name("CNN", "FLAT", "textfooler")},
    )


CLAIMS = (
    _more("fa-21", "certified", "Certified training proves more texts than FLAT does."),
    _more("fa-22", "after_attack", "More of its texts also stay right under TextFooler."),
)
