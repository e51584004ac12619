"""Words of others inside Markdown, LaTeX and a terminal: on one line, and without any control over the output."""

from __future__ import annotations

import re

_JOINERS = "\u200c\u200d"  # inside emoji and Persian words
# An underscore inside a word is text to every reader of Markdown, and so are brackets that no address follows.
_MARKDOWN = re.compile(r"[\\|*`<>]|(?<!\w)_|_(?!\w)|](?=[(\[:])|!(?=\[)|~(?=~)")
_MATHEMATICS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "Ω": "Omega",
    "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "×": "times", "·": "cdot", "±": "pm", "∞": "infty", "∑": "sum", "√": "surd",
    "↑": "uparrow", "↓": "downarrow", "→": "rightarrow", "←": "leftarrow", "ℓ": "ell", "★": "star",
}  # fmt: skip
_TEXT = {
    "\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar", "…": "ellipsis",
}  # fmt: skip
_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    **{c: f"$\\{name}$" for c, name in _MATHEMATICS.items()},
    **{c: rf"\text{name}{{}}" for c, name in _TEXT.items()},
    "−": "$-$", "–": "--", "—": "---", "′": "$'$", "°": r"$^\circ$", "⚠": r"$^\dagger$", "₁": "$_1$", "₂": "$_2$",
    "“": "``", "”": "''", "‘": "`", "’": "'", "ŷ": r"$\hat{y}$", "\u00a0": "~",
}  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?: ?%)?"
_WITH_INTERVAL = re.compile(rf"{_NUMBER}(?:(?:,? | to | [(\[]|–){_NUMBER})*[)\]]?")
"""A number as heedful writes it, with its interval or without: none of it computes anything."""
_NORM = re.compile(r"ℓ(∞|[0-9]+)")
_NEGATIVE = re.compile(r"(?<![\w.)-])-(?=\d)")
"""A minus: a hyphen would be printed shorter."""


def printable(text: str) -> str:
    """Keep a text from steering a terminal, one character for one: what controls becomes visible or a space.

    >>> printable("two\\nlines \\x1b[2J")
    'two lines �[2J'
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else (" " if c.isspace() else "\ufffd") for c in text
    )


def in_markdown(text: str) -> str:
    r"""A text inside Markdown: on one line, and no cell, tag or picture of its own.

    >>> print(in_markdown("ag_news, 0.5 [0.4–0.6], *a*|b, [c](d)"))
    ag_news, 0.5 [0.4–0.6], \*a\*\|b, [c\](d)
    """
    return _MARKDOWN.sub(r"\\\g<0>", one_line(text))


def in_latex(text: str) -> str:
    r"""A text inside LaTeX: on one line, with mathematics for the signs of mathematics.

    >>> print(in_latex("ℓ∞ ≤ 0.001, 50 % & -0.2"))
    $\ell_\infty$ $\leq$ 0.001, 50 \% \& $-$0.2
    """
    words = _NEGATIVE.sub("−", one_line(text))
    parts = _NORM.split(words)  # text, norm, text, norm, …
    return "".join(
        "".join(_LATEX.get(c, c) for c in part)
        if place % 2 == 0
        else f"$\\ell_{chr(92) + 'infty' if part == '∞' else f'{{{part}}}'}$"
        for place, part in enumerate(parts)
    )


def in_spreadsheet(text: str) -> str:
    """A text in a cell of a spreadsheet, where some beginnings would make it a formula that is run; numbers stay numbers.

    >>> in_spreadsheet("=HYPERLINK(A1)"), in_spreadsheet("-0.2 (-0.3 to +0.1)"), in_spreadsheet("plain")
    ("'=HYPERLINK(A1)", '-0.2 (-0.3 to +0.1)', 'plain')
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _WITH_INTERVAL.fullmatch(text) else text


def one_line(text: str) -> str:
    """A text without breaks, tabs or double spaces."""
    return " ".join(text.split())
