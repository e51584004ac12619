"""Beyond the paper: what becomes of attention under attack, and whether methods that hold it still elsewhere help here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from heedful.audits.questions.consistency import TOP
from heedful.measures.divergence import NOWHERE
from heedful.measures.intervals import bootstrap_interval
from heedful.output.numbers import NOTHING, fixed, with_interval
from heedful.output.tables import Table
from heedful.papers.claims import Claim
from heedful.papers.flat.methods import METHODS as OF_PAPER
from heedful.papers.flat.paper_tables import CONSISTENCY, ROBUSTNESS, accuracy_cell, mean_cell
from heedful.papers.recipe import Model
from heedful.papers.results import Results

ON = ("sst2",)
METHODS: Mapping[str, Mapping[str, Any]] = {
    **OF_PAPER,
    "SEAT": {"objective": "seat"},
    "steady": {"objective": "steady", "epochs": 20},
}
_ATTACK = "textfooler"
_SUCCESSFUL = pl.col("status") == "successful"
_SHARP = pl.col("sharpness") + pl.col("sharpness_after")
_RELATIVE = pl.when(_SHARP >= NOWHERE).then(pl.col("jsd") / _SHARP).alias("relative_jsd")
"""As audits of stability divide: a flat heatmap hardly moves whatever happens, and JSD alone would praise it for that."""
_SHAPE = {"encoder": "bilstm", "hidden": 128}


def attentive(method: str, *, known_words: bool = False) -> str:
    """What a BiLSTM with attention is called where attention itself is compared.

    >>> attentive("steady", known_words=True)
    'BiLSTM-steady, attention, known words only'
    """
    return f"BiLSTM-{method}, attention" + (", known words only" if known_words else "")


def _models() -> list[Model]:
    return [
        Model(
            attentive(method, known_words=known),
            "bilstm",
            {**_SHAPE, **options},
            trained_against=_ATTACK if method in ("adv", "FLAT") else None,
            attacks=(_ATTACK,),
            audit={"source": "attention"} | ({"known_words": True} if known else {}),
        )
        for method, options in METHODS.items()
        for known in (False, True)
    ]


MODELS = tuple(_models())
ATTENTIVE = tuple(model.name for model in MODELS)


def table_11(results: Results) -> list[Table]:
    """How far heatmaps move where an attack succeeds, and how sharp they are before and after."""
    rows = []
    for dataset in results.datasets:
        for known in (False, True):
            for method in METHODS:
                name = attentive(method, known_words=known)
                if not (runs := results.of(dataset, name, CONSISTENCY)):
                    continue
                cells = [
                    accuracy_cell(runs, "test"),
                    mean_cell(results, dataset, name, ROBUSTNESS, "after_attack", percent=True),
                    _won(results, dataset, name, pl.col("jsd"), digits=3),
                    _won(results, dataset, name, _RELATIVE, digits=3),
                    *(_won(results, dataset, name, pl.col(column)) for column in ("tau", f"top_{TOP}")),
                    *(
                        _won(results, dataset, name, pl.col(column), digits=3)
                        for column in ("sharpness", "sharpness_after")
                    ),
                ]
                words = "known words" if known else "any words"
                rows.append([dataset, f"BiLSTM-{method}", words, str(len(runs)), *cells])
    headings = ["dataset", "model", "substitutes", "seeds", "SA", "AA", "JSD", "relative JSD", "KT", "TI"]
    headings += ["sharpness", "sharpness under attack"]
    title = "Attention of a BiLSTM under TextFooler; from JSD on, where the attack succeeded"
    return [Table(headings, rows, title)] if rows else []


def _won(results: Results, dataset: str, name: str, value: pl.Expr, *, digits: int = 2) -> str:
    found = results.by_text(CONSISTENCY, value, dataset=dataset, model=name, where=_SUCCESSFUL)
    interval = bootstrap_interval(found["value"].to_numpy())
    if not interval.count:
        return NOTHING
    return with_interval(*interval[:3], lambda x: fixed(x, digits))


def _steadier(number: str, method: str, statement: str) -> Claim:
    against = {
        attentive(method, known_words=known): attentive("base", known_words=known) for known in (False, True)
    }
    return Claim(
        number,
        statement,
        "ours",
        f"JSD of attention under TextFooler relative to its sharpness, of {method} − of base, on all texts",
        CONSISTENCY,
        _RELATIVE,
        tuple(against),
        below=0.0,
        against=against,
    )


CLAIMS = (
    _steadier(
        "fa-18",
        "steady",
        "Attention that is trained to hold still under noise (steady) moves less under attack.",
    ),
    _steadier("fa-19", "SEAT", "So does attention that is trained by SEAT."),
    _steadier("fa-20", "FLAT", "FLAT, which trains no attention, makes it move less under attack too."),
)
