"""Which texts a model is audited on: its own test split, another dataset, or a file with or without labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from heedful.checking import build
from heedful.config import AuditOptions, DataOptions, TrainConfig
from heedful.data.corpora.columns import (
    QUERY_BESIDE,
    USUAL_LABELS,
    USUAL_TEXTS,
    RawSplit,
    read_split,
    texts_of,
)
from heedful.data.corpora.given import GivenRows
from heedful.data.corpora.labels import by_names, numbering
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.rows import RawRow, has_known_suffix, read_rows
from heedful.data.corpus import Split
from heedful.data.instances import Instances
from heedful.errors import BadInput
from heedful.models.stages import NO_ATTENTION, Auditable, reads_queries

Dataset = str | GivenRows | None
"""The name of a dataset, a file, or rows; None for what the model was trained on."""
QUICK_TEXTS = 500
_READ_BY = ("text_column", "query_column", "label_column", "skip_bad_rows")
_CHUNK = 100  # texts between two checks of the time, in a quick audit


class Texts(NamedTuple):
    """The texts to audit on, tokenised, and what a reader should know about them."""

    name: str
    instances: Instances
    rows: list[np.ndarray]
    """Which of them are audited, in chunks after which an audit may stop."""
    labelled: bool
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many texts are audited."""
        return sum(map(len, self.rows))

    @property
    def fingerprint(self) -> str:
        """Changes when a text, a query or the choice of texts does."""
        digest = hashlib.sha256()
        for part in (*self.instances.split.texts, *(self.instances.split.queries or ())):
            content = part.encode("utf-8")
            digest.update(len(content).to_bytes(8, "little") + content)
        for chunk in self.rows:
            digest.update(chunk.astype("<i8").tobytes())
        return digest.hexdigest()


def choose_texts(
    classifier: Auditable, dataset: Dataset, options: AuditOptions, *, scored: bool = False
) -> Texts:
    """Find the texts, check that the model can read them, and draw the sample; `scored`: the user gives scores."""
    if not classifier.model.has_attention and options.source == "attention" and not scored:
        raise BadInput(NO_ATTENTION)
    if scored and options.skip_bad_rows:
        raise BadInput(
            "Scores of your own are one for every row: take rows without text or label out of both (no --skip-bad-rows)."
        )
    trained = classifier.trained
    name, split, labelled, notes = find_texts(classifier, dataset, options, trained)
    if reads_queries(classifier) not in (None, split.queries is not None):
        raise BadInput(
            f"This model reads a text for a question or hypothesis, and {name} has none: name its column with --query-column."
            if split.queries is None
            else f"This model reads texts alone, and {name} has a question or hypothesis for each: choose other data."
        )
    instances = classifier.instances(split)
    counts = item_counts(classifier, instances)
    # Texts too short to train on are left out of the model's own data only: users ask about all of theirs.
    own = trained is not None and dataset in (None, trained.dataset)
    least = max(2, trained.min_words) if trained is not None and own else 2
    rows = np.flatnonzero((counts >= 2) & (instances.tokens.items >= least))
    unit = classifier.model.unit
    remarks = list(notes)
    if instances.tokens.cut:
        limit = classifier.vocabulary.tokenizer.truncation["max_length"]
        remarks.append(
            f"{instances.tokens.cut} texts are longer than the model reads, and are cut after {limit} tokens."
        )
    for many, what in (
        (int((counts == 0).sum()), f"texts have no {unit} that the model can read"),
        (int((counts == 1).sum()), f"texts have one {unit} only, which always has all the weight"),
        (
            int(len(counts) - len(rows) - (counts < 2).sum()),
            f"texts have fewer than the {least} words the model was trained on",
        ),
    ):
        if many:
            remarks.append(f"{many} {what}; they are left out.")
    if not len(rows):
        enough = f"two {unit}s" if least == 2 else f"{least} words"
        raise BadInput(f"No text of {name} has {enough} or more: there is nothing to compare.")
    chunks, sample = _sample(rows, options)
    return Texts(name, instances, chunks, labelled, (*remarks, *sample))


def _sample(rows: np.ndarray, options: AuditOptions) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """Draw the sample, in the order of the split; quick audits go through a random order in chunks."""
    wanted = min(options.limit or len(rows), QUICK_TEXTS if options.quick else len(rows))
    drawn = np.random.default_rng([options.seed, len(rows)]).permutation(rows)[:wanted]
    note = f"A random sample of {wanted} of {len(rows)} texts, drawn with seed {options.seed}."
    notes = (note,) if wanted < len(rows) else ()
    if options.quick:
        return [drawn[first : first + _CHUNK] for first in range(0, wanted, _CHUNK)], notes
    return [np.sort(drawn)], notes


