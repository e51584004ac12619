"""A model however it is given: by name, as a classifier, of transformers or scikit-learn, or as a function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from heedful.errors import BadInput

if TYPE_CHECKING:
    from heedful.models.answers import Reads
    from heedful.models.stages import Auditable

    GivenModel = Auditable | Reads | str | Path | Any
    """What functions take for a model; `Any` stands for networks of transformers and estimators of scikit-learn."""


def auditable(
    model: GivenModel,
    label_names: Sequence[str] | None = None,
    *,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    runs: str | Path = "runs",
) -> Auditable:
    """Find a model by its name, or make one of a network of transformers, of an estimator or of a function."""
    if isinstance(model, str | Path):
        from heedful.loading import find_model

        return find_model(model, runs=runs, label_names=label_names, tokenizer=tokenizer, adapter=adapter)
    if hasattr(model, "get_base_model"):  # of peft, which puts its weights into a network of transformers
        model = model.get_base_model()
    if is_pretrained(model):
        from heedful.models.huggingface.classifier_folder import classify_given

        return classify_given(model, tokenizer, adapter=adapter, label_names=label_names)
    if hasattr(model, "named_parameters") and not hasattr(model, "instances"):
        raise BadInput("A torch model is given: wrap it first, heedful.wrap(model, tokenizer, labels=…).")
    if tokenizer is not None or adapter is not None:
        raise BadInput(
            "A tokenizer or an adapter is for a classifier of transformers, and this is another model."
        )
    if not hasattr(model, "instances"):
        return _by_predictions(model, label_names)
    if not all(hasattr(model, part) for part in ("model", "labels")):
        raise BadInput(_NONE.format(type(model).__name__))
    if label_names is not None:
        raise BadInput("label_names are for functions: this model has names of its own.")
    return cast("Auditable", model)


_NONE = (
    "A model is a classifier, a run's name or folder, an estimator with predict_proba, or a function from texts to probabilities; "
    "this is a {}."
)


def _by_predictions(model: Any, label_names: Sequence[str] | None) -> Auditable:
    """Make a classifier of a function, or of what has `predict_proba`; one that holds a classifier of ours gives that."""
    from heedful.models.function import classify_by

    if isinstance(model, type):
        raise BadInput(f"{model.__name__} is a class: give one that was made of it and trained.")
    if hasattr(model, "attending_classifier"):
        return auditable(model.attending_classifier(), label_names)
    if hasattr(model, "predict_proba"):
        return classify_by(model.predict_proba, label_names=label_names)
    if callable(model):
        return classify_by(model, label_names=label_names)
    raise BadInput(_NONE.format(type(model).__name__))


def is_pretrained(model: Any) -> bool:
    """Whether this is a network or a pipeline of transformers: then that library is there already."""
    loaded = sys.modules.get("transformers")
    return loaded is not None and isinstance(model, loaded.PreTrainedModel | loaded.Pipeline)
