"""Certificates of models: inside the radius no change of the weights changes what the model itself decides."""

from __future__ import annotations

import polars as pl
import pytest
import torch

from heedful.audits.questions.certificate import FARTHEST
from heedful.audits.subject.reading import read_batch
from heedful.measures.norms import NORMS


def decisions(case, row, weights):
    """What the model decides of one text under other weights."""
    states = case.reading.states
    h = states.h[row].expand(len(weights), -1, -1)
    query, candidates = (
        None if f is None else f[row].expand(len(weights), -1) for f in (states.query, states.candidates)
    )
    with torch.no_grad():
        context = torch.einsum("bhn,bnm->bhm", weights.to(h.dtype), h)
        logits = case.classifier.model.decode_context(context, query, candidates)
    return (logits[:, 0] > 0).long() if logits.shape[1] == 1 else logits.argmax(1)


def changes(case, row, norm):
    """Changes of norm 1, among which the worst ones of ℓ1 are, and many of the others."""
    heads, items = case.reading.weights.shape[1], case.reading.mask.shape[1]
    real = case.reading.mask[row].expand(heads, -1)
    torch.manual_seed(row)
    if norm == "l1":
        axes = torch.eye(heads * items).view(-1, heads, items)[real.flatten()]
        return torch.cat([axes, -axes])
    drawn = torch.randn(3000, heads, items) * real
    if norm == "linf":
        return drawn.sign()
    return drawn / drawn.flatten(1).norm(dim=1)[:, None, None]


@pytest.mark.parametrize("norm", NORMS)
def test_inside_the_radius_the_model_decides_the_same(case, norm):
    found = case.ask("certificate")[f"radius_{norm}"]
    if not case.classifier.model.decoder.linear:
        assert found.isnan().all()
        return
    for row in case.texts():
        weights, radius = case.reading.weights[row], found[row].item()
        before = decisions(case, row, weights[None])[0]
        delta = changes(case, row, norm)
        inside = decisions(case, row, weights + 0.999 * radius * delta)
        assert (inside == before).all()
        if norm == "l1" and radius < FARTHEST["l1"]:  # all corners are there
            assert (decisions(case, row, weights + 1.001 * radius * delta) != before).any()


def test_shares_are_those_of_the_radii(make_case):
    case = make_case("heads-many", sharpen=4.0)
    audit = case.audit("certificate", radii="0.02,0.5")
    found = dict(audit.rows(case.reading))
    rows = pl.DataFrame(
        {"predicted": ["a"] * len(case.split), **{name: v.tolist() for name, v in found.items()}}
    )
    summary = audit.summarise(rows)
    for norm in NORMS:
        radii = found[f"radius_{norm}"]
        assert (found[f"radius_{norm}_zero_sum"] >= radii - 1e-9).all()
        for r in (0.02, 0.5):
            share = (radii >= r).double().mean().item()
            assert summary.number(f"certified_{norm}", f"R = {r:g}").estimate == pytest.approx(share)
    assert summary.number("certified").estimate == (found["radius_linf"] >= 1e-3).double().mean()
    assert [chart.title for chart in audit.charts(rows)] == [
        "Texts whose decision no change of this size can change"
    ]


def test_other_decoders_get_no_certificate_and_are_told_why(make_case):
    case = make_case("mlp")
    audit = case.audit("certificate")
    found = audit.rows(case.reading)
    rows = pl.DataFrame(
        {"predicted": ["a"] * len(case.split), **{name: v.tolist() for name, v in found.items()}}
    )
    summary = audit.summarise(rows)
    assert (
        summary.finding == "There is no exact certificate, because the decoder is not linear in the weights."
    )
    assert summary.number("certified").estimate is None
    assert audit.charts(rows) == []


def test_decisions_that_need_no_attention_are_certified_as_far_as_heatmaps_reach(make_case):
    case = make_case("binary")
    torch.nn.init.zeros_(case.classifier.model.decoder.output.weight)
    with torch.no_grad():
        case.classifier.model.decoder.output.bias.fill_(0.2)
    case = case._replace(reading=read_batch(case.classifier.model, case.reading.batch))
    found = case.ask("certificate")
    for norm in NORMS:
        assert found[f"radius_{norm}"].tolist() == pytest.approx([FARTHEST[norm]] * len(case.split))
