"""Which words of the command line are models, and whether the last one is data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heedful.data.corpora.catalogue import cards
from heedful.data.corpora.rows import has_known_suffix
from heedful.data.corpora.sources import find_source
from heedful.data.corpora.synthetic import is_synthetic
from heedful.errors import BadInput, HeedfulError
from heedful.explorer.shelf import Shelf, runs_in
from heedful.loading import find_model
from heedful.models.huggingface.classifier_folder import is_classifier_folder


def shelf_named(
    words: Sequence[str],
    *,
    runs: Path,
    adapter: Path | None = None,
    label_names: Sequence[str] | None = None,
) -> Shelf:
    """Find the models that are named, and refuse what is none; without any, all runs of the folder."""
    words = list(words)
    data = words.pop() if words and _is_data(words[-1], runs) else None
    names: list[str] = []
    for word in words:
        folder = _folder(word, runs)
        found = runs_in(folder) if folder is not None else []
        if folder is not None and not (folder / "config.yaml").exists() and found:
            names += found
            continue
        given = {"data": data, "adapter": adapter, "label_names": label_names}
        find_model(word, runs=runs, **given)  # type: ignore[arg-type] # said now, and not on a page
        names.append(str(folder) if folder is not None else word)
    if not words:
        names = runs_in(runs)
    if not names:
        raise BadInput(f"There is no trained model in {runs}: train one with heedful train, or name one.")
    return Shelf(names, runs=runs, data=data, adapter=adapter, label_names=label_names)


def _folder(word: str, runs: Path) -> Path | None:
    return next((f for f in (Path(word).expanduser(), runs / word) if f.is_dir()), None)


def _is_data(word: str, runs: Path) -> bool:
    """Whether a word names data: a file of rows, or a dataset by whose name there is no model."""
    path = Path(word).expanduser()
    if has_known_suffix(path):
        return True
    folder = _folder(word, runs)
    if folder is not None and (
        (folder / "model.json").is_file() or is_classifier_folder(folder) or runs_in(folder)
    ):
        return False
    if word.partition(":")[1]:
        return False
    if word in cards() or is_synthetic(word):
        return True
    try:
        find_source(word)
    except HeedfulError:
        return False
    return True
