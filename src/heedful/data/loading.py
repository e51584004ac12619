"""Load a dataset whole: find it, read it, number its labels, carve the splits it lacks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.config import DataOptions
from heedful.data.corpus import Corpus, Split, Task
from heedful.data.labels import class_names
from heedful.data.reading import RawSplit, read_split
from heedful.data.rows import read_rows
from heedful.data.sources import Source, find_source
from heedful.data.synthetic import SYNTHETIC, generate
from heedful.errors import BadInput


def load_corpus(options: DataOptions) -> Corpus:
    """Give every split of a dataset, with train, dev and test always there."""
    corpus = generate(options.dataset) if options.dataset in SYNTHETIC else _read(options)
    train = corpus.splits["train"]
    if len(np.unique(train.labels)) < 2:
        name = corpus.labels[int(train.labels[0])]
        raise BadInput(
            f"All of train has the same label ({name}): a classifier needs texts of two classes at least."
        )
    splits, notes = dict(corpus.splits), list(corpus.notes)
    for split, fraction in (("test", options.test_fraction), ("dev", options.dev_fraction)):
        if split not in splits:
            splits["train"], splits[split] = carve(splits["train"], fraction, seed=options.split_seed)
            notes.append(f"{split} is {fraction:.0%} of train, carved out with seed {options.split_seed}.")
    if options.limit is not None and options.limit < len(splits["train"]):
        keep = np.random.default_rng(options.split_seed).permutation(len(splits["train"]))[: options.limit]
        splits["train"] = splits["train"].take(np.sort(keep))
        notes.append(f"train is a sample of {options.limit} texts, drawn with seed {options.split_seed}.")
    _check_train_labels(splits, corpus.labels)
    return Corpus(corpus.name, corpus.task, corpus.labels, splits, tuple(notes))


def carve(train: Split, fraction: float, *, seed: int) -> tuple[Split, Split]:
    """Divide a split in two, each with the classes in nearly the same proportion."""
    size = max(1, round(len(train) * fraction))
    if size >= len(train):
        raise BadInput(
            f"train has {len(train)} texts, too few to carve another split out: give --dev-file and --test-file."
        )
    shuffled = np.random.default_rng([seed, len(train)]).permutation(len(train))
    by_class = shuffled[np.argsort(train.labels[shuffled], kind="stable")]
    drawn = by_class[((np.arange(size) + 0.5) * len(train) / size).astype(np.int64)]
    # Copies of a text go where the text goes, or the new split would hold texts that train has seen.
    texts = {train.texts[i] for i in drawn}
    carved = np.flatnonzero([text in texts for text in train.texts])
    rest = np.setdiff1d(np.arange(len(train)), carved)
    if not len(rest):
        raise BadInput("All texts of train are the same: give texts that differ.")
    return train.take(rest), train.take(carved)


def _read(options: DataOptions) -> Corpus:
    source = find_source(options.dataset)
    card = source.card
    raw: dict[str, RawSplit] = {}
    task: Task = "classification"
    own_files = {"dev": options.dev_file, "test": options.test_file}
    for split in dict.fromkeys([*source.splits, *(name for name, file in own_files.items() if file)]):
        file = own_files.get(split)
        raw[split], columns = read_split(
            read_rows(Path(file).expanduser()) if file else source.rows(split),
            where=_where(source, split, file),
            text_column=options.text_column,
            query_column=options.query_column,
            label_column=options.label_column or (card.label_column if card else None),
            skip_bad_rows=options.skip_bad_rows,
        )
        task = columns.task
    if "train" not in raw:
        raise BadInput(f"{options.dataset} has no training split: put a train file beside {', '.join(raw)}.")
    notes = [
        f"{part.skipped} rows without text or label were left out of {name}."
        for name, part in raw.items()
        if part.skipped
    ]
    names = options.label_names or source.labels or class_names(raw["train"].spellings)
    if card is not None and card.keep_labels is not None:
        kept = [names[i] for i in card.keep_labels]
        raw = {name: _keep(part, names, card.keep_labels) for name, part in raw.items()}
        names = tuple(kept)
    splits = {name: part.number(names) for name, part in raw.items()}
    return Corpus(source.name, task, tuple(names), splits, tuple(notes))


def _where(source: Source, split: str, file: str | None) -> str:
    if file:
        return file
    return str(source.files[split]) if split in source.files else f"{source.name} {split}"


def _keep(part: RawSplit, names: tuple[str, ...], keep: tuple[int, ...]) -> RawSplit:
    """Keep the rows of some classes; positions become names, so that they can be numbered anew."""
    by_position = {str(i): names[i] for i in keep} | {names[i]: names[i] for i in keep}
    kept = part.take(i for i, spelling in enumerate(part.spellings) if spelling in by_position)
    kept.spellings = [by_position[spelling] for spelling in kept.spellings]
    return kept


def _check_train_labels(splits: dict[str, Split], labels: tuple[str, ...]) -> None:
    """A class that train never shows cannot be learnt: say so before an hour of training."""
    known: NDArray[np.int64] = np.unique(splits["train"].labels)
    for name in ("dev", "test"):
        strange = Counter(int(label) for label in splits[name].labels if label not in known)
        if strange:
            label, count = strange.most_common(1)[0]
            raise BadInput(
                f"Label {labels[label]!r} occurs {count} times in {name} and never in train: "
                f"add texts of that class to train, or leave them out of {name}."
            )
