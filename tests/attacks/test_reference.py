"""Our attacks against what TextAttack did to the same victim, where its outputs are at hand."""

from __future__ import annotations

import json

import pytest

import heedful

CASES = {
    # failed, successful and skipped of lines 0-199
    "pwws": ({"recipe": "pwws"}, (18, 149, 33)),
    "textfooler_nosim": ({"recipe": "textfooler", "similarity": False}, (6, 161, 33)),
    "textfooler": ({"recipe": "textfooler"}, (6, 161, 33)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_status_and_what_the_victim_reads_are_the_same(name, real_data, asset, absent):
    options, counts = CASES[name]
    folder = real_data.parent / "reference" / "attacks"
    file = folder / f"{name}_lstm_sst2_test000-199.jsonl"
    if not file.is_file():
        absent("there is no folder reference/attacks beside HEEDFUL_DATA")
    for needed in ("wordnet", "minilm-l6"):
        asset(needed)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    count = len(rows)
    model = heedful.load(folder / "victim-lstm")
    frame = heedful.attack(
        model,
        [row["original"] for row in rows],
        [row["label"] for row in rows],
        vectors=folder / "counterfitted_glove.npz",
        progress=False,
        **options,
    ).to_frame()
    assert frame["words"].to_list() == [row["n_words"] for row in rows]
    assert frame["status"].to_list() == [row["status"] for row in rows]
    ours, theirs = (
        [model.vocabulary.encode([text]).ids.tolist() for text in texts]
        for texts in (frame["attacked"], [row["perturbed"] for row in rows])
    )
    assert sum(one == other for one, other in zip(ours, theirs, strict=True)) >= 0.98 * count
    assert tuple(frame["status"].to_list().count(s) for s in ("failed", "successful", "skipped")) == counts
    if name != "textfooler":  # whose sentences are compared after the victim
        queries = [row["num_queries"] for row in rows]
        assert sum(a == b for a, b in zip(frame["queries"], queries, strict=True)) >= 0.98 * count
