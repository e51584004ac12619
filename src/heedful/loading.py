"""Find a model: a classifier that heedful or somebody else trained, by folder or by name, or a function by module and name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from heedful.data.corpora.rows import has_known_suffix
from heedful.data.fetch.assets import find_transformer
from heedful.errors import BadInput, did_you_mean
from heedful.intake.arguments import check_name
from heedful.models.classifier import WEIGHTS, Classifier
from heedful.models.function import FunctionClassifier, classify_by
from heedful.models.huggingface.classifier_folder import is_classifier_folder, open_classifier
from heedful.models.huggingface.sequence_classifier import SequenceClassifier
from heedful.registry import member_of
from heedful.runs import Run, find_run

FUNCTION = "predict"
"""What a name begins with that is a function's: predict:module:function."""
PRETRAINED = "hf"
"""What a name begins with that is a classifier of transformers: hf:NAME."""


def find_model(
    name: str | Path,
    *,
    runs: str | Path = "runs",
    data: str | None = None,
    label_names: Sequence[str] | None = None,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
) -> Classifier | FunctionClassifier | SequenceClassifier:
    """Load the classifier of a run or of transformers, or import a function.

    Audits of a model that has no run are kept beside the `data`. `adapter` is a folder that peft saved.
    """
    named = member_of(FUNCTION, str(name))
    if named is not None:
        function = import_function(named)
        by_function = classify_by(function, label_names=label_names, name=named, home=_beside(data))
        by_function.called = _called(name, label_names=label_names)
        return by_function
    pretrained = _pretrained(name, Path(runs))
    if pretrained is not None:
        opened = open_classifier(
            pretrained, tokenizer=tokenizer, adapter=adapter, label_names=label_names, home=_beside(data)
        )
        opened.called = _called(name, adapter=adapter, label_names=label_names)
        return opened
    if adapter is not None:
        raise BadInput("--adapter is for a classifier of transformers: name its folder, or hf:NAME.")
    if label_names is not None:
        raise BadInput(
            "--label-names are for functions (predict:module:function): a trained model has names of its own."
        )
    return load_run(name, runs=runs)


def _pretrained(name: str | Path, runs: Path) -> str | Path | None:
    """Say what to load where a classifier of transformers is named: hf:NAME, or a folder that holds one."""
    named = member_of(PRETRAINED, str(name))
    if named is not None:
        if not named:
            raise BadInput(
                "'hf:' names no model: write hf:NAME, with a folder, an asset or a name of the hub."
            )
        return find_transformer(named)
    check_name(name)
    folders = (Path(name).expanduser(), runs / name)
    return next((folder for folder in folders if is_classifier_folder(folder)), None)


def _called(
    name: str | Path, *, adapter: str | Path | None = None, label_names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Give the words by which a command finds this model again."""
    added = ["--adapter", str(adapter)] if adapter is not None else []
    named = ["--label-names", ",".join(label_names)] if label_names else []
    return (str(name), *added, *named)


def import_function(named: str) -> Any:
    """Import module:function, from the current folder too; what its module and it print does not mix with results."""
    module_name, _, path = named.partition(":")
    if not module_name or not path:
        raise BadInput(
            f"'predict:{named}' names no function: write predict:module:function, as in predict:my_model:predict."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with redirect_stdout(sys.stderr):
        module = _import(module_name)
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            known = [
                name for name in vars(module) if not name.startswith("_") and callable(getattr(module, name))
            ]
            raise BadInput(f"{module_name} has no {path!r}: {did_you_mean(path, known)}")
        found = getattr(found, part)
    if not isinstance(found, type) and hasattr(found, "predict_proba"):
        found = found.predict_proba  # a model of scikit-learn, or one like it
    if not callable(found):
        raise BadInput(
            f"{named} is a {type(found).__name__}: name a function from a list of texts to probabilities."
        )
    return _Quiet(found)


class _Quiet:
    """A function whose prints go to standard error."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, texts: list[str]) -> Any:
        with redirect_stdout(sys.stderr):
            return self._function(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise BadInput(
                f"There is no module {name!r} in {Path.cwd()} or on Python's path: go to its folder, or put the folder on the path "
                f"(PYTHONPATH=FOLDER heedful …)."
            ) from None
        raise BadInput(
            f"{name} needs the module {error.name!r}, which is not installed here: install it where heedful is."
        ) from error
    except (Exception, SystemExit) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadInput(f"{name} cannot be imported ({told.rstrip('.: ')}): mend it first.") from error


def _beside(data: str | None) -> Path:
    """Where audits of a model without a run are kept: beside the file of the data, else in the current folder."""
    path = Path(data).expanduser() if data is not None else None
    return path.parent if path is not None and has_known_suffix(path) and path.is_file() else Path()


def load(
    name: str | Path,
    *,
    runs: str | Path = "runs",
    tokenizer: Any = None,
    adapter: str | Path | None = None,
) -> Classifier | SequenceClassifier:
    """Load the classifier of a run, or of transformers."""
    pretrained = _pretrained(name, Path(runs))
    if pretrained is not None:
        return open_classifier(pretrained, tokenizer=tokenizer, adapter=adapter)
    return load_run(name, runs=runs)


def load_run(run: str | Path, *, runs: str | Path = "runs") -> Classifier:
    """Load the classifier of a run, or any folder that `save_pretrained` wrote."""
    folder = find_run(run, runs=Path(runs))
    _check_finished(Run(folder))
    return Classifier.from_pretrained(folder)


def _check_finished(run: Run) -> None:
    config = run.folder / "config.yaml"
    if config.is_file() and not run.complete and not (run.folder / WEIGHTS).is_file():
        raise BadInput(
            f"{run.folder} is unfinished: heedful train --config {config} --runs {run.folder.parent} continues it."
        )
