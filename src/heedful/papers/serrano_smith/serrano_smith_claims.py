"""What Serrano & Smith claim, as numbers that decide."""

from __future__ import annotations

import polars as pl

from heedful.papers.claims import Claim

ENCODERS = {"rnn": "bigru", "conv": "cnn", "noenc": "none"}
NETWORKS = {"HAN": True, "FLAN": False}
RANKINGS = ("attention", "gradient", "product", "random")
FLIPPED = pl.all_horizontal(pl.col(f"{name}_fraction").is_finite() for name in RANKINGS)
"""Texts whose decision changes in the order of every ranking; the paper excludes the rest."""
_FAR, _CLOSE = 0.4, 0.05
_FRACTION = pl.col("attention_fraction")
_AHEAD = _FRACTION - pl.col("gradient_fraction")
_SOONER = (_AHEAD > 1e-9).cast(pl.Float64) - (_AHEAD < -1e-9).cast(pl.Float64)


def models_with(*encoders: str) -> tuple[str, ...]:
    """Name the models of both networks with these encoders."""
    return tuple(network + encoder for network in NETWORKS for encoder in encoders)


def _less(encoder: str, than: str) -> dict[str, str]:
    return {network + encoder: network + than for network in NETWORKS}


CLAIMS = (
    Claim(
        "ss-1",
        "Erasing the most attended item almost always (nine times in ten) moves the output at least as much as erasing a "
        "random other one.",
        "4.1, Figures 3, 4, 7",
        "share of texts with ΔJS below 0",
        "single_erasure",
        pl.col("attention_delta_js") < 0,
        models_with(*ENCODERS),
        below=0.1,
        published="a small fraction",
    ),
    Claim(
        "ss-2",
        "Where it moves the output less, the two weights are nearly tied (they differ by less than 0.1 in most such texts).",
        "4.1, Figures 4, 8",
        "share with Δα below 0.1 among texts with ΔJS below 0",
        "single_erasure",
        pl.col("attention_delta_weight") < 0.1,
        models_with(*ENCODERS),
        above=0.5,
        where=pl.col("attention_delta_js") < 0,
    ),
    Claim(
        "ss-3",
        "Over an RNN, erasing the most attended item alone flips few decisions (less than a quarter).",
        "4.2, Table 2",
        "share of decisions that flip",
        "single_erasure",
        pl.col("attention_flips"),
        models_with("rnn"),
        below=0.25,
        published="9 to 14 % (HANrnn)",
    ),
    Claim(
        "ss-4",
        "The most attended item alone flips more decisions than a random other one.",
        "4.2, Table 2",
        "share that it flips − share that the other flips",
        "single_erasure",
        pl.col("attention_flips") - pl.col("attention_other_flips"),
        models_with(*ENCODERS),
        above=0.0,
        published="0.05 to 0.11 (HANrnn)",
    ),
    Claim(
        "ss-5",
        "Over an encoder, the gradient's order flips decisions with fewer erasures than attention's.",
        "5.4, Figure 5",
        "share of texts where the gradient is sooner − share where attention is",
        "flip_set",
        _SOONER,
        models_with("rnn", "conv"),
        above=0.0,
        where=FLIPPED,
        published="gradient sooner at least 1.6 times as often",
    ),
    Claim(
        "ss-6",
        "Attention's order still flips decisions with fewer erasures than a random one.",
        "5.4, Figure 5",
        "fraction erased at random − by attention",
        "flip_set",
        pl.col("random_fraction") - _FRACTION,
        models_with(*ENCODERS),
        above=0.0,
        where=FLIPPED,
    ),
    Claim(
        "ss-7",
        "Over an RNN without hierarchy, flips come late in attention's order (after half of the words on average).",
        "5.5, Figure 5",
        "fraction erased by attention",
        "flip_set",
        _FRACTION,
        ("FLANrnn",),
        above=0.5,
        where=FLIPPED,
    ),
    Claim(
        "ss-8",
        "Decisions flip sooner over convolutions than over an RNN.",
        "5.6, Figures 5, 10",
        "fraction erased by attention, conv − rnn",
        "flip_set",
        _FRACTION,
        models_with("conv"),
        below=0.0,
        against=_less("conv", "rnn"),
        where=FLIPPED,
    ),
    Claim(
        "ss-9",
        "Decisions flip sooner without an encoder than over convolutions.",
        "5.6, Figures 6, 10",
        "fraction erased by attention, noenc − conv",
        "flip_set",
        _FRACTION,
        models_with("noenc"),
        below=0.0,
        against=_less("noenc", "conv"),
        where=FLIPPED,
    ),
    Claim(
        "ss-10",
        "Without an encoder, attention's order is as good as the gradient's, or better (worse by 0.02 at most).",
        "5.6, Figure 6",
        "fraction erased by attention − by the gradient",
        "flip_set",
        _AHEAD,
        models_with("noenc"),
        below=0.02,
        where=FLIPPED,
    ),
    Claim(
        "ss-11",
        "The top item by attention × gradient flips more decisions than the top item by attention.",
        "A.3, Figures 9, 13",
        "share that the product flips − share that attention flips",
        "single_erasure",
        pl.col("product_flips") - pl.col("attention_flips"),
        models_with(*ENCODERS),
        above=0.0,
        published="more in all 24 models",
    ),
    Claim(
        "ss-12",
        f"Even where the top item's weight stands out (by {_FAR} or more), its effect is often hardly larger (ΔJS below {_CLOSE}, for a quarter of "
        "such texts or more).",
        "4.1, Figure 3",
        f"share with ΔJS below {_CLOSE} among texts with Δα of {_FAR} or more and ΔJS of 0 or more",
        "single_erasure",
        pl.col("attention_delta_js") < _CLOSE,
        models_with("rnn"),
        above=0.25,
        where=(pl.col("attention_delta_weight") >= _FAR) & (pl.col("attention_delta_js") >= 0),
        published="many, for HANrnn",
    ),
    Claim(
        "ss-13",
        "The effect of a weight that stands out (by 0.2 to 0.6) is larger without an encoder than over an RNN.",
        "A.2, Figure 7",
        "ΔJS of noenc − that of rnn, where both have such a weight",
        "single_erasure",
        pl.col("attention_delta_js"),
        models_with("noenc"),
        above=0.0,
        against=_less("noenc", "rnn"),
        where=pl.col("attention_delta_weight").is_between(0.2, 0.6),
        published="the upswing is slightly earlier with less context",
    ),
    Claim(
        "ss-14",
        "The top item by the gradient flips fewer decisions than the top item by attention.",
        "A.3, Figures 9, 12",
        "share that the gradient flips − share that attention flips",
        "single_erasure",
        pl.col("gradient_flips") - pl.col("attention_flips"),
        models_with(*ENCODERS),
        below=0.0,
        published="fewer in 14 of 24 models",
    ),
)
