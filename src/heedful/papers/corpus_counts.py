"""How large the corpora are that a recipe reads: texts of every class, their lengths, the words of train. No model is needed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.intake.frames import read_frame
from heedful.output.numbers import NOTHING
from heedful.papers.measured_numbers import SCHEMA, MeasuredNumber, Numbers
from heedful.papers.results import Missing
from heedful.progress import QUIET, Watcher
from heedful.storage import write_bytes

if TYPE_CHECKING:
    from heedful.config import TrainConfig
    from heedful.data.instances import Instances

CORPUS = "corpus"
"""What stands in place of an audit."""
VOCABULARY, TEXTS, WORDS, SENTENCES, DEVIATION = "vocabulary", "texts", "words", "sentences", ", deviation"
SPLITS = ("train", "dev", "test")


def of_class(label: str) -> str:
    """What the number of texts of a class is called."""
    return f"{TEXTS} of {label}"


def count_corpora(
    configs: Mapping[str, TrainConfig], *, lenient: bool = False, watcher: Watcher = QUIET
) -> tuple[Numbers, tuple[Missing, ...]]:
    """Read each corpus as its training would, and count; `lenient`: one that is not there is listed as missing."""
    found: list[MeasuredNumber] = []
    missing: list[Missing] = []
    for dataset, config in configs.items():
        try:
            with watcher.status(f"Counting {dataset}"):
                found += _counted(dataset, config)
        except BadInput as error:
            if not lenient:
                raise
            missing.append(Missing(f"{dataset}, its texts", f"not counted: {error}"))
    return Numbers(tuple(found)), tuple(missing)


def _counted(dataset: str, config: TrainConfig) -> Iterator[MeasuredNumber]:
    from heedful.data.corpora.reader import load_corpus
    from heedful.training.prepare import read_words

    corpus = load_corpus(config)
    vocabulary, splits = read_words(config, corpus)
    yield MeasuredNumber(dataset, "", CORPUS, VOCABULARY, float(len(vocabulary) - 2))
    for split in SPLITS:
        instances = splits[split]
        head = (dataset, "", CORPUS)
        yield MeasuredNumber(*head, TEXTS, float(len(instances)), group=split)
        for place, label in enumerate(corpus.labels):
            count = int((instances.split.labels == place).sum())
            yield MeasuredNumber(*head, of_class(label), float(count), group=split)
        for name, values in _lengths(instances).items():
            for measure, value in ((name, values.mean()), (name + DEVIATION, values.std(ddof=1))):
                yield MeasuredNumber(*head, measure, float(value), group=split, texts=len(values))


def _lengths(instances: Instances) -> dict[str, np.ndarray]:
    """Words of every text, and sentences where texts are read sentence by sentence."""
    tokens = instances.tokens
    found = {WORDS: tokens.items.astype(np.float64)}
    if tokens.sentence_of is not None:
        ends = [tokens.sentence_of[a:b] for a, b in zip(tokens.rows[:-1], tokens.rows[1:], strict=True)]
        found[SENTENCES] = np.array([row.max(initial=-1) + 1 for row in ends], dtype=np.float64)
    return found


def classes(corpora: Numbers, dataset: str) -> list[str]:
    """Labels of a corpus, in its order."""
    of = of_class("")
    return list(
        dict.fromkeys(
            n.measure.removeprefix(of) for n in corpora.of(dataset, "", CORPUS) if n.measure.startswith(of)
        )
    )


def count_cell(corpora: Numbers, dataset: str, measure: str, split: str = "", digits: int = 0) -> str:
    """One number of a corpus as a table shows it; a dash where it was not counted."""
    found = corpora.get(dataset, "", CORPUS, measure, group=split)
    return NOTHING if found is None else f"{found.estimate:,.{digits}f}"


def by_class_cell(corpora: Numbers, dataset: str, split: str) -> str:
    """Texts of every class, as papers print them; of many classes all together."""
    labels = classes(corpora, dataset)
    if not 0 < len(labels) <= 3:
        return count_cell(corpora, dataset, TEXTS, split)
    return " / ".join(count_cell(corpora, dataset, of_class(label), split) for label in labels)


def join_counts(order: Sequence[str], *parts: Numbers) -> Numbers:
    """Put counts together; of a corpus that several have, the later ones stand."""
    latest = {dataset: part for part in parts for dataset in part.datasets}
    return Numbers(tuple(n for dataset in order if dataset in latest for n in latest[dataset].of(dataset)))


def keep_counts(recipe: str, corpora: Numbers, folder: Path) -> Path:
    """Write the counts of a recipe's corpora."""
    content = io.BytesIO()
    corpora.to_frame().write_parquet(content, compression_level=19)
    write_bytes(path := _file(recipe, folder), content.getvalue())
    return path


def kept_counts(recipe: str, folder: Path) -> Numbers:
    """Read them; none where there is no such file."""
    path = _file(recipe, folder)
    if not path.is_file():
        return Numbers()
    try:
        frame = read_frame(path)
        if frame.schema != SCHEMA:
            raise ValueError("other columns")
        return Numbers.from_frame(frame)
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError) as error:
        raise BadInput(
            f"{path} does not hold the counts of corpora: it is damaged, or of another version of heedful. Delete it, or measure it again."
        ) from error


def _file(recipe: str, folder: Path) -> Path:
    return folder / f"corpora-{recipe}.parquet"
