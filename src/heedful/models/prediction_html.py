"""Predictions and explanations in a notebook: label, probabilities, and the text as a heatmap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from heedful.output.notebook import heatmap, output, paragraph, told
from heedful.output.numbers import fixed, written

if TYPE_CHECKING:
    from heedful.models.prediction import Item, Prediction, Predictions

_TEXTS = 20
_OTHERS = 3
_TOP = 5


def predictions_html(predictions: Predictions) -> str:
    """Draw some predictions, and say how many more there are."""
    shown = list(predictions)[:_TEXTS]
    parts = [_prediction(prediction) for prediction in shown]
    if any(prediction.items for prediction in shown):
        scored = predictions.scored_by.replace("_", " ")
        what = "the more attention it has" if scored == "attention" else f"the more it counts by {scored}"
        against = any(item.weight < 0 for prediction in shown for item in prediction.items)
        also = " What is brown and underlined speaks against the label." if against else ""
        parts.append(
            paragraph(
                f"The stronger the shade of a word, {what}, relative to the largest of its text.{also}",
                "h-fine h-legend",
            )
        )
    else:
        parts.append(paragraph("There are no scores of words: heedful.explain gives some.", "h-fine"))
    if len(predictions) > len(shown):
        more = f"{len(predictions) - len(shown):,} more texts are not drawn; to_frame() has all of them."
        parts.append(paragraph(more, "h-fine"))
    return output(*parts) if shown else output(paragraph("There are no predictions."))


def _prediction(prediction: Prediction) -> Markup:
    ranked = sorted(prediction.probabilities.items(), key=lambda pair: -pair[1])
    others = ", ".join(f"{name} {fixed(p, 2)}" for name, p in ranked[1 : 1 + _OTHERS])
    head = Markup('<span class="h-label">{} {}</span><span class="h-dim">{}</span>').format(
        told(prediction.label), fixed(prediction.probability, 2), told(others)
    )
    query = paragraph(f"for: {prediction.query}", "h-fine") if prediction.query is not None else Markup("")
    drawn = prediction.words or prediction.items
    return Markup('<div class="h-text">{}{}{}{}</div>').format(
        paragraph(head),
        query,
        heatmap(prediction.text, [(item.start, item.end, item.weight) for item in drawn]),
        _top(prediction.text, prediction.items),
    )


def _top(text: str, items: tuple[Item, ...]) -> Markup:
    """The items with most weight, in words: for those who do not see the shades."""
    top = sorted(items, key=lambda item: -abs(item.weight))[:_TOP]
    words = " · ".join(f"{_short(text[item.start : item.end])} {written(item.weight)}" for item in top)
    return paragraph(words, "h-fine") if words else Markup("")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
