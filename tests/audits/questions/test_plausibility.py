"""Agreement with rationales from end to end: planted, missing, and beside the text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import Texts
from heedful.config import AuditOptions
from heedful.data.corpus import Split
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.measures.plausibility import auprc
from heedful.progress import QUIET


def subject_of(case, evidence, **options):
    """A case whose texts have this evidence."""
    split = replace(case.split, evidence=evidence)
    texts = Texts("toys", case.classifier.instances(split), [np.arange(len(split))], True, ())
    return Subject(case.classifier, texts, complete(AuditOptions)(**options))


def asked(case, evidence, **options):
    """Prepare the audit for a case whose texts have this evidence, and give it with its rows."""
    audit = case.audit("plausibility", **options)
    audit.prepare(subject_of(case, evidence, **options), QUIET)
    return audit, audit.rows(case.reading)


def spans(case, words):
    """Spans of the items at some places of each text."""
    offsets = case.reading.batch.tokens.offsets
    return [[tuple(offsets[row, place].tolist()) for place in places] for row, places in enumerate(words)]


def test_numbers_are_those_of_the_measures(make_case):
    case = make_case("binary")
    places = [[row % 2, 1 + row % 2] for row in case.texts()]
    audit, found = asked(case, spans(case, places))
    counts = case.reading.mask.sum(1)
    marked = torch.zeros_like(case.reading.mask)
    for row, chosen in enumerate(places):
        marked[row, chosen] = True
    marked &= case.reading.mask
    assert audit.share == pytest.approx((marked.sum(1) / counts).mean().item())
    scores = case.reading.scores("attention")
    torch.testing.assert_close(found["auprc"], auprc(scores, marked, case.reading.mask))
    for row in case.texts():
        order = np.argsort(-scores[row, : counts[row]].numpy(), kind="stable")
        top = set(order[: max(1, int(audit.share * counts[row] + 0.5))].tolist())
        truth = set(marked[row].nonzero()[:, 0].tolist())
        assert found["token_f1"][row].item() == pytest.approx(2 * len(top & truth) / (len(top) + len(truth)))
        assert found["top_is_marked"][row].item() == float(int(order[0]) in truth)
        assert set(found["marked"][row]) == truth


def test_texts_without_or_beside_a_rationale_are_left_out_and_counted(make_case):
    case = make_case("average")
    evidence = spans(case, [[0]] * len(case.split))
    evidence[1], evidence[2] = [], [(10_000, 10_005)]
    audit, found = asked(case, evidence)
    assert found["auprc"].isnan().nonzero()[:, 0].tolist() == [1, 2]
    rows = pl.DataFrame(
        {name: value.tolist() if isinstance(value, torch.Tensor) else value for name, value in found.items()}
    )
    summary = audit.summarise(rows)
    assert summary.number("auprc").count == len(case.split) - 2
    assert f"1 of {len(case.split)} texts have no rationale" in " ".join(summary.notes)
    assert f"of 1 of {len(case.split)} texts cover no word" in " ".join(summary.notes)


@pytest.mark.parametrize("nothing", ["none", "empty"])
def test_texts_without_rationales_are_refused(make_case, nothing):
    case = make_case("average")
    evidence = {"none": None, "empty": [[]] * len(case.split)}[nothing]
    reason = AUDITS.get("plausibility").refuses(subject_of(case, evidence).scope)
    assert reason and reason.startswith("nobody recorded rationales")


def test_rationales_that_do_not_fit_are_refused(make_case):
    case = make_case("average")
    with pytest.raises(BadInput, match="No rationale of toys covers a word"):
        asked(case, [[(9000, 9001)]] * len(case.split))


def test_a_sentence_is_marked_by_any_of_its_words(make_case):
    case = make_case("hierarchical")
    evidence = [[] for _ in case.texts()]
    evidence[1] = [(5, 6)]  # inside the first sentence
    _, found = asked(case, evidence)
    assert found["marked"][1] == [0]


def test_it_runs_only_when_it_is_named(model, many_texts):
    classifier = model(encoder="average")
    found = heedful.audit(classifier, many_texts, progress=False, permutations=5, limit=8)
    assert "plausibility" not in found.summaries
    assert "certificate" in found.summaries
    with pytest.raises(BadInput, match="plausibility cannot be asked here: nobody recorded rationales"):
        heedful.audit(classifier, many_texts, only=["plausibility"], progress=False)


def test_planted_evidence_is_found_and_batches_change_nothing(toy_classifier):
    """One word has a state that attention cannot miss, and that word is the evidence of every text."""
    classifier = toy_classifier(encoder="none", embedding_size=4)
    rng = np.random.default_rng(0)
    words = ["the", "plot", "is", "warm", "old"]
    texts = [" ".join(rng.permutation(words + ["a"] * (row % 5))) for row in range(12)]
    evidence = [[(text.index("warm"), text.index("warm") + 4)] for text in texts]
    warm = int(classifier.batch(["warm"]).tokens.ids[0, 0])
    with torch.no_grad():
        project = classifier.model.attention.similarity.project_state
        project.weight.zero_()
        project.weight[0, 0] = 1.0
        classifier.model.attention.similarity.vector.fill_(9.0)
        classifier.model.embedding.weight[:, 0] = 0.0
        classifier.model.embedding.weight[warm, 0] = 5.0
    instances = classifier.instances(Split(texts, np.zeros(12, dtype=np.int64), evidence=evidence))
    found = []
    for size in (64, 5):
        options = complete(AuditOptions)(batch_size=size)
        subject = Subject(classifier, Texts("toys", instances, [np.arange(12)], True, ()), options)
        audit = AUDITS.get("plausibility")(options)
        audit.prepare(subject, QUIET)
        parts = []
        for reading in subject.readings(np.arange(12)):
            rows = {"row": reading.rows, **audit.rows(reading)}
            parts.append(
                pl.DataFrame({n: v.tolist() if isinstance(v, torch.Tensor) else v for n, v in rows.items()})
            )
        found.append(pl.concat(parts).sort("row"))
    assert found[0].equals(found[1])
    for name in ("auprc", "token_f1", "iou_f1", "top_is_marked"):
        assert found[0][name].to_list() == [1.0] * 12
    assert found[0]["top_is_marked_random"].mean() < 0.7


def test_movie_reviews(real_data, toy_classifier):
    """Long texts with human rationales, by a model that has learnt nothing: no better than chance, and soon."""
    classifier = toy_classifier(encoder="average")
    found = heedful.audit(classifier, "eraser_movies", only=["plausibility"], limit=60, progress=False)
    summary = found.summaries["plausibility"]
    assert summary.number("auprc").count >= 50
    assert abs(summary.number("auprc").estimate - summary.number("auprc_random").estimate) < 0.15
