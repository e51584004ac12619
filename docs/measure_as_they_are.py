"""Measure what docs/as-they-are.md tells: run each command as a user would, and keep the numbers in docs/measured/as-they-are.json.

    HEEDFUL_DATA=… python docs/measure_as_they_are.py FOLDER TOXICITY [part …]

FOLDER is where the classifiers of docs/as_they_are_models.py are, and where audits are kept; TOXICITY is the folder of
bert-tiny-toxicity. It goes through the parts that are named, or through all of them. Finished audits are found again and interrupted
ones go on, so that it may be stopped at any time. One thread; nothing else should run beside it where seconds matter.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
KEPT = DOCS / "measured" / "as-they-are.json"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PEER_TEXTS = 20


def main(folder: Path, toxicity: Path, chosen: Sequence[str]) -> None:
    """Go through the parts."""
    os.environ.update(
        ONE_THREAD | {"PYTHONPATH": os.pathsep.join([str(DOCS), os.environ.get("PYTHONPATH", "")])}
    )
    folder = folder.resolve()
    minilm, audits = str(folder / "minilm-sst2"), folder / "audits"
    parts: dict[str, Callable[[], None]] = {
        "bert-tiny-toxicity": lambda: audited("bert-tiny-toxicity", audits, [str(toxicity), "tweeteval_hate", "--limit=220", "--instead-texts=200"]),
        "scikit-learn": lambda: audited("scikit-learn", audits, ["predict:as_they_are_models:reviews", "mr", "--limit=200", "--label-names=negative,positive"]),
        "minilm-sst2": lambda: audited("minilm-sst2", audits, [minilm, "sst2", "--limit=200", "--no-instead"]),
        "lora-mr": lambda: audited("lora-mr", audits, [minilm, str(unseen(folder)), f"--adapter={folder / 'lora-mr'}", "--limit=200", "--no-instead"]),
        "mean-pooled": lambda: audited("mean-pooled", audits, None, folder),
        "minilm-sources": lambda: audited("minilm-sst2", audits, [minilm, "sst2", "--limit=200", "--instead-texts=180"]),
        "twenty": lambda: seconds_on_twenty(folder),
        "captum": lambda: captum_on_twenty(folder),
        "layers": lambda: layers(audits, minilm),
        "memory": lambda: memory({"bert-tiny-toxicity": str(toxicity), "minilm-sst2": minilm}),
        "passes": lambda: passes(minilm),
    }  # fmt: skip
    for name in chosen or parts:
        print(f"== {name}", flush=True)
        parts[name]()


def audited(name: str, audits: Path, arguments: Sequence[str] | None, models: Path | None = None) -> None:
    """Run all default audits, and keep verdict, numbers and seconds; without arguments, of the module that is wrapped."""
    folder = audits / name
    if arguments is None:
        command = [__file__, "--mean-pooled", str(models), str(folder)]
    else:
        command = ["-m", "heedful", "audit", *arguments, f"--output={folder}"]
    spent = run(command, codes=(0, 1, 3))
    seconds = folder / "cpu-seconds.json"  # of all attempts
    before = json.loads(seconds.read_text()) if seconds.is_file() else 0
    seconds.write_text(json.dumps(before + spent))
    keep(("models", name), found(folder) | {"cpu_seconds": round(before + spent, 1)})


def mean_pooled(models: Path, folder: Path) -> None:
    """Audit the module of a user's own, from Python."""
    import as_they_are_models

    import heedful

    classifier = as_they_are_models.load_mean_pooled(models)
    result = heedful.audit(classifier, "sst2", limit=200, folder=folder)
    result.report(folder / "report.html")
    print(repr(result))


def found(folder: Path) -> dict[str, Any]:
    """Give what an audit and its comparison of sources say."""
    from heedful.audits.audit import ALL
    from heedful.audits.running.alternatives import Alternatives
    from heedful.audits.running.result import AuditResult

    result = AuditResult.load(folder)
    numbers = {
        f"{audit}.{number.name}": _interval(number)
        for audit, summary in result.summaries.items()
        for number in summary.numbers
        if number.group == ALL
    }
    about = result.about
    said: dict[str, Any] = {
        "data": about.data if os.sep not in about.data else Path(about.data).name,
        "texts": about.texts,
        "source": about.source,
        "verdict": None if result.verdict.partial else result.verdict.verdict,
        "because": list(result.verdict.because),
        "accuracy": about.performance.get("accuracy"),
        "asked": about.asked,
        "numbers": numbers,
        "not_asked": result.refused(),
    }
    if "counterfactual" in result.frames:
        rows = result.frames["counterfactual"]
        gap = (rows["jsd_bound"] - rows["eps_max_jsd"]).to_numpy()
        said["gap"] = {
            "mean": round(float(gap.mean()), 4),
            "at_most_0.02": round(float((gap <= 0.02).mean()), 4),
        }
    if (other := Alternatives.read(folder)) is not None:
        said["instead_texts"] = other.texts
        said["instead"] = {column.source: _column(column) for column in other.columns}
    return said


def _column(column: Any) -> dict[str, Any]:
    found = {
        judgement.rule.measure: _interval(judgement.number) | {"outcome": judgement.outcome}
        for judgement in column.judgements
        if judgement.number is not None
    }
    return {"verdict": column.verdict, **found} | (
        {} if column.gain is None else {"gain": _interval(column.gain)}
    )


