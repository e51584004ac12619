"""Train a classifier from a config: from a dataset's name to a complete run."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from heedful.checking import build, read_yaml
from heedful.config import RENAMED, Metric, ObjectiveOptions, TrainConfig
from heedful.data.attacked import AttackedTexts
from heedful.data.corpora.catalogue import cards
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpus import Corpus
from heedful.declared import complete, declared_options
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.models.encoders.encoder import options_of_others
from heedful.presets import preset_values
from heedful.progress import QUIET, Watcher
from heedful.registry import member_of
from heedful.runs import Run, identity
from heedful.training.loop import Trainer
from heedful.training.objectives.imitation import twin_defaults
from heedful.training.objectives.objective import OBJECTIVES, Objective, max_epochs, rarity_weights
from heedful.training.prepare import Prepared, check_registered, prepare

# The location of the data and the preset that filled in values do not change what a run computes.
_NOT_IDENTITY = ("dataset", "dev_file", "test_file", "preset")
_LATER = ("open_vocabulary", "label_seed", "word_mask", "mask_groups", "mask_vectors")
"""Options that were added later: at their defaults they are not in a run's name, so that earlier runs are found."""


def resolve(values: Mapping[str, Any], *, file: Path | None = None) -> TrainConfig:
    """Put together what the user gave: defaults, then the preset, then the YAML file, then the values."""
    from_file = read_yaml(file) if file else {}
    if from_file:
        build(TrainConfig, {"dataset": "", **from_file}, where=str(file))
    given = {**from_file, **values}
    chosen = tuple(name for name in complete(ObjectiveOptions).model_fields if given.get(name) is not None)
    if given.get("objective") == "imitation":
        given = {**twin_defaults(given.get("base")), **given}
    if "dataset" not in given or given["dataset"] is None:
        raise BadInput("No dataset is given: name one (heedful data list) or give a file.")
    encoder, objective = str(given.get("encoder", "")), str(given.get("objective", "vanilla"))
    objective = RENAMED.get(objective, objective)
    filled = preset_values(given.get("preset"), dataset=str(given["dataset"]), encoder=encoder)
    defaults: dict[str, Any] = {}
    if objective in OBJECTIVES:
        kind = OBJECTIVES.get(objective)
        defaults = {**kind.model_defaults, **kind.defaults_for(encoder)}
    chosen_by_user = {
        name: value for name, value in given.items() if value is not None or name not in defaults
    }
    config = build(TrainConfig, {**filled, **defaults, **chosen_by_user})
    check_registered(config)
    _refuse_unread(config, chosen)
    return config


def _refuse_unread(config: TrainConfig, chosen: Sequence[str]) -> None:
    """Refuse options that the objective does not read: they were meant for another one."""
    for name in chosen:
        default = complete(ObjectiveOptions).model_fields[name].default
        if name not in OBJECTIVES.get(config.objective).options and getattr(config, name) != default:
            able = [other for other in OBJECTIVES if name in OBJECTIVES.get(other).options]
            raise BadInput(
                f"The objective {config.objective} does not read --{name.replace('_', '-')}: leave it out, or use one "
                f"that does ({', '.join(able)})."
            )


def train(config: TrainConfig, *, runs: Path = Path("runs"), watcher: Watcher = QUIET) -> Classifier:
    """Train, continue or just load the run that this config describes."""
    torch.set_num_threads(config.threads)
    kind = OBJECTIVES.get(config.objective)
    with watcher.status("Reading the data"):
        corpus = load_corpus(config)
        metric = _metric(config, corpus)
        kind.check(config, len(corpus.labels))
        run = Run(runs / run_name(config, corpus, metric))
        if run.complete:
            return _load(run, watcher)
    prepared = prepare(config, corpus, watcher=watcher)
    kind.check_texts(config, prepared.splits["train"])
    with_base = config
    if config.base is None and kind.needs_vanilla:
        watcher.say("A vanilla model with the same options is trained or found first.")
        base = train(vanilla_of(config), runs=runs, watcher=watcher).run
        with_base = config.model_copy(update={"base": str(base)})
    with watcher.status("Preparing the objective"):
        objective = _objective(with_base, corpus, prepared)
    with run.locked():
        if run.complete:  # another process was faster
            return _load(run, watcher)
        kept = config.model_dump(mode="json", exclude=_options_of_others(config))
        run.begin(kept, seed=config.seed, threads=config.threads)
        objective.keep(run.folder)
        _fit(config, corpus, prepared, objective, run, metric, watcher)
    return Classifier.from_pretrained(run.folder)