def item_counts(classifier: Auditable, instances: Instances) -> np.ndarray:
    """Items per text: words, or sentences."""
    flat = instances.tokens
    if classifier.model.unit == "word":
        return flat.items
    assert flat.sentence_of is not None
    last = np.where(flat.lengths > 0, flat.rows[1:] - 1, 0)
    return (
        np.where(flat.lengths > 0, flat.sentence_of[last] + 1, 0) if len(flat.sentence_of) else flat.lengths
    )


def find_texts(
    classifier: Auditable, dataset: Dataset, options: AuditOptions, trained: TrainConfig | None
) -> tuple[str, Split, bool, tuple[str, ...]]:
    """Give the texts of a dataset or file: its name, the texts, whether their labels are the model's, and notes."""
    if dataset is None and trained is None:
        raise BadInput(
            "No data are given, and the model does not say what it was trained on: name a dataset or a file."
        )
    if trained is not None and (dataset is None or dataset == trained.dataset):
        return _from_corpus(classifier, trained, options.split)
    assert dataset is not None
    if isinstance(dataset, GivenRows):
        return _from_rows(classifier, dataset.name, dataset.numbered, dataset.name, options)
    path = Path(dataset).expanduser()
    if has_known_suffix(path) and path.is_file():
        return _from_rows(classifier, path.name, lambda: read_rows(path), str(path), options)
    columns = {name: getattr(options, name) for name in _READ_BY}
    return _from_corpus(classifier, build(DataOptions, {"dataset": dataset, **columns}), options.split)


def _from_corpus(
    classifier: Auditable, data: DataOptions, split: str
) -> tuple[str, Split, bool, tuple[str, ...]]:
    corpus = load_corpus(data)
    found = corpus.splits[split]
    name = f"{corpus.name} {split}"
    if corpus.labels == classifier.labels:
        return name, found, True, ()
    numbers = by_names(classifier.labels, set(corpus.labels))
    if numbers is not None and len({numbers[label] for label in corpus.labels}) == len(classifier.labels):
        to = np.array([numbers[label] for label in corpus.labels])
        candidates = (
            None if found.candidates is None else [[int(to[c]) for c in row] for row in found.candidates]
        )
        return name, Split(found.texts, to[found.labels], found.queries, found.evidence, candidates), True, ()
    note = f"The labels of {corpus.name} are not the model's ({', '.join(classifier.labels[:5])}), so accuracy is not measured."
    return (
        name,
        Split(found.texts, np.zeros_like(found.labels), found.queries, found.evidence),
        False,
        (note,),
    )


def _from_rows(
    classifier: Auditable,
    name: str,
    rows: Callable[[], Iterable[tuple[int, RawRow]]],
    where: str,
    options: AuditOptions,
) -> tuple[str, Split, bool, tuple[str, ...]]:
    """Read all rows of a file, or that were given; labels are optional, and must be the model's if they are given."""
    first = next(iter(rows()), None)
    if first is None:
        raise BadInput(f"There is no row in {where}: give a file with texts.")
    there = first[1]
    needs_query = bool(reads_queries(classifier))
    if options.label_column is not None or any(usual in there for usual in USUAL_LABELS):
        raw, _ = read_split(
            rows(),
            where=where,
            text_column=options.text_column,
            query_column=options.query_column,
            label_column=options.label_column,
            needs_query=needs_query,
            skip_bad_rows=options.skip_bad_rows,
        )
        numbers = numbering(classifier.labels, set(raw.spellings))
        _check_labels(classifier, raw, numbers)
        left_out = (f"Rows without text or label that were left out: {raw.skipped}.",) if raw.skipped else ()
        return name, raw.number(numbers, classifier.labels), True, left_out
    text = options.text_column or next((name for name in USUAL_TEXTS if name in there), "text")
    beside = QUERY_BESIDE.get(text)
    query = options.query_column or (beside if beside in there else None)
    raw = texts_of(rows(), text, query, where=where, evidence=True)
    split = Split(
        raw.texts, np.zeros(len(raw.texts), dtype=np.int64), raw.queries or None, raw.evidence or None
    )
    return name, split, False, ("There are no labels, so accuracy is not measured.",)


def _check_labels(classifier: Auditable, raw: RawSplit, numbers: Mapping[str, int]) -> None:
    """Name the first row whose label is not the model's, and what to do."""
    for row, spelling in zip(raw.rows, raw.spellings, strict=True):
        if spelling not in numbers:
            names = ", ".join(classifier.labels[:10])
            raise BadInput(
                f"Label {spelling!r} in row {row} of {raw.where} is not among the classes of the model ({names}): fix the row, leave "
                f"the labels out, or name the model's classes in the order of its outputs (--label-names)."
            )
