"""How soon the explorer answers: a changed weight through the browser, a filter over 100,000 texts, and 50 clients at once.

`python benchmarks/explorer.py` needs chromium and Playwright; minilm-l6 must have been fetched for the transformer. Models have
the size of those on sst2 and are not trained, which changes no time. `python benchmarks/explorer.py 10` lets the clients ask for
10 seconds and not for 60. Times are those of a busy machine if the machine is: what it was doing besides is printed.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

TEXT = "the performances are top notch and , once you get through the accents , all or nothing becomes an emotional , though still positive , wrench of a sit ."
CHANGES, ROWS, CLIENTS = 200, 100_000, 50
GOALS = {"bilstm": 50, "minilm": 150, "filter": 300}
"""Milliseconds."""
_CHANGE = """async (count) => {
  const words = [...document.querySelectorAll('.word')], board = document.getElementById('board'), times = [];
  for (let i = 0; i < count; i++) {
    const begun = performance.now(), answered = new Promise((done) => board.addEventListener('answered', done, { once: true }));
    const key = i % 4 < 2 ? 'ArrowUp' : 'ArrowDown';
    words[i % words.length].dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await answered;
    times.push(performance.now() - begun);
  }
  return times;
}"""
_FILTER = """async ([path, count]) => {
  const times = [];
  for (let i = 0; i < count; i++) {
    const begun = performance.now(), low = (i % 50) / 100;
    const query = `where=sharpness.sharpness:${low}:${low + 0.3}&sort=probability&down=true&columns=probability&columns=sharpness.sharpness`;
    const answer = await fetch(`${path}/rows?${query}&offset=${(i % 3) * 50}`);
    if (!answer.ok) throw new Error(await answer.text());
    await answer.json();
    times.push(performance.now() - begun);
  }
  return times;
}"""


def make_bilstm(folder: Path) -> Path:
    """An untrained BiLSTM of the papers' size, and an audit of 100,000 texts beside it."""
    import torch

    from heedful.audits.running.run import audit
    from heedful.config import ModelOptions
    from heedful.data.words.vocabulary import Vocabulary
    from heedful.loading import find_model
    from heedful.models.classifier import Classifier
    from heedful.models.model import Architecture, AttentionModel

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    words = [*TEXT.split(), *(f"word{i}" for i in range(13_000))]
    texts = [" ".join(rng.choice(words[:300], 5 + i % 30)) for i in range(500)]
    vocabulary = Vocabulary.learn([" ".join(words), *texts])
    shape = ModelOptions(encoder="bilstm", hidden=128, embedding_size=300)
    model = AttentionModel(Architecture(**shape.model_dump(), vocabulary_size=len(vocabulary), classes=2))
    Classifier(model.eval(), vocabulary, ("negative", "positive")).save_pretrained(folder)
    data = folder.parent / "texts.csv"
    pl.DataFrame({"text": texts}).write_csv(data)
    found = audit(
        find_model(folder), str(data), only=["sharpness", "permutation", "counterfactual"], keep=True
    )
    assert found.folder is not None
    for path in (found.folder / "instances").glob("*.parquet"):
        frame = pl.read_parquet(path)
        many = pl.concat([frame] * (ROWS // len(frame))).with_columns(
            row=pl.arange(0, ROWS // len(frame) * len(frame))
        )
        many.write_parquet(path, row_group_size=8192)
    return folder


def make_minilm(folder: Path) -> Path | None:
    """MiniLM as a classifier of transformers, whose head is drawn at random; None where it was not fetched."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from heedful.data.fetch.assets import find

    source = find("minilm-l6")
    if source is None:
        return None
    torch.manual_seed(0)
    AutoModelForSequenceClassification.from_pretrained(source, num_labels=2).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


@contextmanager
def served(*models: Path) -> Iterator[tuple[str, str, int]]:
    """The command itself, in a process of its own."""
    command = [sys.executable, "-m", "heedful", "explore", *map(str, models), "--port", "0", "--no-browser"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=models[0].parent)
        try:
            while not (found := re.search(r"(http://\S+)/\?token=(\S+)\n", _said(log))):
                assert process.poll() is None, _said(log)
                time.sleep(0.2)
            yield found[1], found[2], process.pid
        finally:
            process.terminate()
            process.wait()


def _said(log: Any) -> str:
    log.seek(0)
    return str(log.read())


def used(process: int) -> float:
    """Seconds of CPU that a process has used; nothing else on the machine changes them. NaN where nobody tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def through_the_browser(
    base: str, token: str, server: int, models: list[str]
) -> dict[str, tuple[list[float], float]]:
    """Give milliseconds of every change, and of the server's CPU on average."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    times = {}
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        for model in models:
            page.goto(f"{base}/try?model={model}&text={TEXT.replace(' ', '+')}&token={token}")
            page.locator(".word").first.wait_for()
            page.evaluate(_CHANGE, 5)
            before = used(server)
            times[model] = page.evaluate(_CHANGE, CHANGES), 1000 * (used(server) - before) / CHANGES
        (audit,) = page.evaluate(
            "path => fetch(path).then((a) => a.json())", f"/api/models/{models[0]}/audits"
        )
        path = f"/api/models/{models[0]}/audits/{audit['id']}"
        first = page.evaluate(_FILTER, [path, 1])
        before = used(server)
        times["filter"] = page.evaluate(_FILTER, [path, CHANGES]), 1000 * (used(server) - before) / CHANGES
        browser.close()
    print(f"reading the table of {ROWS:,} texts for the first time: {first[0]:.0f} ms")
    return times


def many_clients(base: str, token: str, model: str, seconds: float) -> tuple[int, list[str], list[float]]:
    """Ask as 50 clients do, each for other weights and now and then for another text."""
    host = base.removeprefix("http://")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    faults: list[str] = []
    times: list[float] = []
    until = time.monotonic() + seconds
    words = len(TEXT.split())

    def client(number: int) -> None:
        rng = np.random.default_rng(number)
        connection = http.client.HTTPConnection(host, timeout=60)
        while time.monotonic() < until:
            if rng.random() < 0.1:
                what, body = "read", {"text": f"{TEXT} {number}"}
            else:
                what, body = "weights", {"text": TEXT, "weights": rng.dirichlet(np.ones(words)).tolist()}
            begun = time.monotonic()
            try:
                connection.request("POST", f"/api/models/{model}/{what}", json.dumps(body), headers)
                answer = connection.getresponse()
                said = answer.read()
                if answer.status != 200:
                    faults.append(said.decode()[:200])
            except (OSError, http.client.HTTPException) as error:
                faults.append(repr(error))
                connection.close()
            times.append(time.monotonic() - begun)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    return len(times), faults, times


def main(seconds: float = 60) -> None:
    folder = Path(tempfile.mkdtemp(prefix="heedful-explorer-"))
    try:
        models = [make_bilstm(folder / "bilstm"), make_minilm(folder / "minilm")]
        there = [model for model in models if model is not None]
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        with served(*there) as (base, token, server):
            for name, (times, cpu) in through_the_browser(
                base, token, server, [m.name for m in there]
            ).items():
                goal = GOALS[name]
                middle, late = statistics.median(times), np.quantile(times, 0.95)
                print(
                    f"{name}: median {middle:.1f} ms of {len(times)} ({middle / goal:.2f} of the {goal} ms allowed), 95 % within {late:.1f} ms; {cpu:.1f} ms of the server's CPU each"
                )
            asked, faults, times = many_clients(base, token, there[0].name, seconds)
            print(
                f"{CLIENTS} clients, {seconds:g} s: {asked:,} answers, {len(faults)} errors, median {1000 * statistics.median(times):.0f} ms"
            )
            for fault in faults[:3]:
                print(f"  {fault}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