def vanilla_of(config: TrainConfig, **changed: Any) -> TrainConfig:
    """Give the config of a vanilla model with the same options, but for those that are named."""
    defaults = {name: field.default for name, field in complete(ObjectiveOptions).model_fields.items()}
    return config.model_copy(update={**defaults, "objective": "vanilla", **changed})


def _load(run: Run, watcher: Watcher) -> Classifier:
    watcher.say(f"{run.folder} is complete: loading it. Another --seed makes another run.")
    run.tidy()
    return Classifier.from_pretrained(run.folder)


def _objective(config: TrainConfig, corpus: Corpus, prepared: Prepared) -> Objective:
    """Make the objective and let it compute what it needs; bad input is found here, before anything is written."""
    classifier, splits, _ = prepared
    labels = torch.from_numpy(splits["train"].split.labels)
    weights = rarity_weights(labels, len(corpus.labels)) if config.class_weights else None
    objective = OBJECTIVES.get(config.objective)(classifier.model, weights, config)
    objective.prepare(splits)
    return objective


def _fit(
    config: TrainConfig,
    corpus: Corpus,
    prepared: Prepared,
    objective: Objective,
    run: Run,
    metric: Metric,
    watcher: Watcher,
) -> None:
    started = time.perf_counter()
    classifier, splits, notes = prepared
    sizes = ", ".join(f"{len(splits[name]):,} {name}" for name in ("train", "dev", "test"))
    watcher.say(f"{config.encoder} on {corpus.name} ({sizes}) → {run.folder}")
    trainer = Trainer(
        classifier.model,
        objective,
        config,
        metric=metric,
        checkpoint=run.checkpoint,
        watcher=watcher,
        log=run.log,
    )
    progress = trainer.fit(splits, select_on=objective.select_on)
    with watcher.status("Testing the best epoch"):
        tested = objective.evaluate("test", splits["test"])
    classifier.save_pretrained(run.folder)
    best = progress.history[progress.best_epoch]
    run.log({"event": "tested", "seconds": round(time.perf_counter() - started, 1)})
    run.end(
        {
            "dataset": corpus.name,
            "selected_by": f"{objective.select_on} {trainer.metric}",
            "epoch": best["epoch"],
            "dev": best["dev"],
            "test": tested,
            "sizes": {name: len(instances) for name, instances in splits.items()},
            "notes": [*notes, *objective.notes],
            "fingerprint": corpus.fingerprint,
            "history": progress.history,
        }
    )


def _metric(config: TrainConfig, corpus: Corpus) -> Metric:
    """The metric that selects: the user's, the dataset's own, or F1 for two classes and accuracy for more."""
    card = cards().get(corpus.name)
    default: Metric = "f1" if len(corpus.labels) == 2 else "accuracy"
    return config.metric or (card.metric if card else default)


def _options_of_others(config: TrainConfig) -> set[str]:
    """Name the options of objectives and encoders that this run does not use: its name must not depend on them."""
    read = OBJECTIVES.get(config.objective).options
    return set(declared_options(ObjectiveOptions) - set(read)) | options_of_others(config)


def run_name(config: TrainConfig, corpus: Corpus, metric: Metric) -> str:
    """A readable slug and the hash of everything that decides what the run computes."""
    values = config.model_dump(mode="json", exclude={*_NOT_IDENTITY, *_options_of_others(config)})
    kind = OBJECTIVES.get(config.objective)
    read, called = kind.options, kind.formerly or config.objective
    values["objective"] = called
    values["epochs"] = max_epochs(config)
    values = {
        key: value
        for key, value in values.items()
        if key in read or key not in complete(ObjectiveOptions).model_fields
    }
    for name in _LATER:
        if values[name] == TrainConfig.model_fields[name].default:
            del values[name]
    if config.base is not None and "base" in read:
        values["base"] = Path(config.base).name  # a run's name holds the hash of all that it is
    if config.attacked is not None and "attacked" in read:
        values["attacked"] = AttackedTexts.read(Path(config.attacked)).fingerprint
    values |= {"metric": metric, "corpus": corpus.name, "fingerprint": corpus.fingerprint}
    encoder = config.encoder if member_of("hf", config.encoder) is None else Path(config.encoder).name
    parts = [
        corpus.name,
        *(["han"] if config.hierarchical else []),
        encoder,
        called,
        f"seed{config.seed}",
    ]
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(parts)).strip("-").lower()
    return f"{slug}-{identity(values)}"
