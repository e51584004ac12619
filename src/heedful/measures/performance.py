"""How well predictions match labels, by the usual measures (scikit-learn's definitions)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def performance(labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    """Accuracy, F1, macro-F1 and ROC-AUC of class probabilities [n, classes].

    F1 is the positive class's (number 1) for two classes and the macro average for more; ROC-AUC is one
    class against the rest, averaged. A measure the labels do not define (one class only) is left out.

    >>> performance(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]))["accuracy"]
    0.6666666666666666
    """
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    classes = probabilities.shape[1]
    predicted = probabilities.argmax(1)
    macro = float(f1_score(labels, predicted, labels=np.arange(classes), average="macro", zero_division=0))
    measured = {
        "accuracy": float(accuracy_score(labels, predicted)),
        "f1": float(f1_score(labels, predicted, zero_division=0)) if classes == 2 else macro,
        "macro_f1": macro,
    }
    present = np.unique(labels)
    if classes == 2 and len(present) == 2:
        measured["roc_auc"] = float(roc_auc_score(labels, probabilities[:, 1]))
    elif classes > 2 and len(present) > 1:
        one_against_rest = [roc_auc_score(labels == c, probabilities[:, c]) for c in present]
        measured["roc_auc"] = float(np.mean(one_against_rest))
    return measured
