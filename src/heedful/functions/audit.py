"""heedful.audit"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from heedful.functions.asked_model import auditable
from heedful.functions.former_words import former
from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_list, as_path

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult
    from heedful.functions.asked_model import GivenModel
    from heedful.functions.keywords import AuditKeywords
    from heedful.models.answers import Reads


def audit(
    model: GivenModel | None = None,
    data: Any = None,
    labels: Sequence[int | str] | None = None,
    *,
    predict: Reads | None = None,
    label_names: Sequence[str] | None = None,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    only: Sequence[str] | None = None,
    policy: str | Path | None = None,
    folder: str | Path | None = None,
    scores: Sequence[Sequence[Any]] | None = None,
    progress: bool = True,
    **options: Unpack[AuditKeywords],
) -> AuditResult:
    """Ask whether a model's attention, or other scores of its words, may be shown as an explanation.

    `model` is a classifier, a run, a classifier of transformers (its folder or hf:NAME, with an `adapter` if there is one, a
    pipeline, or the model with its `tokenizer`), or any model with the stages (`heedful.models.stages.Auditable`); or
    an estimator of scikit-learn that reads texts, or `predict`, a function from a list of texts to probabilities, whose
    classes may be named in their order by `label_names`. `data` is a name, a file, a list of texts, a frame of pandas or
    polars, or a Dataset, and by default the model's own test split; a list may have its `labels` (names or numbers).
    `only` names audits (`heedful list audits`); `scores` are your own, one list per text, to be audited in place of
    attention: a number for every word (`heedful.words`), or (start, end, number). With a `folder`, finished audits are
    saved there and not repeated. `options` are those of `heedful audit --help`, with underscores. The result has
    `verdict`, `show()`, `to_frame()`, `save()` and `report()`; a notebook shows it by itself.
    """
    data, rest = former(options, "texts", "data", data)
    data, rest = former(rest, "dataset", "data", data)

    from heedful.audits.running.run import audit as run_audits
    from heedful.data.corpora.given import as_data
    from heedful.errors import BadInput

    asked = predict if model is None else model
    if asked is None or (model is not None and predict is not None):
        raise BadInput("Give a model or a predict function, one of the two.")
    return run_audits(
        auditable(asked, label_names, tokenizer=tokenizer, adapter=adapter),
        as_data(data, labels),
        only=[only] if isinstance(only, str) else None if only is None else as_list(only, "audits"),
        policy=None if policy is None else as_path(policy, "A policy"),
        folder=None if folder is None else as_path(folder, "The folder of an audit"),
        scores=scores,
        watcher=watcher(progress),
        **rest,
    )
