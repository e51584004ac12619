"""heedful.attack"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from heedful.functions.asked_model import auditable, is_pretrained
from heedful.functions.former_words import former
from heedful.functions.shown_progress import watcher
from heedful.intake.arguments import as_list, as_path

if TYPE_CHECKING:
    from heedful.attacks.attack_result import AttackResult
    from heedful.functions.asked_model import GivenModel
    from heedful.functions.keywords import AttackKeywords


def attack(
    model: GivenModel,
    data: Any = None,
    labels: Sequence[int | str] | None = None,
    *,
    split: Literal["train", "dev", "test"] = "test",
    text_column: str | None = None,
    label_column: str | None = None,
    skip_bad_rows: bool = False,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    label_names: Sequence[str] | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
    **options: Unpack[AttackKeywords],
) -> AttackResult:
    """Replace words of texts until a model answers otherwise (`heedful list attacks`).

    `model` is a classifier, the folder of a run or of a classifier of transformers, a pipeline, a model of transformers with
    its `tokenizer`, an estimator of scikit-learn, or any function from a list of texts to probabilities [texts, classes].
    `data` is a list of texts with their `labels` (numbers or names of classes), a frame of pandas or polars, a Dataset, a
    name or a file, and by default a trained model's own `split`; without labels, what the model says is taken for true. In
    a `folder`, what is done is kept, and an interrupted attack goes on. `skip_bad_rows` leaves out rows of a file without text or
    label. `options` are those of `heedful attack --help`.
    The result has `to_frame()`, `numbers`, `show()`, `save(folder)` and `report(file)`.
    """
    data, rest = former(options, "texts", "data", data)

    from heedful.attacks.run_attack import attack as run_attack

    victim: Any = model
    named = isinstance(model, str | Path) or is_pretrained(model)
    if named or label_names is not None or not (callable(model) or hasattr(model, "instances")):
        victim = auditable(model, label_names, tokenizer=tokenizer, adapter=adapter)
    where = None if folder is None else as_path(folder, "The folder of an attack")
    if not _plain(data):
        from heedful.functions.attacked_data import attacked_data

        victim = victim if hasattr(victim, "instances") else auditable(victim, label_names)
        name, data, labels = attacked_data(
            victim,
            data,
            labels,
            split=split,
            text_column=text_column,
            label_column=label_column,
            skip_bad_rows=skip_bad_rows,
            watcher=watcher(progress),
        )
        rest = {"data": name, **rest}
    return run_attack(
        victim,
        as_list(data, "texts"),
        None if labels is None else as_list(labels, "labels"),
        folder=where,
        watcher=watcher(progress),
        **rest,
    )


def _plain(data: Any) -> bool:
    """Whether these are texts one after the other, which need no reading."""
    return (
        not isinstance(data, str | Path)
        and isinstance(data, list | tuple)
        and not any(isinstance(text, dict) for text in data[:1])
    )
