"""heedful: may this model's attention be shown as an explanation?

import heedful

model = heedful.train("sst2", encoder="bilstm", vectors="glove-840b-300d")
model.predict(["a warm , funny , engaging film ."])
heedful.explain(model, ["a warm , funny film ."], "leave_one_out")
heedful.audit(model, "sst2", quick=True).verdict
heedful.train_for_show("mr", vectors="glove-840b-300d").result.verdict
heedful.attack(model, texts, labels, recipe="pwws").to_frame()
heedful.audit(predict=function, texts=texts, labels=labels).verdict
heedful.audit("a-folder-with-config.json", "reviews.csv").verdict
heedful.audit(heedful.wrap(module, tokenizer, labels=["no", "yes"]), "reviews.csv").verdict
heedful.load("runs/…")
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from heedful import reporting
from heedful.intake.arguments import as_list, as_path, as_texts

if TYPE_CHECKING:
    from heedful.attacks.attack_result import AttackResult
    from heedful.audits.running.result import AuditResult
    from heedful.comparison.comparison import Comparison
    from heedful.models.answers import Reads
    from heedful.models.classifier import Classifier
    from heedful.models.huggingface.sequence_classifier import SequenceClassifier
    from heedful.models.prediction import Prediction
    from heedful.models.stages import Auditable
    from heedful.panel.for_show import ForShow
    from heedful.progress import Watcher

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "attack",
    "audit",
    "compare",
    "explain",
    "load",
    "measures",
    "train",
    "train_for_show",
    "words",
    "wrap",
]


def _write_report(audits: Sequence[Any], path: Path) -> Path:
    from heedful.report import write_report

    return write_report(audits, path)


def _write_attack(result: Any, path: Path) -> Path:
    from heedful.report.attack_page import write_attack

    return write_attack(result, path)


reporting.writer = _write_report
reporting.attack_writer = _write_attack


def __getattr__(name: str) -> Any:
    """Import `heedful.measures` when it is first asked for: it brings torch along."""
    if name == "measures":
        import importlib

        return importlib.import_module("heedful.measures")
    raise AttributeError(f"module 'heedful' has no attribute {name!r}")


def train(
    dataset: str,
    *,
    runs: str | Path = "runs",
    config: str | Path | None = None,
    progress: bool = True,
    **options: Any,
) -> Classifier:
    """Train a classifier, continue an interrupted run, or load a complete one.

    `dataset` is a name of the catalogue or a path; `options` are those of `heedful train --help`, with
    underscores. A bar shows the progress if there is a terminal.
    """
    from heedful.training.train import resolve
    from heedful.training.train import train as run_training

    file = None if config is None else as_path(config, "A config")
    resolved = resolve({"dataset": str(as_path(dataset, "A dataset")), **options}, file=file)
    return run_training(resolved, runs=as_path(runs, "The folder of runs"), watcher=_watcher(progress))


def train_for_show(
    dataset: str,
    *,
    runs: str | Path = "runs",
    config: str | Path | None = None,
    progress: bool = True,
    **options: Any,
) -> ForShow:
    """Train a model whose attention may be shown, and audit it, as `heedful train --for-show` does.

    The result has the `classifier`, the audit's `result`, the `ordinary` model for comparison, and `cost()` in words.
    """
    from heedful.panel.for_show import train_for_show as make

    given = {"dataset": str(as_path(dataset, "A dataset")), **options}
    file = None if config is None else as_path(config, "A config")
    return make(given, file=file, runs=as_path(runs, "The folder of runs"), watcher=_watcher(progress))


def load(
    run: str | Path,
    *,
    runs: str | Path = "runs",
    tokenizer: Any = None,
    adapter: str | Path | None = None,
) -> Classifier | SequenceClassifier:
    """Load a classifier: of a run, by its folder or its name, or of transformers, by its folder or as hf:NAME.

    A classifier of transformers may be given another `tokenizer`, and an `adapter` (the folder that peft saved).
    """
    from heedful.loading import load as load_model

    named, where = as_path(run, "A run"), as_path(runs, "The folder of runs")
    return load_model(named, runs=where, tokenizer=tokenizer, adapter=adapter)


def wrap(
    module: Any, tokenizer: Any, *, labels: Sequence[str] | None = None, name: str | None = None
) -> SequenceClassifier:
    """Make a classifier of a torch model that has an attention softmax: `module(input_ids, attention_mask)` gives logits.

    The tokenizer is one of transformers or of tokenizers. Nothing is trained, and the module stays as it is. What cannot be
    audited is refused with the reason; see `heedful.models.stages` for how to give the stages yourself.
    """
    from heedful.models.wrapped import wrap as wrap_module

    return wrap_module(module, tokenizer, labels=labels, name=name)


def explain(
    model: Auditable | Reads | str | Path,
    texts: Sequence[str],
    name: str | None = None,
    *,
    queries: Sequence[str] | None = None,
    tokenizer: Any = None,
    seed: int = 0,
) -> list[Prediction]:
    """Classify texts and score every item by an explainer (`heedful list explainers`).

    `model` is a classifier, a run, a classifier of transformers (its folder, a pipeline, or the model with its `tokenizer`),
    or a function from a list of texts to probabilities. Without a `name`, attention is given, and leave-one-out for a function.
    """
    from heedful.explainers.explain import explain as explain_texts

    return explain_texts(_auditable(model, tokenizer=tokenizer), texts, name, queries=queries, seed=seed)


def words(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Cut texts into words as audits of a function do: where each begins and ends. Scores of your own are one for each."""
    from heedful.models.function import cut_words

    return cut_words(as_texts(texts))


