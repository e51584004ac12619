"""Templates of the pages: everything that is not written here is escaped, and no style or script stands in a page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from heedful import __version__
from heedful.output.shades import stylesheet
from heedful.output.tables import cell

STATIC = Path(__file__).with_name("static")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LOUD, _CODE, _LINK = (
    re.compile(rule) for rule in (r"\*\*(.+?)\*\*", r"`([^`]+)`", r"\[([^\]]+)\]\([^)]*\)")
)
_PALETTE = re.compile(r"(?:@media screen and \(prefers-color-scheme: dark\) \{\s*)?:root \{[^}]*\}(?:\s*\})?")


def render(name: str, **content: Any) -> str:
    """Fill a template, and replace what no HTML may hold."""
    page = _environment().get_template(name).render(version=__version__, **content)
    return _UNFIT.sub("\ufffd", page)


@cache
def palette() -> str:
    """The colours of the report, light and dark, and those of its heatmaps."""
    from heedful.reports.page import asset

    found = [match[0] for match in _PALETTE.finditer(asset("page.css"))]
    return "\n".join([*found, stylesheet()])


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("heedful.explorer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["cell"] = cell
    made.filters["prose"] = _prose
    return made


def _prose(text: str) -> Markup:
    """Write a sentence that was meant for Markdown; whatever else stands in it is escaped, and links are words.

    >>> _prose("**No** `<b>` in [flat](flat.md)")
    Markup('<strong>No</strong> <code>&lt;b&gt;</code> in flat')
    """
    safe = _LINK.sub(r"\1", str(escape(text)))
    return Markup(_CODE.sub(r"<code>\1</code>", _LOUD.sub(r"<strong>\1</strong>", safe)))
