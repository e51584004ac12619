"""Agreement with rationales, by hand, against scikit-learn, and against loops over spans."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, f1_score, precision_recall_curve

from heedful.measures.plausibility import auprc, span_agreement, token_agreement

TEXTS = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=12)


def tensors(*texts):
    """Scores, found, marked and mask of texts of their own lengths, with nonsense at the padding."""
    longest = max(map(len, texts)) + 2
    rows = [[*text, *[(9, True, True)] * (longest - len(text))] for text in texts]
    scores, found, marked = (torch.tensor([[item[k] for item in row] for row in rows]) for k in range(3))
    mask = torch.tensor([[i < len(text) for i in range(longest)] for text in texts])
    return scores.double(), found & mask, marked & mask, mask


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_auprc_is_scikit_learns_of_each_text(one, other):
    scores, _, marked, mask = tensors(one, other)
    found = auprc(scores, marked, mask)
    for row, text in enumerate((one, other)):
        truth = [item[2] for item in text]
        if not any(truth):
            assert math.isnan(found[row])
            continue
        precision, recall, _ = precision_recall_curve(truth, [item[0] for item in text])
        assert found[row].item() == pytest.approx(auc(recall, precision))


def spans(items):
    found, start = [], None
    for place, chosen in enumerate([*items, False]):
        if chosen and start is None:
            start = place
        if not chosen and start is not None:
            found.append(set(range(start, place)))
            start = None
    return found


@settings(max_examples=100)
@given(TEXTS, TEXTS)
def test_agreement_is_that_of_loops(one, other):
    _, found, marked, _ = tensors(one, other)
    tokens, runs = token_agreement(found, marked), span_agreement(found, marked)
    for row, text in enumerate((one, other)):
        chosen, truth = [item[1] for item in text], [item[2] for item in text]
        if not any(truth):
            assert all(math.isnan(value[row]) for value in (*tokens, *runs))
            continue
        assert tokens.f1[row].item() == pytest.approx(f1_score(truth, chosen, zero_division=0))
        mine, theirs = spans(chosen), spans(truth)
        hits = sum(max(len(a & b) / len(a | b) for b in theirs) >= 0.5 for a in mine)
        precision, recall = hits / max(len(mine), 1), hits / len(theirs)
        assert runs.precision[row].item() == pytest.approx(precision)
        assert runs.recall[row].item() == pytest.approx(recall)
        mean = 2 * precision * recall / (precision + recall) if hits else 0.0
        assert runs.f1[row].item() == pytest.approx(mean)


def test_half_of_the_union_is_enough_and_less_is_not():
    marked = torch.tensor([[False, True, True, False, False, False]])
    half = torch.tensor([[False, True, True, True, True, False]])
    less = torch.tensor([[True, True, True, True, True, False]])
    assert span_agreement(half, marked).f1.item() == 1.0
    assert span_agreement(less, marked).f1.item() == 0.0
