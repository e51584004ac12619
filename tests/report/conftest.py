"""Audits made by hand, so that every number on the page is known; and a browser to look at the page with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from heedful.audits.audit import AUDITS, Number
from heedful.audits.policy import Policy, Remedy, Rule
from heedful.audits.running.alternatives import SCORES, Alternatives, Column, measured_file
from heedful.audits.running.result import PREDICTIONS, About, AuditResult, write_frame
from heedful.audits.verdict import Judgement, judge_findings
from heedful.config import AuditOptions
from heedful.declared import complete

NAMES = ("sharpness", "agreement", "permutation", "counterfactual", "single_erasure", "flip_set")
WORDS = ("a", "warm", "film", "dull", "plot", "is", "funny", "old")

# Measurements are drawn evenly from what is possible, so that every mean lies halfway.
PASSES = Rule(measure="sharpness.sharpness", show=0.1, forbid=0.05, reason="a flat heatmap points nowhere")
FAILS = Rule(measure="agreement.tau_loo_top", show=0.95, forbid=0.9, reason="others see other words")
CAVEAT = Rule(measure="permutation.indifferent", show=0.1, reason="shuffling changes little")
HELPED = FAILS.model_copy(
    update={"helps": (Remedy(options="--encoder pointer", measured="It helped 9 of 12 models."),)}
)


def policy_of(*rules: Rule, least_texts: int = 30, **fields: Any) -> Policy:
    return Policy(version=2, name="by hand", least_texts=least_texts, rules=rules, **fields)


def texts_of(count: int) -> list[str]:
    return [" ".join(WORDS[(i + j) % len(WORDS)] for j in range(3 + i % 9)) for i in range(count)]


def _rows(  # noqa: PLR0912 a branch for each audit
    name: str, base: pl.DataFrame, rng: np.random.Generator, seeds: tuple[int, ...]
) -> pl.DataFrame:
    """Measurements such as an audit makes, drawn at random within what is possible."""
    n = len(base)
    audit = AUDITS.get(name)(complete(AuditOptions)())
    columns: dict[str, Any] = {
        measure: rng.uniform(about.low, min(about.high, 100), n) for measure, about in audit.measures.items()
    }
    columns |= {"largest_weight": base["weights"].list.max().cast(pl.Float64)}
    match name:
        case "agreement":
            columns |= {pair: rng.uniform(-1, 1, n) for pair in audit.pairs}  # type: ignore[attr-defined]
        case "counterfactual":
            lengths = base["items"].to_list()
            other = [[0.0] * (k - 1) + [1.0] for k in lengths]
            columns |= {
                "eps_max_jsd": rng.uniform(0, 0.69, n),
                "replaceable": np.ones(n),
                "exact": [True] * n,
            }
            columns |= {"counterfactual_weights": other, "counterfactual_probability": base["probability"]}
        case "reach":
            columns |= {"exact": [True] * n}
        case "single_erasure":
            for ranking in ("attention", "gradient", "product"):
                for column in ("delta_js", "delta_weight", "flips", "other_flips"):
                    columns[f"{ranking}_{column}"] = rng.random(n).round(0 if "flips" in column else 4)
        case "flip_set":
            columns["minimum_fraction"][:1] = np.nan
            columns["members"] = [[0]] * n
        case "certificate":
            columns |= {
                column: rng.random(n)
                for norm in ("linf", "l2", "l1")
                for column in (
                    f"radius_{norm}",
                    f"radius_{norm}_zero_sum",
                    *(f"certified_{norm}_{r:g}" for r in audit.config.radii),
                )
            }
        case "rationale":
            columns |= {"words": base["items"], "never_flips": np.zeros(n)}
        case "seed_stability":
            columns |= {
                f"{name}_{seed}": rng.uniform(about.low, about.high, n)
                for name, about in audit.measures.items()
                for seed in seeds
            }
        case "consistency" | "robustness":
            columns |= {"status": ["successful"] * n, "replaced": [[0]] * n}
            columns |= {"attacked_weights": base["weights"], "attacked_probability": base["probability"]}
            columns |= {"after_attack_pwws": rng.random(n).round(), "why": [""] * n}
        case "plausibility":
            columns |= {"given": [True] * n, "marked": [[0]] * n}
        case "imitation":
            for seed in seeds:
                columns |= {f"tvd_{seed}": rng.random(n), f"jsd_{seed}": rng.random(n)}
            columns |= {
                "chances": base["probabilities"],
                "twin_weights": base["weights"],
                "twin_top": ["the"] * n,
            }
    return base.select("row", "predicted", "items").with_columns(
        **{key: pl.Series(value) for key, value in columns.items()}
    )


def make_result(
    texts: Sequence[str] | None = None,
    *,
    names: Sequence[str] = NAMES,
    labels: tuple[str, ...] = ("neg", "pos"),
    weights: Sequence[Sequence[float]] | None = None,
    model: str = "toy-run",
    policy: Policy | None = None,
    item: str = r"\S+",
    **judged: Any,
) -> AuditResult:
    """An audit of texts, one of whose items is every run of characters that are not spaces, or what `item` matches."""
    texts = texts_of(60) if texts is None else texts
    rng = np.random.default_rng(0)
    spans = [[match.span() for match in re.finditer(item, text)] for text in texts]
    if weights is None:
        weights = [(np.arange(1, len(s) + 1) / max(len(s) * (len(s) + 1) / 2, 1)).tolist() for s in spans]
    sure = np.linspace(0.55, 0.99, len(texts))
    predicted = [labels[i % len(labels)] for i in range(len(texts))]
    base = pl.DataFrame(
        {
            "row": range(len(texts)),
            "text": texts,
            "query": [None] * len(texts),
            "label": [labels[i // 2 % len(labels)] for i in range(len(texts))],
            "predicted": predicted,
            "probability": sure,
            "probabilities": [[p, 1 - p] for p in sure.tolist()],
            "items": [len(s) for s in spans],
            "starts": [[a for a, _ in s] for s in spans],
            "ends": [[b for _, b in s] for s in spans],
            "weights": weights,
        },
        schema_overrides={"query": pl.String, "weights": pl.List(pl.Float32)},
    )
    frames, summaries = {PREDICTIONS: base}, {}
    for name in names:
        frames[name] = _rows(name, base, rng, (1, 2, 3))
        audit = AUDITS.get(name)(complete(AuditOptions)())
        audit.records, audit.failed = {1: {"test": {"f1": 0.8}, "epoch": 3}}, []  # type: ignore[attr-defined]
        audit.share = 0.1  # type: ignore[attr-defined]
        summaries[name] = audit.summarise(frames[name])
    about = About(
        model=model,
        encoder="bilstm",
        labels=labels,
        data="toys test",
        texts=len(texts),
        source="attention",
        options=complete(AuditOptions)().model_dump(mode="json"),
        performance={"accuracy": 0.5},
        notes=(),
    )
    verdict = judge_findings(
        policy or policy_of(PASSES, FAILS, CAVEAT), summaries, encoder="bilstm", **judged
    )
    return AuditResult(about, verdict, summaries, frames)


def measured(estimate: float, *, half: float = 0.02, count: int = 60) -> Number:
    return Number(
        name="x",
        estimate=estimate,
        low=estimate - half,
        high=estimate + half,
        std=0.1,
        count=count,
        missing=0,
    )


def compared(
    found: AuditResult, rules: Sequence[Rule], reached: dict[str, Sequence[float]], *, least_texts: int = 30
) -> Alternatives:
    """A comparison kept beside a saved audit: by source, a number for every rule; the scores of texts 0 to 9 run 1, −2, 3, …"""
    assert found.folder is not None
    columns = []
    for source, numbers in reached.items():
        judged = [(rule, measured(n)) for rule, n in zip(rules, numbers, strict=True)]
        judgements = tuple(
            Judgement(rule=rule, number=n, outcome=rule.judge(n, least_texts=least_texts))
            for rule, n in judged
        )
        gain = None if source == "attention" else measured(numbers[-1] - reached["attention"][-1])
        columns.append(Column(source=source, verdict="show with caveat", judgements=judgements, gain=gain))
        items = found.frames[PREDICTIONS]["items"].to_list()[:10]
        scores = [[float((-1) ** i * (i + 1)) for i in range(many)] for many in items]
        path = measured_file(found.folder, source)
        write_frame(path, pl.DataFrame({"row": range(10), SCORES: scores}))
    made = Alternatives(
        texts=10,
        of=len(found.frames[PREDICTIONS]),
        seed=0,
        columns=tuple(columns),
        left_out={"counterfactual.eps_max_jsd": "it asks about attention itself"},
    )
    made.save(found.folder)
    return made


@pytest.fixture
def result() -> Callable[..., AuditResult]:
    return make_result


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an audit with all its parts."""
    folder = tmp_path_factory.mktemp("report")
    return make_result(names=(*NAMES, "imitation")).report(folder / "audit.html")


