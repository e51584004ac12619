"""Outputs for notebooks: words of others stay words, and letters can be read in every theme."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.output.notebook import heatmap, html_table, listed, output, paragraph, told, unfolded
from heedful.output.shades import contrast
from heedful.output.tables import Cell, Table

OURS = {
    "div", "style", "p", "span", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "small", "br", "code", "details", "summary",
    "del", "ins",
}  # fmt: skip
ATTRIBUTES = {"class", "title", "dir", "role", "aria-label", "aria-hidden", "tabindex", "scope"}


class Read(HTMLParser):
    """Collects what a browser would make of an output."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def drawn(text: str) -> str:
    words = [(m.start(), m.end(), 1.0 - 2 * (m.start() % 2)) for m in re.finditer(r"\S+", text)]
    table = Table(["", text], [[text, Cell(text, text, "best", below=(text,), code=True)]], text)
    return output(heatmap(text, words), paragraph(text), listed([text]), unfolded(text, html_table(table)))


@pytest.mark.parametrize(
    "text",
    [
        "</style></div><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)> ' onmouseover=alert(1) {{ 7*7 }} ${alert(1)}",
        "<!-- --> <![CDATA[ x ]]> &lt;b&gt; &amp;amp;",
        "nul \x00 bell \x07 escape \x1b[2J",
    ],
)
def test_a_text_is_a_text(text):
    found = Read(drawn(text))
    assert set(found.tags) <= OURS and found.attributes <= ATTRIBUTES and not found.open
    assert "".join(c if c.isprintable() else "\ufffd" for c in text) in found.text


@given(st.text(max_size=60))
def test_whatever_it_holds(text):
    found = Read(drawn(text))
    assert set(found.tags) <= OURS and found.attributes <= ATTRIBUTES and not found.open


@given(st.text(alphabet="ab <>&\u202e\u2067\n", max_size=40))
def test_no_letter_is_lost_and_none_turns_the_others(text):
    shown = Read(output(heatmap(text, []))).text
    assert shown == re.sub("[\u202e\u2067]", "\ufffd", text)


def test_very_long_texts_end_early_and_say_so():
    shown = Read(output(heatmap("word " * 10_000, [(5 * i, 5 * i + 4, 1.0) for i in range(10_000)]))).text
    assert len(shown) < 10_000 and shown.endswith(" …")


def test_the_largest_is_the_strongest_and_what_speaks_against_is_marked():
    html = str(heatmap("a b c", [(0, 1, 0.5), (2, 3, -1.0), (4, 5, 0.0)]))
    assert 'class="w10" title="0.500">a' in html and 'class="n20 h-against"' in html and 'class="w0"' in html


STYLE = re.search(r"<style>(.*)</style>", output(heatmap("a b", [(0, 1, 1.0), (2, 3, -1.0)])), re.S)[1]


def colours(block: str) -> dict[str, tuple[int, int, int]]:
    found = dict(re.findall(r"--(\w+): #([0-9a-f]{3,6});", block))
    wide = {
        name: value if len(value) == 6 else "".join(2 * c for c in value) for name, value in found.items()
    }
    return {name: tuple(int(v[i : i + 2], 16) for i in (0, 2, 4)) for name, v in wide.items()}


def test_letters_can_be_read_in_light_and_dark():
    blocks = [colours(block) for block in re.findall(r"\{([^{}]*--ink:[^{}]*)\}", STYLE)]
    light, dark, on_light, on_dark = blocks
    assert light == on_light and dark == on_dark and light.keys() == dark.keys()
    for theme in (light, dark):
        for name in ("ink", "muted", "accent", "yes", "care", "no", "open"):
            assert contrast(theme[name], theme["card"]) >= 4.5, name


@pytest.mark.parametrize("theme", ['[data-jp-theme-light="false"]', 'html[theme="dark"]', ".vscode-dark"])
def test_a_theme_of_the_notebook_outweighs_that_of_the_machine(theme):
    after = STYLE[STYLE.rindex("@media (prefers-color-scheme: dark)") :]
    assert f"{theme} .heedful-output .w20" in after and f"{theme} .heedful-output {{" in STYLE.replace(
        ", ", " {,"
    )


def test_only_our_own_output_is_styled():
    rules = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", STYLE)
    selectors = [
        s.strip() for group in re.findall(r"([^{}]+)\{", rules) for s in re.split(r",(?![^(]*\))", group)
    ]
    assert selectors and all(".heedful-output" in selector for selector in selectors)


def test_words_without_letters_are_words():
    assert told(3.5) == "3.5" and told(None) == "None"
