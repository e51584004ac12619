"""heedful.predict"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.functions.asked_model import auditable

if TYPE_CHECKING:
    from heedful.functions.asked_model import GivenModel
    from heedful.models.prediction import Predictions


def predict(
    model: GivenModel,
    data: Any,
    *,
    queries: Sequence[str] | None = None,
    text_column: str | None = None,
    query_column: str | None = None,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    label_names: Sequence[str] | None = None,
) -> Predictions:
    """Classify texts, with the attention over their words; a notebook shows heatmaps.

    `model` is as for `heedful.audit`. `data` is a list of texts (or of pairs), a frame of pandas or polars, a Dataset, or the
    path of a file; a column is found by its usual name, or named by `text_column` and `query_column`.
    """
    from heedful.data.corpora.given import texts_given
    from heedful.models.prediction import predict_texts

    found = auditable(model, label_names, tokenizer=tokenizer, adapter=adapter)
    texts, asked = texts_given(data, queries, text_column=text_column, query_column=query_column)
    if hasattr(found, "predict"):  # a function has no stages worth running
        predictions: Predictions = found.predict(texts, asked)
        return predictions
    return predict_texts(found, texts, asked)
