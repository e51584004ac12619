"""heedful.explain and heedful.words"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.functions.asked_model import auditable
from heedful.functions.former_words import former
from heedful.intake.arguments import as_texts

if TYPE_CHECKING:
    from heedful.functions.asked_model import GivenModel
    from heedful.models.prediction import Predictions


def explain(
    model: GivenModel,
    data: Any = None,
    explainer: str | None = None,
    *,
    queries: Sequence[str] | None = None,
    text_column: str | None = None,
    query_column: str | None = None,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    label_names: Sequence[str] | None = None,
    seed: int = 0,
    **former_words: Any,
) -> Predictions:
    """Classify texts and score every item by an explainer (`heedful list explainers`); a notebook shows heatmaps.

    `model` is a classifier, a run, a classifier of transformers (its folder, a pipeline, or the model with its `tokenizer`),
    an estimator of scikit-learn, or a function from a list of texts to probabilities. `data` is as for `heedful.predict`.
    Without an `explainer`, attention is given, and leave-one-out for a function.
    """
    data, rest = former(former_words, "texts", "data", data)
    explainer, rest = former(rest, "name", "explainer", explainer)
    if rest:
        raise TypeError(f"explain() got an unexpected keyword argument {next(iter(rest))!r}")

    from heedful.data.corpora.given import texts_given
    from heedful.explainers.explain import explain as explain_texts

    found = auditable(model, label_names, tokenizer=tokenizer, adapter=adapter)
    texts, asked = texts_given(data, queries, text_column=text_column, query_column=query_column)
    return explain_texts(found, texts, explainer, queries=asked, seed=seed)


def words(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Cut texts into words as audits of a function do: where each begins and ends. Scores of your own are one for each."""
    from heedful.models.function import cut_words

    return cut_words(as_texts(texts))