def audit(
    model: Auditable | str | Path | None = None,
    dataset: Any = None,
    *,
    predict: Reads | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[int | str] | None = None,
    label_names: Sequence[str] | None = None,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    only: Sequence[str] | None = None,
    policy: str | Path | None = None,
    folder: str | Path | None = None,
    scores: Sequence[Sequence[Any]] | None = None,
    progress: bool = True,
    **options: Any,
) -> AuditResult:
    """Ask whether a model's attention, or other scores of its words, may be shown as an explanation.

    `model` is a classifier, a run, a classifier of transformers (its folder or hf:NAME, with an `adapter` if there is one, a
    pipeline, or the model with its `tokenizer`), or any model with the stages (`heedful.models.stages.Auditable`); or
    `predict` is a function from a list of texts to probabilities, whose classes may be named in their order by
    `label_names`. `dataset`
    is a name, a file, a list of texts, a frame of pandas or polars, or a Dataset, and by default the model's own test split;
    `texts` and their `labels` (names or numbers, if there are any) may be given instead. `only` names audits (`heedful list
    audits`); `scores` are your own, one list per text, to be audited in place of attention: a number for every word
    (`heedful.words`), or (start, end, number). With a `folder`, finished audits are saved there and not repeated. `options`
    are those of `heedful audit --help`, with underscores. The result has `verdict`, `show()`, `to_frame()`, `save()` and
    `report()`.
    """
    from heedful.audits.running.run import audit as run_audits
    from heedful.data.corpora.given import as_data
    from heedful.errors import BadInput

    asked = predict if model is None else model
    if asked is None or (model is not None and predict is not None):
        raise BadInput("Give a model or a predict function, one of the two.")
    if texts is not None and dataset is not None:
        raise BadInput("Both data and texts are given: choose one.")
    return run_audits(
        _auditable(asked, label_names, tokenizer=tokenizer, adapter=adapter),
        as_data(dataset if texts is None else texts, labels),
        only=[only] if isinstance(only, str) else only,
        policy=None if policy is None else as_path(policy, "A policy"),
        folder=None if folder is None else as_path(folder, "The folder of an audit"),
        scores=scores,
        watcher=_watcher(progress),
        **options,
    )


