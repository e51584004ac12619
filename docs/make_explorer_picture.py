"""Draw docs/explorer.png: the explorer as a browser shows it, with a weight that was moved.

python docs/make_explorer_picture.py RUN "text" (needs chromium and Playwright)
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import uvicorn
from picture_sources import keep
from playwright.sync_api import sync_playwright

from heedful.explorer.application import make_application
from heedful.explorer.naming import shelf_named
from heedful.explorer.serving import listen


def main(run: str, text: str) -> None:
    """Serve a run in this process, move its attention to the farthest heatmap with the same answer, and take the picture."""
    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    app = make_application(shelf_named([run], runs=Path("runs")), token="picture", port=port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))  # type: ignore[arg-type]
    Thread(target=lambda: server.run(sockets=[taken]), daemon=True).start()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 760}, device_scale_factor=1.5)
        page.set_default_timeout(120_000)
        while not server.started:
            page.wait_for_timeout(100)
        page.goto(f"http://127.0.0.1:{port}/try?text={quote(text)}&how=counterfactual&token=picture")
        page.locator("#facts div").first.wait_for()
        page.locator("#board").evaluate("board => board.scrollIntoView({ block: 'center' })")
        page.locator("#stage").screenshot(path=Path(__file__).parent / "explorer.png")
        browser.close()
    server.should_exit = True
    keep("explorer.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
