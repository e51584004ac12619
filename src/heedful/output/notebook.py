"""A result as HTML inside a notebook: no script, nothing fetched, and words of others written as they are, never run.

Its colours follow the theme of the notebook (Jupyter, Colab, VS Code), and that of the machine where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from heedful.output import shades
from heedful.output.markup import printable
from heedful.output.numbers import written
from heedful.output.tables import BEST, TIED, WARNING, Cell, Table, cell

LONGEST = 4000
"""Characters of one text that are drawn."""

_DARK = (
    "--ink: #e8e6e1; --muted: #a6a9ae; --line: #3a3f47; --card: #1b1e23; --accent: #7db8e0; --yes: #4cc9a4; --care: #e8b04a; "
    "--no: #ff9166; --open: #c9a0dc;"
)
_ON_LIGHT = ('html[theme="light"]', '[data-jp-theme-light="true"]', ".vscode-light")
_ON_DARK = ('html[theme="dark"]', '[data-jp-theme-light="false"]', ".vscode-dark")
_SHADE = re.compile(r'class="([wn])(\d+)[ "]')

# What turns the direction of all that follows: a text could say something else than it shows.
_STEERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def output(*parts: Markup) -> str:
    """Put parts together as one output, with a stylesheet that touches nothing else on the page."""
    body = Markup("").join(parts)
    return str(Markup('<div class="heedful-output"><style>{}</style>{}</div>').format(_style(body), body))


def told(text: object) -> Markup:
    """Words of others: escaped, and without what steers."""
    return escape(_STEERING.sub("\ufffd", "\n".join(map(printable, str(text).split("\n")))))


def paragraph(text: object, kind: str = "") -> Markup:
    """A paragraph of words."""
    words = text if isinstance(text, Markup) else told(text)
    return (
        Markup('<p class="{}" dir="auto">{}</p>').format(kind, words)
        if kind
        else Markup("<p>{}</p>").format(words)
    )


def listed(lines: Iterable[object]) -> Markup:
    """A list of sentences; nothing if there are none."""
    items = Markup("").join(Markup("<li>{}</li>").format(told(line)) for line in lines)
    return Markup("<ul>{}</ul>").format(items) if items else Markup("")


def unfolded(title: str, *parts: Markup) -> Markup:
    """What is seen when its title is clicked."""
    return Markup("<details><summary>{}</summary>{}</details>").format(told(title), Markup("").join(parts))


def heatmap(text: str, spans: Sequence[tuple[int, int, float]]) -> Markup:
    """A text whose items (start, end, weight) are shaded relative to the largest; what speaks against is also underlined."""
    largest = max((abs(weight) for _, _, weight in spans), default=0.0) or 1.0
    parts: list[Markup] = []
    position = 0
    for start, end, weight in spans:
        if start > LONGEST:
            break
        level = round(min(abs(weight) / largest, 1.0) * (shades.LEVELS - 1))
        kind = f"n{level} h-against" if weight < 0 and level else f"w{level}"
        parts += [
            told(text[position:start]),
            Markup('<span class="{}" title="{}">{}</span>').format(
                kind, written(weight, 3), told(text[start:end])
            ),
        ]
        position = end
    rest = text[position : position + LONGEST]
    parts.append(told(rest + (" …" if position + len(rest) < len(text) else "")))
    return Markup('<p class="h-heat" dir="auto">{}</p>').format(Markup("").join(parts))


def html_table(table: Table, *, right: Iterable[int] = ()) -> Markup:
    """A table, which scrolls by itself where it is too wide; some columns to the right."""
    rightward = set(right)

    def side(place: int) -> str:
        return "h-n" if place in rightward else ""

    head = Markup("")
    if any(table.headings):
        head = Markup("<thead><tr>{}</tr></thead>").format(
            Markup("").join(
                Markup('<th scope="col" class="{}">{}</th>').format(side(place), told(heading))
                for place, heading in enumerate(table.headings)
            )
        )
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<td class="{}">{}</td>').format(side(place), _cell(cell(content)))
                for place, content in enumerate(row)
            )
        )
        for row in table.rows
    )
    return Markup(
        '<div class="h-scroll" role="region" aria-label="{}" tabindex="0"><table>{}<tbody>{}</tbody></table></div>'
    ).format(told(table.title or "Table"), head, rows)


def _cell(of: Cell) -> Markup:
    sign = {"best": f" {BEST}", "tied": TIED, "": ""}[of.mark] + (f" {WARNING}" if of.warning else "")
    words = Markup("<code>{}</code>").format(told(of.text)) if of.code else told(of.text)
    kind = "strong" if of.mark == "best" else of.tone or ("unclear" if of.warning else "")
    shown = Markup('<span class="h-{}">{}{}</span>').format(kind, words, sign) if kind else words + sign
    interval = Markup(" <small>{}</small>").format(told(of.interval.strip())) if of.interval else Markup("")
    below = Markup("").join(Markup("<br>{}").format(told(line)) for line in of.below)
    return shown + interval + below


def _style(body: Markup) -> Markup:
    """The stylesheet, with those shades that are used."""
    used = sorted({(name, int(level)) for name, level in _SHADE.findall(str(body))})
    light = {name: shades.shades(p) for name, p in (("w", shades.LIGHT), ("n", shades.AGAINST_LIGHT))}
    dark = {name: shades.shades(p) for name, p in (("w", shades.DARK), ("n", shades.AGAINST_DARK))}
    rules = [_rule(light, name, level, ("",)) for name, level in used]
    rules += [
        "@media (prefers-color-scheme: dark) {",
        *(_rule(dark, name, level, ("",)) for name, level in used),
        "}",
    ]
    rules += [_rule(light, name, level, _ON_LIGHT) for name, level in used]
    rules += [_rule(dark, name, level, _ON_DARK) for name, level in used]
    return Markup(_sheet() + "\n".join(rules))


def _rule(
    palette: dict[str, list[tuple[shades.Colour, shades.Colour]]],
    name: str,
    level: int,
    themes: Sequence[str],
) -> str:
    ground, text = palette[name][level]
    where = ", ".join(f"{theme} .heedful-output .{name}{level}".strip() for theme in themes)
    return f"{where} {{ background: rgb{ground}; color: rgb{text}; }}".replace(", ", ",")


@cache
def _sheet() -> str:
    sheet = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")
    light = sheet.partition("{")[2].partition("}")[0].strip()
    return sheet.replace("DARK", _DARK).replace("LIGHT", light)
