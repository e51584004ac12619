"""One HTML file: everything inside it, nothing fetched, and nothing run that was not written here."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from heedful import __version__
from heedful.audits.audit import AUDITS
from heedful.audits.running.result import AuditResult
from heedful.errors import BadInput
from heedful.output.numbers import written
from heedful.output.shades import LEVELS, stylesheet
from heedful.reports import sections
from heedful.reports.advice import neighbours, not_run, refused, steps
from heedful.reports.asked_questions import asked_questions, counted, in_one_line
from heedful.reports.beside import beside
from heedful.reports.examples import ITEMS, TEXTS, choose
from heedful.reports.exports import card, compare
from heedful.reports.material import Material, spoken
from heedful.storage import write_text

_TEMPLATES = Path(__file__).with_name("templates")
# What no HTML file may hold: half characters, and those that steer instead of saying.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def write_report(results: Sequence[AuditResult | Material], path: Path) -> Path:
    """Write the report of one audit or several; an older report stays until the new one is whole."""
    materials = [Material.of(result) if isinstance(result, AuditResult) else result for result in results]
    write_text(path, render(materials))
    return path


def render(materials: Sequence[Material]) -> str:
    """Give the page as text."""
    if not materials:
        raise BadInput("There is no audit to report on: name a run at least.")
    style, script = asset("page.css") + stylesheet(), asset("page.js")
    template = environment().get_template("page.html")
    page = template.render(
        audits=[_audit(material, place, len(materials)) for place, material in enumerate(materials)],
        comparison=compare(materials) if len(materials) > 1 else None,
        bibtex=sections.bibtex(materials),
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        version=__version__,
        made=made_now(),
        levels=LEVELS,
    )
    return fit(page)


def _audit(material: Material, place: int, several: int) -> dict[str, Any]:
    """Gather all that the template says of one audit."""
    near = neighbours(material)
    examples = choose(material, texts=max(20, TEXTS // several), items=max(5_000, ITEMS // several))
    deciding, _ = sections.findings(material)
    questions = asked_questions(material)
    counts = counted(questions)
    return {
        "id": f"a{place + 1}",
        "material": material,
        "about": material.about,
        "verdict": material.verdict,
        "sentence": sections.sentence(material),
        "counts": counts,
        "counted": in_one_line(counts),
        "deciding": deciding,
        "questions": questions,
        "evidence": {found.name: found for found in sections.evidence(material)},
        "examples": _inline(examples.data),
        "chosen": examples.note,
        "shown": len(examples.data["texts"]),
        "beside": beside(found) if (found := material.alternatives) else None,
        "missing": [
            (name, AUDITS.get(name).question, AUDITS.get(name).only_named) for name in not_run(material)
        ],
        "refused": refused(material),
        "run": material.named,
        "steps": steps(material, near),
        "near": near,
        "origin": sections.origin(material),
        "facts": sections.provenance(material),
        "settings": sections.settings(material),
        "card": "" if material.lacks else card(material),
    }


def _inline(data: Any) -> Markup:
    """JSON for a script element: no text can end the element, because no < is left in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def policy(style: str, script: str) -> str:
    """Allow this style and this script, and nothing else: no request, no frame, no form, no other script."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def made_now() -> str:
    """The time, as a page says it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def fit(page: str) -> str:
    """Replace what no HTML file may hold."""
    return _UNFIT.sub("\ufffd", page)


def asset(name: str) -> str:
    """Read a file that lies beside the templates."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def environment() -> Environment:
    """Where templates are found, and how they write what they are given."""
    environment = Environment(
        loader=PackageLoader("heedful.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = lambda name: re.sub(r"[_-]", " ", str(name))
    environment.filters["spoken"] = spoken
    environment.filters["answer_class"] = lambda answer: "is-" + re.sub(r"[^a-z]+", "-", str(answer))
    environment.filters["joined"] = _joined
    environment.filters["written"] = written
    return environment


def _joined(text: str) -> str:
    """Keep a number and its sign on one line."""
    return text.replace(" %", "\u00a0%").replace("95\u00a0% interval", "95\u00a0%\u00a0interval")
