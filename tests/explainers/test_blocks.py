"""In long texts leave-one-out deletes blocks where a model knows no shorter way, and whoever asks is told."""

from __future__ import annotations

import pytest
import torch

import heedful
from heedful.explainers import blocks
from heedful.explainers.blocks import deletions, told_of_blocks
from heedful.explainers.explainer import EXPLAINERS
from heedful.models.shorter import to_the_end

ROWS = torch.arange(2)


@pytest.fixture
def short(monkeypatch):
    """Call texts of more than four items long, and cut them into three blocks."""
    monkeypatch.setattr(blocks, "LONG", 4)
    monkeypatch.setattr(blocks, "BLOCKS", 3)


def masks(*lengths):
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def test_short_texts_lose_one_item_at_a_time(short):
    mask = masks(4, 2)
    with told_of_blocks() as told:
        found = deletions(mask, mask, ROWS)
    assert not told
    assert found.rows.tolist() == [0, 0, 0, 0, 1, 1]
    assert (found.keep.sum(1) == torch.tensor([3, 3, 3, 3, 1, 1])).all()
    scores = torch.arange(6.0)
    assert found.shared(scores, torch.zeros(2, 4)).tolist() == [[0, 1, 2, 3], [4, 5, 0, 0]]


def test_long_texts_lose_blocks_whose_items_share_what_that_does(short):
    mask = masks(7, 2)
    with told_of_blocks() as told:
        found = deletions(mask, mask, torch.tensor([40, 41]))
    assert told == {40}
    kept = [keep.nonzero()[:, 0].tolist() for keep in found.keep]
    assert kept == [[3, 4, 5, 6], [0, 1, 2, 5, 6], [0, 1, 2, 3, 4], [1], [0]]
    shared = found.shared(torch.tensor([0.3, 0.2, 0.4, 0.5, 0.6]), torch.zeros(2, 7))
    assert shared[0].tolist() == pytest.approx([0.1] * 3 + [0.1, 0.1] + [0.2, 0.2])
    assert shared[1, :2].tolist() == pytest.approx([0.5, 0.6])


def test_only_what_is_asked_about_is_deleted(short):
    mask = masks(7, 2)
    asked = torch.zeros_like(mask)
    asked[0, [1, 5]] = True
    with told_of_blocks() as told:
        found = deletions(mask, asked, ROWS)
    assert not told, "two items need no blocks"
    onto = torch.full((2, 7), 9.0)
    assert found.shared(torch.tensor([0.5, 0.25]), onto)[0].tolist() == [9, 0.5, 9, 9, 9, 0.25, 9]


def test_who_wants_all_gets_all(short):
    mask = masks(7, 2)
    with to_the_end(True), told_of_blocks() as told:
        assert len(deletions(mask, mask, ROWS).rows) == 9
    assert not told


@pytest.mark.parametrize("name", ["leave_one_out", "signed_leave_one_out"])
def test_many_blocks_are_items(toy_classifier, monkeypatch, name):
    """As many blocks as items is exact; a model without a shorter way is one whose weights are sparse."""
    model = toy_classifier(encoder="bigru", normaliser="sparsemax", pooling="max").model.eval()
    from tests.models.shortcuts.test_deleted_items import words

    batch = words([9, 5])
    exact = EXPLAINERS.get(name)(model, batch, seed=0)
    monkeypatch.setattr(blocks, "LONG", 1)
    monkeypatch.setattr(blocks, "BLOCKS", 9)
    assert torch.equal(EXPLAINERS.get(name)(model, batch, seed=0), exact)


def test_an_audit_says_in_which_texts_blocks_were_deleted(toy_classifier, monkeypatch):
    """The first audit that asks is told, and so is the next, for which nothing is read again."""
    monkeypatch.setattr("heedful.models.shortcuts.leave_one_out.LONG", 3)
    monkeypatch.setattr("heedful.models.shortcuts.fading.FARTHEST", 1)
    monkeypatch.setattr("heedful.models.shortcuts.fading._EVERY", 1)
    monkeypatch.setattr(blocks, "LONG", 4)
    monkeypatch.setattr(blocks, "BLOCKS", 2)
    texts = ["a fine film it holds up well", "dull film", "the plot is thin the jokes are old"]
    model = toy_classifier(encoder="lstm")
    for exact in (False, True):
        found = heedful.audit(
            model, texts=texts, only=["agreement", "rationale"], exact_leave_one_out=exact, progress=False
        )
        for name in ("agreement", "rationale"):
            frame, summary = found.frames[name], found.summaries[name]
            said = [*summary.notes, *summary.caveats]
            assert any("blocks of neighbours" in note for note in said) == (not exact)
            assert ("deleted_in_blocks" in frame.columns) == (not exact)
            if not exact:
                assert frame.sort("row")["deleted_in_blocks"].to_list() == [True, False, True]
