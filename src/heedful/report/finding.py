"""Find the audit that is meant by a run's name, a run's folder or an audit's own folder."""

from __future__ import annotations

import json
from pathlib import Path

from heedful.audits.result import RESULT
from heedful.errors import BadInput, did_you_mean
from heedful.report.material import Material
from heedful.runs import list_runs


def find(run: str | Path, *, runs: Path = Path("runs")) -> Material:
    """Give a run's newest whole audit of its attention; of a folder that holds an audit, that one."""
    for folder in (Path(run).expanduser(), runs / run):
        if (folder / RESULT).is_file():
            return Material.read(folder)
        if folder.is_dir():
            return Material.read(_newest(folder))
    names = [found.name for found in list_runs(runs)]
    hint = did_you_mean(Path(run).name, names) if names else "train one with heedful train."
    raise BadInput(f"There is no run {str(run)!r}: {hint}")


def audits_of(run: Path) -> list[Path]:
    """Folders of a run's finished audits: of attention first, then whole before quick, then the newest."""
    found = [path.parent for path in run.glob(f"audits/*/{RESULT}")]
    return sorted(found, key=lambda f: (*_rank(f), -(f / RESULT).stat().st_mtime))


def _newest(run: Path) -> Path:
    found = audits_of(run)
    if not found:
        raise BadInput(f"{run} was not audited yet: run heedful audit {run}")
    return found[0]


def _rank(folder: Path) -> tuple[bool, bool]:
    try:
        options = json.loads((folder / RESULT).read_text(encoding="utf-8"))["about"]["options"]
        return options["source"] != "attention", bool(options["quick"])
    except (OSError, ValueError, KeyError, TypeError):
        return False, False  # damaged: it comes first, so that the user hears of it
