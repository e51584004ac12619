"""heedful.load and heedful.wrap"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.intake.arguments import as_path

if TYPE_CHECKING:
    from heedful.models.classifier import Classifier
    from heedful.models.huggingface.sequence_classifier import SequenceClassifier


def load(
    run: str | Path,
    *,
    runs: str | Path = "runs",
    tokenizer: Any = None,
    adapter: str | Path | None = None,
) -> Classifier | SequenceClassifier:
    """Load a classifier: of a run, by its folder or its name, or of transformers, by its folder or as hf:NAME.

    A classifier of transformers may be given another `tokenizer`, and an `adapter` (the folder that peft saved).
    """
    from heedful.loading import load as load_model

    named, where = as_path(run, "A run"), as_path(runs, "The folder of runs")
    return load_model(named, runs=where, tokenizer=tokenizer, adapter=adapter)


def wrap(
    module: Any, tokenizer: Any, *, labels: Sequence[str] | None = None, name: str | None = None
) -> SequenceClassifier:
    """Make a classifier of a torch model that has an attention softmax: `module(input_ids, attention_mask)` gives logits.

    The tokenizer is one of transformers or of tokenizers. Nothing is trained, and the module stays as it is. What cannot be
    audited is refused with the reason; see `heedful.models.stages` for how to give the stages yourself.
    """
    from heedful.models.wrapped import wrap as wrap_module

    return wrap_module(module, tokenizer, labels=labels, name=name)