def _interval(number: Any) -> dict[str, Any]:
    def short(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    return {
        "estimate": short(number.estimate),
        "low": short(number.low),
        "high": short(number.high),
        "texts": number.count,
    }


def unseen(folder: Path) -> Path:
    """Write the test sentences of mr that do not stand in sst2's training split, on which the network was trained."""
    from as_they_are_models import LABELS
    from as_they_are_models import unseen as rows

    path = folder / "mr-unseen.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("text", "label"), *((text, LABELS[label]) for text, label in rows("mr", by="sst2"))]
        )
    return path


def seconds_on_twenty(folder: Path) -> None:
    """All default audits on the peers' texts, from loading the model on, without imports."""
    code = (
        "import time, torch, heedful, heedful.audits.running.run, transformers; torch.set_num_threads(1); start = time.process_time();"
        f"result = heedful.audit({str(folder / 'minilm-sst2')!r}, {twenty()!r}, progress=False);"
        "print(result.verdict.verdict, time.process_time() - start, sep='|')"
    )
    verdict, seconds = said(["-c", code]).strip().splitlines()[-1].split("|")
    keep(("peers", "heedful"), {"lines": 2, "cpu_seconds": round(float(seconds), 1), "verdict": verdict})


CAPTUM = """
import time
import torch
from captum.attr import LayerIntegratedGradients
from transformers import AutoModelForSequenceClassification, AutoTokenizer
torch.set_num_threads(1)
start = time.process_time()
model = AutoModelForSequenceClassification.from_pretrained(FOLDER).eval()
tokenizer = AutoTokenizer.from_pretrained(FOLDER)
method = LayerIntegratedGradients(lambda ids: model(ids).logits.softmax(-1), model.bert.embeddings)
for text in TEXTS:
    ids = tokenizer(text, return_tensors="pt").input_ids
    target = int(model(ids).logits.argmax())
    baseline = torch.full_like(ids, tokenizer.pad_token_id)
    baseline[:, 0], baseline[:, -1] = tokenizer.cls_token_id, tokenizer.sep_token_id
    method.attribute(ids, baselines=baseline, target=target, n_steps=50).sum(-1)
print(time.process_time() - start)
"""


def captum_on_twenty(folder: Path) -> None:
    """Integrated gradients of the embeddings, 50 steps."""
    code = f"FOLDER, TEXTS = {str(folder / 'minilm-sst2')!r}, {twenty()!r}\n" + CAPTUM
    seconds = float(said(["-c", code]).split()[-1])
    keep(
        ("peers", "captum"),
        {"lines": 14, "cpu_seconds": round(seconds, 1), "method": "LayerIntegratedGradients, 50 steps"},
    )


def twenty() -> list[str]:
    """Give the texts that all libraries are asked about."""
    from as_they_are_models import split_of

    return list(split_of("sst2", "test").texts[:PEER_TEXTS])


def layers(audits: Path, minilm: str) -> None:
    """Shuffled weights in the last layer, and in all of them."""
    found: dict[str, Any] = {}
    for where in ("last", "all"):
        folder = audits / f"layers-{where}"
        spent = run(["-m", "heedful", "audit", minilm, "sst2", "--limit=60", f"--layers={where}", "--only=permutation", f"--output={folder}"], codes=(0, 1, 3))  # fmt: skip
        from heedful.audits.audit import ALL
        from heedful.audits.running.result import AuditResult

        numbers = AuditResult.load(folder).summaries["permutation"].numbers
        found[where] = {number.name: _interval(number) for number in numbers if number.group == ALL} | {"cpu_seconds": round(spent, 1)}  # fmt: skip
    keep(("layers",), {"model": "minilm-sst2", "data": "sst2 test", "limit": 60, "permutation": found})


def memory(models: dict[str, str]) -> None:
    """Peak memory of audits of 100 and 1,000 texts of 512 tokens, in processes of their own."""
    for name, folder in models.items():
        for many in (100, 1000):
            before, peak = map(
                int,
                said([str(DOCS.parent / "benchmarks" / "huggingface.py"), "peak", folder, str(many)]).split()[
                    -2:
                ],
            )
            keep(
                ("memory", name, str(many)),
                {"megabytes_before": before, "megabytes_at_most": peak, "tokens": 512},
            )


def passes(minilm: str) -> None:
    """What audits cost in forward passes."""
    lines = said([str(DOCS.parent / "benchmarks" / "huggingface.py"), "1000", minilm]).splitlines()
    print(*lines, sep="\n")
    keep(("passes",), {"model": "minilm-sst2", "said": lines})


def run(command: Sequence[str], *, codes: Sequence[int] = (0,)) -> float:
    """Run Python, and give its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], check=False, cwd=DOCS)
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(command)} ended with exit code {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def said(command: Sequence[str]) -> str:
    """Run Python, and give what it prints."""
    return subprocess.run(
        [sys.executable, *command], check=True, cwd=DOCS, stdout=subprocess.PIPE, text=True
    ).stdout


def keep(place: Sequence[str], content: Any) -> None:
    """Put numbers into the kept file."""
    whole = json.loads(KEPT.read_text())
    inner = whole
    for name in place[:-1]:
        inner = inner.setdefault(name, {})
    inner[place[-1]] = content
    KEPT.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--mean-pooled":
        mean_pooled(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
