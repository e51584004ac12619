"""Load a whole dataset: find it, read it, number its labels, carve the splits it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.config import DataOptions
from heedful.data.corpora.columns import USUAL_LABELS, RawSplit, read_split
from heedful.data.corpora.labels import check_names, class_names, numbering
from heedful.data.corpora.rows import read_rows
from heedful.data.corpora.sources import Source, find_source
from heedful.data.corpora.synthetic import generate, is_synthetic
from heedful.data.corpora.synthetic.planted import plant, planted_in
from heedful.data.corpus import Corpus, Split, Task
from heedful.errors import BadInput


def load_corpus(options: DataOptions) -> Corpus:
    """Give every split of a dataset, with train, dev and test always there."""
    if (asked := planted_in(options.dataset)) is not None:
        base, kind = asked
        plain = {"dataset": base, "limit": None, "label_seed": None}
        corpus = plant(load_corpus(options.model_copy(update=plain)), kind)
    else:
        corpus = _generate(options) if is_synthetic(options.dataset) else _read(options)
    splits, notes = dict(corpus.splits), list(corpus.notes)
    _check_two_classes(splits["train"], corpus.labels)
    for split, fraction in (("test", options.test_fraction), ("dev", options.dev_fraction)):
        if split not in splits:
            whole = len(splits["train"])
            splits["train"], splits[split] = carve(splits["train"], fraction, seed=options.split_seed)
            share = len(splits[split]) / whole
            notes.append(
                f"{split} is {len(splits[split])} texts ({share:.0%}) of train, carved out with seed {options.split_seed}."
            )
    train = splits["train"]
    if options.limit is not None and options.limit < len(train):
        everything = np.arange(len(train))
        splits["train"] = train.take(_draw(everything, train.labels, options.limit, seed=options.split_seed))
        notes.append(f"train is a sample of {options.limit} texts, drawn with seed {options.split_seed}.")
    _check_train_labels(splits, corpus.labels, limit=options.limit)
    if options.label_seed is not None:
        splits["train"] = shuffled_labels(splits["train"], seed=options.label_seed)
        notes.append(f"The labels of train are shuffled with seed {options.label_seed}.")
    return Corpus(corpus.name, corpus.task, corpus.labels, splits, tuple(notes))


def carve(train: Split, fraction: float, *, seed: int) -> tuple[Split, Split]:
    """Divide a split in two, each with the classes in nearly the same proportion.

    Copies of a text (with the same query) go where the text goes, or the new split would hold texts that train
    has seen. Every class keeps a text in train, or nothing could be learnt of it; and so does a text with so many copies that
    they would be a tenth of the new split, where there are others of its class to choose from.
    """
    contents: list[Hashable] = (
        list(zip(train.texts, train.queries, strict=True)) if train.queries else [*train.texts]
    )
    first_copy: dict[Hashable, int] = {}
    for row, content in enumerate(contents):
        first_copy.setdefault(content, row)
    copies = Counter(contents)
    many = max(1.0, len(train) * fraction / 10)
    texts = np.fromiter(first_copy.values(), dtype=np.int64)
    shuffled = np.random.default_rng([seed, len(train)]).permutation(texts)
    _, stays = np.unique(train.labels[shuffled], return_index=True)
    pool = np.delete(shuffled, stays)
    rare = pool[np.fromiter((copies[contents[row]] <= many for row in pool), dtype=np.bool_, count=len(pool))]
    pool = rare if set(train.labels[rare]) == set(train.labels[pool]) else pool
    if not len(pool):
        raise BadInput(
            f"train has too few different texts ({len(texts)}) to carve another split out: give --dev-file and --test-file."
        )
    size = min(max(1, round(len(texts) * fraction)), len(pool))
    drawn = {contents[row] for row in _draw(pool, train.labels, size, seed=seed)}
    carved = np.fromiter((content in drawn for content in contents), dtype=np.bool_, count=len(train))
    return train.take(np.flatnonzero(~carved)), train.take(np.flatnonzero(carved))


def shuffled_labels(split: Split, *, seed: int) -> Split:
    """Shuffle the labels among the texts; an answer that has candidates is drawn from its own."""
    dice = np.random.default_rng([seed, len(split)])
    if split.candidates is None:
        return replace(split, labels=dice.permutation(split.labels))
    return replace(split, labels=np.array([dice.choice(able) for able in split.candidates], dtype=np.int64))


def _draw(rows: NDArray[np.int64], labels: NDArray[np.int64], size: int, *, seed: int) -> NDArray[np.int64]:
    """Draw some of the rows, in order, at even steps through the classes: each has its share."""
    shuffled = np.random.default_rng([seed, len(rows)]).permutation(rows)
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return np.sort(by_class[((np.arange(size) + 0.5) * len(rows) / size).astype(np.int64)])


def _generate(options: DataOptions) -> Corpus:
    """Make a synthetic corpus, which has all its splits and nothing to choose in them."""
    for name in ("dev_file", "test_file", "text_column", "query_column", "label_column", "label_names"):
        if getattr(options, name) is not None:
            raise BadInput(f"{options.dataset} is generated whole: leave out --{name.replace('_', '-')}.")
    return generate(options.dataset)


def _read(options: DataOptions) -> Corpus:
    source = find_source(options.dataset)
    card = source.card
    raw: dict[str, RawSplit] = {}
    tasks: dict[str, Task] = {}
    own_files = {"dev": options.dev_file, "test": options.test_file}
    for split in dict.fromkeys([*source.splits, *(name for name, file in own_files.items() if file)]):
        file = own_files.get(split)
        raw[split], columns = read_split(
            read_rows(Path(file).expanduser()) if file else source.rows(split),
            where=_where(source, split, file),
            text_column=options.text_column,
            query_column=options.query_column,
            label_column=options.label_column or (card.label_column if card else None),
            needs_query=source.task in ("pair", "qa"),
            skip_bad_rows=options.skip_bad_rows,
        )
        # Names of columns can only hint at the task where somebody knows it.
        tasks[split] = source.task if source.task and columns.query else columns.task
    if "train" not in raw:
        raise BadInput(f"{options.dataset} has no training split: put a train file beside {', '.join(raw)}.")
    for split, task in tasks.items():
        if (task == "classification") != (tasks["train"] == "classification"):
            raise BadInput(
                f"One of {raw['train'].where} and {raw[split].where} has a query column and the other has none: "
                f"give the same columns in both."
            )
    labels, notes = _names(source, options, raw), _skipped(raw)
    if card is not None and card.keep_labels is not None:
        raw = {name: _keep(part, labels, card.keep_labels) for name, part in raw.items()}
        labels = tuple(labels[number] for number in card.keep_labels)
    if options.label_names is not None:
        labels = check_names(options.label_names, where="--label-names")
    found = {spelling for part in raw.values() for spelling in part.spellings}
    numbers = numbering(labels, found)
    if options.label_names is not None and len(found) < len(labels):
        raise BadInput(
            f"There are {len(labels)} names in --label-names and only the labels {', '.join(class_names(found))} "
            f"in the rows: give a name for each."
        )
    splits = {name: part.number(numbers, labels) for name, part in raw.items()}
    return Corpus(source.name, tasks["train"], labels, splits, notes)


def _names(source: Source, options: DataOptions, raw: dict[str, RawSplit]) -> tuple[str, ...]:
    """Give the names of a dataset's own classes; those of another column than the usual are in train."""
    usual = options.label_column is None or options.label_column in USUAL_LABELS
    names = source.labels if usual else ()
    return names or class_names(raw["train"].spellings)


