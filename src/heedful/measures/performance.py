"""How well predictions match labels, by the usual measures: scikit-learn's definitions, and its numbers to the bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def performance(labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    """Accuracy, F1, macro-F1 and ROC-AUC of class probabilities [n, classes].

    F1 is the positive class's (number 1) for two classes and the macro average for more; ROC-AUC is one
    class against the rest, averaged. A measure the labels do not define (one class only) is left out.
    Importing scikit-learn takes as long as several readings of a test set, so that it is not asked.

    >>> performance(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]))["accuracy"]
    0.6666666666666666
    """
    classes = probabilities.shape[1]
    predicted = probabilities.argmax(1)
    each = _f1_of_each(labels, predicted, classes)
    macro = float(each.mean())
    measured = {
        "accuracy": float((labels == predicted).mean()),
        "f1": float(each[1]) if classes == 2 else macro,
        "macro_f1": macro,
    }
    present = np.unique(labels)
    if classes == 2 and len(present) == 2:
        measured["roc_auc"] = _roc_auc(labels == 1, probabilities[:, 1])
    elif classes > 2 and len(present) > 1:
        one_against_rest = [_roc_auc(labels == c, probabilities[:, c]) for c in present]
        measured["roc_auc"] = float(np.mean(one_against_rest))
    return measured


def _f1_of_each(labels: NDArray[np.int64], predicted: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """2 · hits / (true + predicted); 0 for a class that is neither."""
    hits = np.bincount(labels[labels == predicted], minlength=classes)
    named = np.bincount(labels, minlength=classes) + np.bincount(predicted, minlength=classes)
    scores: NDArray[np.float64] = 2 * hits / np.maximum(named, 1)
    return scores


def _roc_auc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Area under the curve of hits against false alarms, by trapezoids between the distinct scores."""
    if not np.isfinite(scores).all():
        raise ValueError("probabilities must be finite numbers")
    order = np.argsort(scores, kind="stable")[::-1]
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.cumsum(positive[order])[ends]
    alarms = 1 + ends - hits
    if len(hits) > 2:  # points on a straight line add nothing, and rounding should be that of few trapezoids
        bends = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
        kept = np.concatenate([[True], bends, [True]])
        hits, alarms = hits[kept], alarms[kept]
    rate = np.append(0, hits) / hits[-1]
    false_rate = np.append(0, alarms) / alarms[-1]
    return float((np.diff(false_rate) * (rate[1:] + rate[:-1]) / 2.0).sum())
