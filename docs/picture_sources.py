"""What the pictures of the README and the docs are drawn by, so that a test can tell when one is older than what it shows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).parent
KEPT = HERE / "pictures.json"
_REPORT, _EXPLORER = "src/heedful/reports/templates", "src/heedful/explorer"
SOURCES = {
    "report.png": [f"{_REPORT}/{name}" for name in ("page.html", "page.css", "verdict.html", "shapes.html")],
    "explorer.png": [
        f"{_REPORT}/page.css",
        f"{_EXPLORER}/templates/try.html",
        *(
            f"{_EXPLORER}/static/{name}"
            for name in ("explorer.css", "board.js", "classes.js", "heat.js", "try.js")
        ),
    ],
}
"""By picture, the files that decide how it looks."""


def digest(picture: str) -> str:
    """Hash the files that a picture is drawn by."""
    found = hashlib.sha256()
    for name in SOURCES[picture]:
        found.update((HERE.parent / name).read_bytes())
    return found.hexdigest()[:16]


def kept() -> dict[str, str]:
    """Read what each picture was drawn by."""
    found: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return found


def keep(picture: str) -> None:
    """Write down that a picture was drawn now."""
    KEPT.write_text(json.dumps(kept() | {picture: digest(picture)}, indent=1) + "\n", encoding="utf-8")
