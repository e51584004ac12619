"""An explorer over a few small runs, asked in this process, and served for a browser."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn
from fastapi.testclient import TestClient
from tests.patience import PATIENCE

import heedful
from heedful.audits.running.run import audit
from heedful.explorer.application import make_application
from heedful.explorer.naming import shelf_named
from heedful.explorer.serving import listen
from heedful.explorer.shelf import Shelf

TOKEN, PORT = "a-token-for-tests", 8765
HERE = f"http://127.0.0.1:{PORT}"
GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")
SMALL: dict[str, Any] = {"embedding_size": 8, "hidden": 4, "epochs": 1, "progress": False}
TEXT = "film 3 was lovely and great ."


class Runs(NamedTuple):
    """A folder of runs, and what they were trained on."""

    folder: Path
    data: Path
    plain: str
    heads: str
    mean: str


def write_reviews(path: Path, rows: int = 80) -> Path:
    lines = ["text,label"]
    for i in range(rows):
        words = GOOD if i % 2 else BAD
        lines.append(f"film {i} was {words[i % 4]} and {words[(i // 4) % 4]} .,{'pos' if i % 2 else 'neg'}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Three runs, of which the first is audited; to be read only."""
    folder = tmp_path_factory.mktemp("explored")
    data = write_reviews(folder / "reviews.csv")
    made = folder / "runs"

    def train(**options: Any) -> str:
        model = heedful.train(str(data), runs=made, **{**SMALL, **options})
        assert model.run is not None
        return model.run.name

    names = (
        train(encoder="bilstm"),
        train(encoder="average", heads=2, decoder="mlp"),
        train(encoder="average", pooling="mean"),
    )
    only = ["sharpness", "permutation", "counterfactual", "flip_set", "single_erasure"]
    audit(heedful.load(made / names[0]), None, only=only, split="train", keep=True)
    return Runs(made, data, *names)


@pytest.fixture
def own_runs(runs: Runs, tmp_path: Path) -> Runs:
    """A copy that a test may add to."""
    shutil.copytree(runs.folder, tmp_path / "runs")
    return runs._replace(folder=tmp_path / "runs")


def client_of(shelf: Shelf, *, measured: Path | None = None, **headers: str) -> TestClient:
    app = make_application(shelf, token=TOKEN, port=PORT, measured=measured)
    given = {"authorization": f"Bearer {TOKEN}", **headers}
    return TestClient(app, base_url=HERE, headers=given, raise_server_exceptions=False)


@pytest.fixture(scope="session")
def client(runs: Runs) -> Iterator[TestClient]:
    """A program that has the token, and changes nothing on the disk."""
    with client_of(shelf_named([], runs=runs.folder)) as opened:
        yield opened


@pytest.fixture
def ask(client: TestClient, runs: Runs) -> Callable[..., Any]:
    """Give a function that asks something of the plain model and wants an answer."""

    def ask(what: str, body: Any = None, *, model: str = "", status: int = 200, **query: Any) -> Any:
        path = f"/api/models/{model or runs.plain}{what}"
        found = client.post(path, json=body) if body is not None else client.get(path, params=query)
        assert found.status_code == status, found.text
        return found.json()

    return ask


class Site(NamedTuple):
    """An explorer that a browser can open."""

    address: str
    token: str

    def at(self, path: str) -> str:
        """Give an address with the token."""
        return f"{self.address}{path}{'&' if '?' in path else '?'}token={self.token}"


def served(shelf: Shelf, *, measured: Path | None = None) -> Iterator[Site]:
    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    app = make_application(shelf, token=TOKEN, port=port, measured=measured)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: server.run(sockets=[taken]), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.05)
    yield Site(f"http://127.0.0.1:{port}", TOKEN)
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="session")
def site(runs: Runs) -> Iterator[Site]:
    measured = Path(__file__).parents[2] / "docs" / "measured"
    yield from served(shelf_named([], runs=runs.folder), measured=measured)


Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Give a function that opens a view; afterwards nothing was said, and nothing asked of another place."""
    contexts, said, elsewhere = [], [], []

    def open_it(site: Site, path: str, *, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: None if request.url.startswith(site.address) else elsewhere.append(request.url),
        )
        page.goto(site.at(path))
        page.wait_for_load_state("networkidle")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert (said, elsewhere) == ([], [])
