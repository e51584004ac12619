"""What can be asked of which model, scores and texts; and models without attention, asked through an explainer."""

from __future__ import annotations

import numpy as np
import pytest

import heedful
from heedful.audits.audit import AUDITS, of_attention_alone
from heedful.audits.running.run import usual_audits
from heedful.audits.subject.scope import Scope
from heedful.errors import BadInput

ATTENTION_ALONE = {"certificate", "counterfactual", "permutation", "imitation", "reach"}
REPLACE_WEIGHTS = ATTENTION_ALONE | {"single_erasure", "flip_set"}
SCORE_AGAIN = {"consistency", "embedding_stability", "word_stability", "seed_stability", "randomisation"}
TRAIN = {"imitation", "seed_stability"}


def refused(**scope: object) -> set[str]:
    return {name for name in AUDITS if AUDITS.get(name).refuses(Scope(**{"rationales": True, **scope}))}


def test_of_attention_everything_can_be_asked():
    assert refused() == set()
    assert refused(rationales=False) == {"plausibility"}


def test_what_is_asked_of_attention_alone_is_not_asked_of_explainers():
    assert refused(source="gradient") == ATTENTION_ALONE == {n for n in AUDITS if of_attention_alone(n)}


def test_scores_of_a_user_are_not_asked_what_changes_texts():
    assert refused(source="own") == ATTENTION_ALONE | SCORE_AGAIN


def test_what_trains_needs_the_run():
    assert refused(trained=False) == TRAIN


def test_less_access_leaves_fewer_questions():
    levels = [refused(source="gradient", access=level) for level in ("stages", "embeddings", "predictions")]
    assert levels[1] == REPLACE_WEIGHTS
    assert levels[0] < levels[1] < levels[2]
    assert "rationale" not in levels[2] and "sharpness" not in levels[2]


def test_a_verdict_asks_what_can_be_asked_and_need_not_be_named():
    usual = usual_audits(Scope(source="own"))
    assert usual[0] == "sharpness" and not set(usual) & (ATTENTION_ALONE | SCORE_AGAIN | {"plausibility"})
    for name in AUDITS:
        assert (name in usual_audits(Scope())) == (not AUDITS.get(name).only_named)


@pytest.fixture(params=[("lstm", "max"), ("average", "mean")])
def pooled(toy_classifier, request):
    encoder, pooling = request.param
    classifier = toy_classifier(encoder=encoder, pooling=pooling, seed=1)
    classifier.model.decoder.output.weight.data *= 4
    return classifier


def test_a_model_without_attention_is_asked_through_an_explainer(pooled, many_texts):
    found = heedful.audit(pooled, many_texts, source="gradient", progress=False)
    assert set(found.summaries) == set(usual_audits(found.about.scope)) >= {"sharpness", "rationale"}
    assert not set(found.summaries) & REPLACE_WEIGHTS
    drawn = found.to_frame("predictions")["weights"].to_list()
    texts = found.to_frame("predictions")["text"].to_list()
    (explained,) = heedful.explain(pooled, texts[:1], "gradient")
    assert np.allclose(drawn[0], [item.weight for item in explained.items], atol=1e-6)


def test_its_predictions_are_its_own(pooled, many_texts):
    found = heedful.audit(pooled, many_texts, source="leave_one_out", only=["sharpness"], progress=False)
    frame = found.to_frame("predictions")
    for text, probability in zip(frame["text"], frame["probabilities"], strict=True):
        (own,) = pooled.predict([text])
        assert list(own.probabilities.values()) == pytest.approx(list(probability), abs=1e-6)


def test_it_is_refused_what_it_has_not(pooled, many_texts):
    with pytest.raises(BadInput, match="has no attention, and so no weights"):
        heedful.audit(pooled, many_texts, progress=False)
    with pytest.raises(BadInput, match="single_erasure cannot be asked here: it needs attention weights"):
        heedful.audit(pooled, many_texts, source="gradient", only=["single_erasure"], progress=False)


def test_its_report_lists_what_cannot_be_asked(pooled, many_texts, tmp_path):
    found = heedful.audit(pooled, many_texts, source="gradient", progress=False)
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Questions that cannot be asked here" in page
    assert AUDITS.get("counterfactual").question in page