def attack(
    model: Auditable | Reads | str | Path,
    texts: Sequence[str],
    labels: Sequence[int | str] | None = None,
    *,
    recipe: str = "textfooler",
    vectors: str | Path | None = None,
    known_words: bool = False,
    limit: int | None = None,
    similarity: bool = True,
    tokenizer: Any = None,
    folder: str | Path | None = None,
    progress: bool = True,
    **options: Any,
) -> AttackResult:
    """Replace words of texts until a model answers otherwise (`heedful list attacks`).

    `model` is a classifier, the folder of a run or of a classifier of transformers, a pipeline, a model of transformers with
    its `tokenizer`, or any function from a list of texts to probabilities [texts, classes].
    `labels` are numbers or names of classes; without them, what the model says is taken for true. In a `folder`, what is
    done is kept, and an interrupted attack goes on. Further `options` are those of `heedful attack --help`. The result
    has `to_frame()`, `numbers`, `show()`, `save(folder)` and `report(file)`.
    """
    from heedful.attacks.run_attack import attack as run_attack

    victim: Any = model
    if isinstance(model, str | Path) or _is_pretrained(model):
        victim = _auditable(model, tokenizer=tokenizer)
    given: dict[str, Any] = {"vectors": str(vectors)} if vectors is not None else {}
    return run_attack(
        victim,
        as_list(texts, "texts"),
        None if labels is None else as_list(labels, "labels"),
        folder=None if folder is None else as_path(folder, "The folder of an attack"),
        watcher=_watcher(progress),
        recipe=recipe,
        known_words=known_words,
        limit=limit,
        similarity=similarity,
        **given,
        **options,
    )


def compare(
    models: Sequence[str | Path],
    dataset: str | Path | None = None,
    *,
    only: Sequence[str] | None = None,
    against: str | Path | None = None,
    by_method: bool | None = None,
    every_number: bool = False,
    runs: str | Path = "runs",
    progress: bool = True,
    **options: Any,
) -> Comparison:
    """Compare trained runs on the same texts, with paired differences to the first, or to `against`.

    Audits are saved in the runs, and finished ones are found. Runs that differ only in their seed are taken together,
    unless `by_method` is False. `options` are those of `heedful compare --help`, with underscores. The result has
    `show()`, `to_frame()`, `write(format)`, `save(file)` and `figure(file)`.
    """
    from heedful.comparison.compare import compare as compare_runs

    return compare_runs(
        [as_path(model, "A run") for model in as_list(models, "runs")],
        None if dataset is None else str(dataset),
        only=[only] if isinstance(only, str) else only,
        against=None if against is None else as_path(against, "A run"),
        by_method=by_method,
        every_number=every_number,
        root=as_path(runs, "The folder of runs"),
        watcher=_watcher(progress),
        **options,
    )


def _auditable(
    model: Auditable | Reads | str | Path,
    label_names: Sequence[str] | None = None,
    *,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
) -> Auditable:
    """Find a model by its name, or make one of a network of transformers or of a function."""
    from heedful.errors import BadInput

    if isinstance(model, str | Path):
        from heedful.loading import find_model

        return find_model(model, label_names=label_names, tokenizer=tokenizer, adapter=adapter)
    if hasattr(model, "get_base_model"):  # of peft, which puts its weights into a network of transformers
        model = model.get_base_model()
    if _is_pretrained(model):
        from heedful.models.huggingface.classifier_folder import classify_given

        return classify_given(model, tokenizer, adapter=adapter, label_names=label_names)
    if tokenizer is not None or adapter is not None:
        raise BadInput(
            "A tokenizer or an adapter is for a classifier of transformers, and this is another model."
        )
    if hasattr(model, "named_parameters") and not hasattr(model, "instances"):
        raise BadInput("A torch model is given: wrap it first, heedful.wrap(model, tokenizer, labels=…).")
    if callable(model) and not hasattr(model, "instances"):
        from heedful.models.function import classify_by

        return classify_by(model, label_names=label_names)
    if not all(hasattr(model, part) for part in ("model", "labels", "instances")):
        raise BadInput(
            f"A model is a classifier, a run's name or folder, or a function from texts to probabilities; this is a {type(model).__name__}."
        )
    if label_names is not None:
        raise BadInput("label_names are for functions: this model has names of its own.")
    return cast("Auditable", model)


def _is_pretrained(model: Any) -> bool:
    """Whether this is a network or a pipeline of transformers: then that library is there already."""
    loaded = sys.modules.get("transformers")
    return loaded is not None and isinstance(model, loaded.PreTrainedModel | loaded.Pipeline)


def _watcher(shown: bool) -> Watcher:
    """Show bars on standard error, or nothing."""
    if shown:
        from heedful.output.bars import Bars
        from heedful.output.terminal import screen

        return Bars(screen(stderr=True))
    from heedful.progress import QUIET

    return QUIET