def _skipped(raw: dict[str, RawSplit]) -> tuple[str, ...]:
    return tuple(
        f"Rows without text or label that were left out of {name}: {part.skipped}."
        for name, part in raw.items()
        if part.skipped
    )


def _where(source: Source, split: str, file: str | None) -> str:
    if file:
        return file
    return str(source.files[split]) if split in source.files else f"{source.name} {split}"


def _keep(part: RawSplit, names: tuple[str, ...], keep: tuple[int, ...]) -> RawSplit:
    """Keep the rows of some classes, labelled by their new positions."""
    if max(keep) >= len(names):
        raise BadInput(
            f"{part.where} has the classes {', '.join(names)}, and more are needed to choose from: "
            f"put the files of the whole dataset there."
        )
    whole = numbering(names, set(part.spellings))
    new = {spelling: str(keep.index(number)) for spelling, number in whole.items() if number in keep}
    kept = part.take(i for i, spelling in enumerate(part.spellings) if spelling in new)
    if not kept.texts:
        raise BadInput(f"No row of {part.where} has one of the labels {', '.join(names[i] for i in keep)}.")
    kept.spellings = [new[spelling] for spelling in kept.spellings]
    return kept


def _check_two_classes(train: Split, labels: tuple[str, ...]) -> None:
    if len(np.unique(train.labels)) < 2:
        raise BadInput(
            f"All of train has the same label ({labels[train.labels[0]]}): a classifier needs texts of two classes at least."
        )


def _check_train_labels(splits: dict[str, Split], labels: tuple[str, ...], *, limit: int | None) -> None:
    """A class that train never shows cannot be learnt: say so before an hour of training."""
    remedy = "raise --limit" if limit is not None else "add texts of that class to train"
    for name in ("dev", "test"):
        strange = splits[name].labels[~np.isin(splits[name].labels, splits["train"].labels)]
        if len(strange):
            raise BadInput(
                f"Label {labels[strange[0]]!r} is never in train and in {name} (texts: {np.sum(strange == strange[0])}): "
                f"{remedy}, or leave it out of {name}."
            )
    _check_two_classes(splits["train"], labels)
