"""Words of others stay words, in Markdown, LaTeX and a terminal."""

from __future__ import annotations

import re

import pytest

from heedful.audits.audit import AUDITS
from heedful.output.markup import in_latex, in_markdown, printable

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize("audit", list(AUDITS))
def test_latex_leaves_no_sign_of_ours_that_a_plain_font_lacks(audit):
    known = AUDITS.get(audit)
    for text in (known.question, *(m.description for m in known.measures.values())):
        assert in_latex(text).isascii()


def test_norms_and_infinity_are_mathematics():
    assert in_latex("ℓ∞ ≤ 0.001") == r"$\ell_\infty$ $\leq$ 0.001"
    assert in_latex("ℓ1, ℓ2, ∞") == r"$\ell_{1}$, $\ell_{2}$, $\infty$"


def test_a_minus_is_no_hyphen():
    assert (
        in_latex("-0.2 to −0.1, leave-one-out, 1e-05, word-2")
        == r"$-$0.2 to $-$0.1, leave-one-out, 1e-05, word-2"
    )


def test_no_command_of_others_reaches_latex():
    assert in_latex("\\input{x} 50%\n& $y$") == r"\textbackslash{}input\{x\} 50\% \& \$y\$"


@pytest.mark.parametrize(
    "evil",
    [
        "![a](http://b)",
        "[a](b)",
        "[a][b]",
        "<img src=x>",
        "**bold**",
        "_so_",
        "`code`",
        "a | b",
        "~~gone~~",
        "\\*x*",
    ],
)
def test_no_markup_of_others_reaches_markdown(evil):
    text = in_markdown(f"x {evil}\ny")
    assert "\n" not in text
    bare = re.sub(r"\\.", "", text)
    assert not re.search(r"[*`<>|]|\]\(|\]\[|!\[|~~|(?<!\w)_|_(?!\w)", bare)


def test_what_needs_no_escape_has_none():
    assert in_markdown("ag_news_binary 0.50 [0.25–0.75] (n = 3)") == "ag_news_binary 0.50 [0.25–0.75] (n = 3)"


def test_joined_emoji_stay_joined_and_controls_do_not_steer():
    assert printable(f"{FAMILY} a\u200cb") == f"{FAMILY} a\u200cb"
    assert printable("a\nb\tc\x1b[2J\u202e") == "a b c\ufffd[2J\ufffd"
