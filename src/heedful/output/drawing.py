"""A Vega-Lite drawing as SVG or PNG; the engine that draws it is kept apart where it could end the whole process.

The engine (V8) reserves more address space than it uses, and where it gets none (`ulimit -v`) it ends its process by a signal
that nothing can catch. So under such a limit it draws in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Literal

from heedful.errors import HeedfulError

_CHILD = "import sys; from heedful.output.drawing import _draw_for_parent; _draw_for_parent()"
_SECONDS = 120


def converted(spec: dict[str, Any], form: Literal["svg", "png"]) -> bytes:
    """Draw, here or in a process of its own."""
    limit = address_space()
    return _converted(spec, form) if limit is None else _elsewhere(spec, form, limit)


def address_space() -> int | None:
    """How many bytes of address space a process may have; None where there is no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if allowed == resource.RLIM_INFINITY else allowed


def _converted(spec: dict[str, Any], form: Literal["svg", "png"]) -> bytes:
    import vl_convert

    if form == "svg":
        svg: str = vl_convert.vegalite_to_svg(spec)
        return svg.encode("utf-8")
    png: bytes = vl_convert.vegalite_to_png(spec, scale=2)
    return png


def _elsewhere(spec: dict[str, Any], form: str, limit: int) -> bytes:
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD],
            input=json.dumps([spec, form]).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        done = None
    if done is None or done.returncode != 0:
        raise HeedfulError(
            f"Figures cannot be drawn within the limit of {limit / 2**30:.1f} GiB on address space: raise it (ulimit -v "
            "unlimited) and run the same command again, or ask for a form without figures."
        )
    return done.stdout


def _draw_for_parent() -> None:
    spec, form = json.load(sys.stdin)
    sys.stdout.buffer.write(_converted(spec, form))
