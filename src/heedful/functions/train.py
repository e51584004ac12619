"""heedful.train and heedful.train_for_show"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from heedful.functions.former_words import former
from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_path

if TYPE_CHECKING:
    from heedful.data.corpora.kept_texts import KeptTexts
    from heedful.functions.keywords import TrainKeywords
    from heedful.models.classifier import Classifier
    from heedful.panel.for_show import ForShow


def train(
    data: Any = None,
    labels: Sequence[int | str] | None = None,
    *,
    dev: Any = None,
    test: Any = None,
    runs: str | Path = "runs",
    config: str | Path | None = None,
    progress: bool = True,
    **options: Unpack[TrainKeywords],
) -> Classifier:
    """Train a classifier, continue an interrupted run, or load a complete one.

    `data` is a name of the catalogue, a path, a list of texts with their `labels`, a frame of pandas or polars, a Dataset, or
    several splits by name (a DatasetDict); `dev` and `test` are more of the same kind, and carved out of `data` if not
    given. Texts that are handed over are kept beside the runs, so that the model can be audited on its test split and
    trained again. `options` are those of `heedful train --help`, with underscores. A bar shows the progress if there is a
    terminal.
    """
    data, rest = former(options, "dataset", "data", data)
    folder = as_path(runs, "The folder of runs")
    file = None if config is None else as_path(config, "A config")

    from heedful.training.train import resolve
    from heedful.training.train import train as run_training

    dataset, kept = _dataset(data, labels, dev, test, folder, rest, file)
    resolved = resolve({**dataset, **rest}, file=file)
    if kept is not None:
        kept.write()
    return run_training(resolved, runs=folder, watcher=watcher(progress))


def train_for_show(
    data: Any = None,
    labels: Sequence[int | str] | None = None,
    *,
    dev: Any = None,
    test: Any = None,
    runs: str | Path = "runs",
    config: str | Path | None = None,
    progress: bool = True,
    **options: Unpack[TrainKeywords],
) -> ForShow:
    """Train a model whose attention may be shown, and audit it, as `heedful train --for-show` does.

    Data are given as for `heedful.train`. The result has the `classifier`, the audit's `result`, the `ordinary` model for
    comparison, and `cost()` in words.
    """
    data, rest = former(options, "dataset", "data", data)
    folder = as_path(runs, "The folder of runs")
    file = None if config is None else as_path(config, "A config")

    from heedful.panel.for_show import train_for_show as make
    from heedful.training.train import resolve

    dataset, kept = _dataset(data, labels, dev, test, folder, rest, file)
    if kept is not None:
        resolve({**dataset, **rest}, file=file)  # a wrong option is said before anything is written
        kept.write()
    return make({**dataset, **rest}, file=file, runs=folder, watcher=watcher(progress))


def _dataset(
    data: Any, labels: Any, dev: Any, test: Any, runs: Path, options: dict[str, Any], file: Path | None
) -> tuple[dict[str, str], KeptTexts | None]:
    """Name the dataset; what is handed over gets a folder beside the runs, which is not yet written."""
    from heedful.checking import read_yaml
    from heedful.data.corpora.kept_texts import KeptTexts
    from heedful.errors import BadInput

    if data is None and options.get("dataset") is None and labels is None:
        return {}, None  # a config file may name it; if none does, that is said there
    if not isinstance(data, str | Path):
        columns = {**(read_yaml(file) if file is not None else {}), **options}
        kept = KeptTexts.of(data, labels, dev=dev, test=test, beside=runs, options=columns)
        return {"dataset": str(kept.folder)}, kept
    for word, given in (("labels", labels), ("dev", dev), ("test", test)):
        if given is not None:
            files = "name a column with label_column" if word == "labels" else f"name a file with {word}_file"
            raise BadInput(f"{word} is for texts that are handed over, and data is a name here: {files}.")
    return {"dataset": str(data)}, None
