"""Performance by hand, and where labels leave a measure undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from heedful.measures.performance import performance


def _certain(predicted: list[int], classes: int) -> np.ndarray:
    return np.eye(classes)[predicted]


def test_binary_by_hand():
    """Two true positives, one false positive, one false negative, one true negative."""
    measured = performance(np.array([1, 1, 0, 1, 0]), _certain([1, 1, 1, 0, 0], 2))
    assert measured["accuracy"] == pytest.approx(3 / 5)
    assert measured["f1"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    negative = 2 * 1 / (2 * 1 + 1 + 1)
    assert measured["macro_f1"] == pytest.approx((measured["f1"] + negative) / 2)


def test_roc_auc_is_the_chance_that_a_positive_ranks_above_a_negative():
    labels, p = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.4, 0.4])
    # pairs: (.9,.8) 1, (.9,.4) 1, (.4,.8) 0, (.4,.4) a half
    measured = performance(labels, np.stack([1 - p, p], axis=1))
    assert measured["roc_auc"] == pytest.approx(2.5 / 4)


def test_macro_f1_counts_a_class_that_is_never_predicted():
    measured = performance(np.array([0, 1, 2]), _certain([0, 1, 1], 3))
    assert measured["macro_f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert measured["f1"] == measured["macro_f1"]


@pytest.mark.parametrize("classes", [2, 3])
def test_roc_auc_is_left_out_where_there_is_one_class_only(classes):
    assert "roc_auc" not in performance(np.array([1, 1]), _certain([1, 0], classes))


@given(
    st.integers(2, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**6)), min_size=1, max_size=40),
    st.booleans(),
)
def test_every_number_is_that_of_scikit_learn_to_the_bit(classes, drawn, rounded):
    """An epoch is selected by these numbers, so that not even the last digit may differ."""
    labels = np.array([label % classes for label, _ in drawn])
    p = np.stack([np.random.default_rng(seed).dirichlet(np.ones(classes)) for _, seed in drawn])
    p = p.round(1) if rounded else p  # with ties
    predicted, every = p.argmax(1), np.arange(classes)
    measured = performance(labels, p)
    macro = f1_score(labels, predicted, labels=every, average="macro", zero_division=0)
    assert measured["accuracy"] == accuracy_score(labels, predicted)
    assert measured["macro_f1"] == macro
    assert measured["f1"] == (f1_score(labels, predicted, zero_division=0) if classes == 2 else macro)
    present = np.unique(labels)
    if len(present) > 1:
        ones = [1] if classes == 2 else present
        assert measured["roc_auc"] == np.mean([roc_auc_score(labels == c, p[:, c]) for c in ones])
