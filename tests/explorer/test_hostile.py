"""Texts, labels and names of others are shown, and never run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import heedful
from heedful.audits.running.run import audit
from heedful.explorer.application import make_application
from heedful.explorer.naming import shelf_named

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"
LABELS = (f"{IMAGE}", "\"'><svg onload=alert(3)>")
TEXTS = (
    f"good {IMAGE} film {SCRIPT}",
    "bad {{ 7*7 }} ${7*7} javascript:alert(4) <b>bold</b> \u202e\u0007 film",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose texts, labels and name are code."""
    folder = tmp_path_factory.mktemp("hostile")
    data = folder / "a<b>&'reviews.jsonl"
    import json

    rows = [{"text": f"{TEXTS[i % 2]} {i}", "label": LABELS[i % 2]} for i in range(60)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = heedful.train(
        str(data),
        runs=folder / "runs",
        encoder="average",
        embedding_size=8,
        hidden=4,
        epochs=1,
        progress=False,
    )
    assert model.run is not None
    renamed = model.run.with_name("run<img src=x onerror=alert(5)>&\"'")
    model.run.rename(renamed)
    audit(heedful.load(renamed), None, only=["sharpness", "counterfactual"], split="train", keep=True)
    return folder / "runs"


@pytest.fixture
def site(hostile: Path) -> Iterator[Any]:
    from threading import Thread

    import uvicorn

    from heedful.explorer.serving import listen

    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    app = make_application(shelf_named([], runs=hostile), token="t", port=port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    thread = Thread(target=lambda: server.run(sockets=[taken]), daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)

    class Site:
        address = f"http://127.0.0.1:{port}"

        def at(self, path: str) -> str:
            return f"{self.address}{path}{'&' if '?' in path else '?'}token=t"

    yield Site()
    server.should_exit = True
    thread.join(20)


def test_pages_and_answers_escape_everything(hostile: Path) -> None:
    app = make_application(shelf_named([], runs=hostile), token="t", port=80)
    with TestClient(app, base_url="http://127.0.0.1", headers={"authorization": "Bearer t"}) as client:
        for view in ("try", "attack", "look", "compare", "papers"):
            page = client.get(f"/{view}", params={"text": IMAGE, "model": IMAGE})
            assert page.status_code == 200
            assert "<img" not in page.text
            assert "<svg onload" not in page.text
        (model,) = client.get("/api/models").json()
        assert "<" not in model["id"]
        found = client.post(f"/api/models/{model['id']}/read", json={"text": TEXTS[0]})
        assert found.headers["content-type"] == "application/json"
        refused = client.post(
            f"/api/models/{model['id']}/read", content=IMAGE, headers={"content-type": "application/json"}
        )
        assert refused.json()["error"].startswith("The request is no JSON")
        assert set(found.json()["labels"]) == set(LABELS)


def test_nothing_runs_in_any_view(visit: Any, site: Any, hostile: Path) -> None:
    # The fixture fails if a dialog opens, a script complains, or anything is fetched from elsewhere.
    from urllib.parse import quote

    page = visit(site, f"/try?text={quote(TEXTS[0])}")
    assert IMAGE in page.locator("#text").input_value()
    page.locator(".word .name").nth(1).click()
    page.locator("#word-new").fill(IMAGE)
    page.get_by_role("button", name="Replace").click()
    page.locator("#effects").wait_for()
    assert IMAGE in page.locator("#effects-says").inner_text()
    page.locator("#pick").click()
    page.locator("#picker-texts li").first.wait_for()
    page = visit(site, f"/compare?text={quote(TEXTS[1])}")
    page.locator(".side").first.wait_for()
    page = visit(site, "/look")
    page.locator("#table td.text button").first.click()
    page.locator("#one h2").wait_for()
    visit(
        site,
        f"/look?model={quote(IMAGE)}&audit={quote(IMAGE)}&columns={quote(IMAGE)}&where={quote(IMAGE)}&sort={quote(IMAGE)}",
    )
    visit(site, f"/attack?text={quote(SCRIPT)}&recipe={quote(IMAGE)}&vectors={quote(IMAGE)}")
    for found in (page,):
        assert found.locator("main img").count() == 0
