"""Draw the pictures of the README: docs/heatmap.svg, what `heedful predict` shows, and docs/report.png, how a report begins.

python docs/make_picture.py RUN ["text" …]

RUN was audited. Without texts only the report is drawn anew, for which Chromium must be there.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

from picture_sources import keep
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

import heedful
from heedful.cli.heatmap import render_prediction
from heedful.reports.finding import find
from heedful.reports.page import write_report

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 1000


def main(run: str, texts: list[str]) -> None:
    """Draw what was asked for."""
    if texts:
        draw_heatmap(run, texts)
    draw_report(run)


def draw_heatmap(run: str, texts: list[str]) -> None:
    """Export the terminal's output, without the web fonts that the exporter would link to."""
    console = Console(
        record=True, width=84, force_terminal=True, color_system="truecolor", file=io.StringIO()
    )
    for number, prediction in enumerate(heedful.load(run).predict(texts)):
        console.print(*([""] if number else []), render_prediction(prediction), sep="\n")
    svg = console.export_svg(title="heedful predict", theme=DEFAULT_TERMINAL_THEME)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    (HERE / "heatmap.svg").write_text(svg, encoding="utf-8")


def draw_report(run: str) -> None:
    """Photograph the first screen, down to the first command: those name folders of this machine."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        page = write_report([find(run)], Path(folder) / "report.html")
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        view.goto(page.as_uri())
        command = view.locator("main code").first.bounding_box()
        low = HEIGHT if command is None else min(command["y"] - 3, HEIGHT)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": low}
        view.screenshot(path=HERE / "report.png", clip=clip)  # type: ignore[arg-type]
        chromium.close()
    keep("report.png")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
