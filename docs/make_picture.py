"""Draw docs/heatmap.svg: what `heedful predict` shows, as a picture for the README.

python docs/make_picture.py RUN "text" …
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

import heedful
from heedful.cli.heatmap import render_prediction


def main(run: str, texts: list[str]) -> None:
    """Export the terminal's output, without the web fonts that the exporter would link to."""
    console = Console(
        record=True, width=84, force_terminal=True, color_system="truecolor", file=io.StringIO()
    )
    for number, prediction in enumerate(heedful.load(run).predict(texts)):
        console.print(*([""] if number else []), render_prediction(prediction), sep="\n")
    svg = console.export_svg(title="heedful predict", theme=DEFAULT_TERMINAL_THEME)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    (Path(__file__).parent / "heatmap.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