@pytest.fixture(scope="session")
def pages(report: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of every kind: a verdict, one with a comparison, too few texts, and findings."""
    rules = (PASSES, Rule(measure="rationale.sufficiency_share", show=0.7, forbid=0.35, reason="enough"))
    folder = tmp_path_factory.mktemp("pages")
    found = make_result(names=(*NAMES, "rationale"), policy=policy_of(*rules, FAILS), first=("It guesses.",))
    found.save(folder / "audit")
    reached = {"attention": (0.3, 0.2), "gradient": (0.2, 0.5), "integrated_gradients": (0.2, 0.9)}
    compared(found, rules, reached)
    few = make_result(policy=policy_of(PASSES, FAILS, CAVEAT, least_texts=99))
    partial = make_result(names=NAMES[:3], partial=True)
    return {
        "verdict": report,
        "comparison": found.report(folder / "comparison.html"),
        "few": few.report(folder / "few.html"),
        "findings": partial.report(folder / "findings.html"),
    }


class Visit:
    """A page, and everything that it said, asked for and let happen."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("popup", lambda popup: self.said.append("popup"))


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    """Give a function that opens a report, and check afterwards that it said nothing and asked for nothing."""
    contexts, visits = [], []

    def open_it(path: Path, *, width: int = 1280, scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        visits.append((path, Visit(context.new_page())))
        visits[-1][1].page.goto(path.as_uri())
        return visits[-1][1]

    yield open_it
    asked = [
        (v.said, [u for u in v.asked if u != p.as_uri() and not u.startswith(("data:,", "blob:"))])
        for p, v in visits
    ]
    for context in contexts:
        context.close()
    assert asked == [([], [])] * len(visits)
