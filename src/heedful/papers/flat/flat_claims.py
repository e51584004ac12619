"""What Chen & Ji claim of FLAT, as numbers that decide."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from heedful.audits.questions.consistency import TOP
from heedful.papers.claims import LEAST_TEXTS, Claim
from heedful.papers.flat.claim_samples import MASKED, WITHOUT_BETA, correlation, gap_saved, mean_mask
from heedful.papers.flat.methods import (
    ATTACKS,
    ENCODERS,
    NO_BETA,
    NO_GAMMA,
    OTHER_ATTACKS,
    ablated,
    by_lime,
    model_name,
    transferred,
)
from heedful.papers.flat.paper_tables import CONSISTENCY, ROBUSTNESS, SHARPNESS
from heedful.papers.recipe import published

ACCURACY_LOSS = 0.02
NEAR_ONE, WEAK = 0.9, 0.3

RULE = (
    "A claim about texts is one number per text, averaged over seeds: a difference between two models on the same text, each under the attack's own version of it, of the seeds that both have. "
    "It holds if the 95 % bootstrap interval of the mean over all texts lies inside the claimed range, and the same is so for most datasets and models of "
    f"{LEAST_TEXTS} texts or more; it does not hold if the interval lies outside; else it is undecided. These intervals speak of other texts, not of other seeds. "
    "A claim about words has draws of other words, and where there are three seeds or more its interval speaks of other seeds too. The ranges are our reading of the paper's words. Claims from fa-18 on are ours."
)


def _pairs(one: str, other: str) -> Mapping[str, str]:
    """For each encoder and attack a model of one method against that of another."""
    return {model_name(e, one, a): model_name(e, other, a) for a in ATTACKS for e in ENCODERS}


def _transferred(other: str) -> Mapping[str, str]:
    return {transferred(e, "FLAT", a): transferred(e, other, a) for e in ENCODERS for a in OTHER_ATTACKS}


def _span(table: str, one: str, other: str, place: int, scale: float = 1.0) -> str:
    """The least and the largest difference that the paper prints, over all of its models, corpora and attacks."""
    content = published("flat")[table]
    rows = content.values() if table in ("table_3", "table_8") else [content]
    found = []
    for block in rows:
        for name, cells in block.items():
            if f"-{one}" not in name:
                continue
            rival = name.replace(f"-{one}", f"-{other}")
            minus = block[rival if rival in block else rival.partition(" (")[0]]
            for mine, theirs in zip(cells, minus, strict=True):
                ours, others = (x[place] if isinstance(x, list) else x for x in (mine, theirs))
                found.append(scale * (ours - others))
    return f"{min(found):.3f} to {max(found):.3f}"


def _difference(
    number: str,
    statement: str,
    source: str,
    measure: str,
    audit: str,
    column: str,
    against: Mapping[str, str],
    above: float = 0.0,
    printed: str = "",
) -> Claim:
    return Claim(
        number,
        statement,
        source,
        measure,
        audit,
        pl.col(column),
        tuple(against),
        above=above,
        against=against,
        published=printed,
    )


_WHOLE = model_name("LSTM", "FLAT", "textfooler")
_LIME = {by_lime(one): by_lime(other) for one, other in _pairs("FLAT", "adv").items()}

CLAIMS = (
    _difference(
        "fa-1",
        "Under the attack that it was trained against, FLAT is more often right than adversarial training.",
        "5.1, Table 3",
        "after-attack accuracy of FLAT − of adv",
        ROBUSTNESS,
        "after_attack",
        _pairs("FLAT", "adv"),
        printed=_span("table_3", "FLAT", "adv", 0, 0.01),
    ),
    _difference(
        "fa-2",
        "And more often than the base model.",
        "5.1, Table 3",
        "after-attack accuracy of FLAT − of base",
        ROBUSTNESS,
        "after_attack",
        _pairs("FLAT", "base"),
        printed=_span("table_3", "FLAT", "base", 0, 0.01),
    ),
    _difference(
        "fa-3",
        "Base models are easily fooled: adversarial training too is more often right than they are.",
        "5.1, Table 3",
        "after-attack accuracy of adv − of base",
        ROBUSTNESS,
        "after_attack",
        _pairs("adv", "base"),
        printed=_span("table_3", "adv", "base", 0, 0.01),
    ),
    _difference(
        "fa-4",
        "FLAT orders the words of a text and of the attacked text more alike than adversarial training.",
        "5.2, Table 3",
        "Kendall's τ of FLAT − of adv, integrated gradients",
        CONSISTENCY,
        "tau",
        _pairs("FLAT", "adv"),
        printed=_span("table_3", "FLAT", "adv", 1),
    ),
    _difference(
        "fa-5",
        "And more alike than the base model.",
        "5.2, Table 3",
        "Kendall's τ of FLAT − of base, integrated gradients",
        CONSISTENCY,
        "tau",
        _pairs("FLAT", "base"),
        printed=_span("table_3", "FLAT", "base", 1),
    ),
    _difference(
        "fa-6",
        f"More of the top {TOP} words stay under attack with FLAT than with adversarial training.",
        "5.2, Table 3",
        f"top-{TOP} intersection of FLAT − of adv, integrated gradients",
        CONSISTENCY,
        f"top_{TOP}",
        _pairs("FLAT", "adv"),
        printed=_span("table_3", "FLAT", "adv", 2),
    ),
    _difference(
        "fa-7",
        "And more than with the base model.",
        "5.2, Table 3",
        f"top-{TOP} intersection of FLAT − of base, integrated gradients",
        CONSISTENCY,
        f"top_{TOP}",
        _pairs("FLAT", "base"),
        printed=_span("table_3", "FLAT", "base", 2),
    ),
    _difference(
        "fa-8",
        f"FLAT keeps the accuracy on clean texts (lower than the base model's by less than {ACCURACY_LOSS}).",
        "5, Table 2",
        "accuracy of FLAT − of base, on the audited texts",
        ROBUSTNESS,
        "accuracy",
        _pairs("FLAT", "base"),
        above=-ACCURACY_LOSS,
        printed=_span("table_2", "FLAT", "base", 0, 0.01),
    ),
    _difference(
        "fa-9",
        "What FLAT gains transfers: under six other attacks it is more often right than adversarial training.",
        "6, Table 4",
        "after-attack accuracy of FLAT − of adv, both trained against TextFooler",
        ROBUSTNESS,
        "after_attack",
        _transferred("adv"),
        printed=_span("table_4", "FLAT", "adv", 0, 0.01),
    ),
    _difference(
        "fa-10",
        "And more often than the base model.",
        "6, Table 4",
        "after-attack accuracy of FLAT − of base",
        ROBUSTNESS,
        "after_attack",
        _transferred("base"),
        printed=_span("table_4", "FLAT", "base", 0, 0.01),
    ),
    _difference(
        "fa-11",
        "The regulariser of importance is needed: without γ FLAT is less often right under attack.",
        "6, Table 5",
        "after-attack accuracy of FLAT − without γ",
        ROBUSTNESS,
        "after_attack",
        {_WHOLE: ablated(NO_GAMMA)},
        printed="0.078",
    ),
    _difference(
        "fa-12",
        "The entropy of the masks is needed: without β FLAT is less often right under attack.",
        "6, Table 5",
        "after-attack accuracy of FLAT − without β",
        ROBUSTNESS,
        "after_attack",
        {_WHOLE: ablated(NO_BETA)},
        printed="0.096",
    ),
    Claim(
        "fa-13",
        f"Without β all masks are close to 1 (over {NEAR_ONE} on average).",
        "6",
        "mean of the masks over the vocabulary",
        SHARPNESS,
        mean_mask,
        WITHOUT_BETA,
        above=NEAR_ONE,
        unit="words",
    ),
    Claim(
        "fa-14",
        "γ narrows the gap between the importance of a word and of its synonyms.",
        "6, Figure 5",
        "mean gap with γ − without it",
        SHARPNESS,
        gap_saved,
        (_WHOLE, ablated(NO_GAMMA)),
        below=0.0,
        unit="words",
    ),
    Claim(
        "fa-15",
        f"Importance has no strong correlation with how often a word is seen (less than {WEAK} either way).",
        "Appendix D, Table 9",
        "Pearson's r of importance and frequency",
        SHARPNESS,
        correlation("frequency"),
        MASKED,
        above=-WEAK,
        below=WEAK,
        unit="words",
        published="-0.028",
    ),
    Claim(
        "fa-16",
        f"Nor with how often attacks replace it (less than {WEAK} either way, of words that are replaced).",
        "Appendix D, Table 9",
        "Pearson's r of importance and substitutions",
        SHARPNESS,
        correlation("substitutions"),
        MASKED,
        above=-WEAK,
        below=WEAK,
        unit="words",
        published="0.087",
    ),
    _difference(
        "fa-17",
        "LIME shows the same: FLAT orders words more alike than adversarial training.",
        "5.2, Table 8",
        "Kendall's τ of FLAT − of adv, LIME",
        CONSISTENCY,
        "tau",
        _LIME,
        printed=_span("table_8", "FLAT", "adv", 0),
    ),
)
