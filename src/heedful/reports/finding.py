"""Find the audit that is meant by a run's name, a run's folder or an audit's own folder."""

from __future__ import annotations

import sys
from pathlib import Path

from heedful.audits.running.result import RESULT
from heedful.errors import BadInput
from heedful.intake.json_text import read_json
from heedful.reports.material import Material
from heedful.runs import find_run


def find(run: str | Path, *, runs: Path = Path("runs")) -> Material:
    """Give a run's first audit by `audits_of`; of a folder that holds an audit, that one."""
    folder = find_run(run, runs=runs)
    return Material.read(folder if (folder / RESULT).is_file() else _first(folder))


def audits_of(run: Path) -> list[Path]:
    """Folders of a run's finished audits, what tells most first.

    Whole before partial ones; of attention before other scores; of all texts before samples; then those of more texts, and
    of these the newest.
    """
    found = [path.parent for path in run.glob(f"audits/*/{RESULT}")]
    return sorted(found, key=lambda f: (*_rank(f), -(f / RESULT).stat().st_mtime))


def taken(material: Material) -> str:
    """Say which audit it is, and what others there are beside it."""
    about, questions = material.about, len(material.summaries)
    described = f"{material.folder} ({about.counted} of {about.data}, {questions} question{'s' if questions > 1 else ''}"
    others = len(audits_of(material.run)) - 1 if material.run else 0
    beside = f", one of {others + 1} audits of this run" if others > 0 else ""
    return f"{described}{': a partial audit' if material.lacks else ''}){beside}, judged by the policy {material.verdict.policy}."


def _first(run: Path) -> Path:
    found = audits_of(run)
    if not found:
        raise BadInput(f"{run} was not audited yet: run heedful audit {run}")
    return found[0]


def _rank(folder: Path) -> tuple[bool, bool, bool, int]:
    try:
        content = read_json(folder / RESULT)
        about, partial = content["about"], bool(content["verdict"].get("partial", False))
        options = about["options"]
        sampled = bool(options["quick"]) or options.get("limit") is not None
        return partial, options["source"] != "attention", sampled, -int(about["texts"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return False, False, False, -sys.maxsize  # damaged: it comes first, so that the user hears of it
