from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.attacks.candidates.edits import Edit, mergeable
from heedful.attacks.classifier_victim import ClassifierVictim
from heedful.attacks.draft import Draft, Source
from heedful.attacks.victim import FunctionVictim, Victim
from heedful.errors import BadInput
from heedful.models.answers import checked

TEXTS = st.text(st.sampled_from("ai tn'.!-fé1\n"), max_size=25)
WORDS = st.sampled_from(["fine", "isn't", "", "a b", "1,000", "don't.", "[UNK]"])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([[float("nan"), 0.5]], "no numbers"),
        ([[0.2, 0.2]], "sum to one"),
        ([[3.0, -2.0]], "sum to one"),
        ([0.5], "array"),
        ([[1.0]], "two classes"),
        ([[0.5, 0.5], [0.5, 0.5]], "for 1 texts"),
        ("nothing", "no array"),
    ],
)
def test_what_is_no_probability_is_refused_in_a_sentence(answer, says):
    with pytest.raises(BadInput, match=says):
        checked(answer, ["a text"])


def test_tensors_lists_and_arrays_are_taken():
    for answer in (
        [[0.25, 0.75]],
        np.array([[0.25, 0.75]]),
        torch.tensor([[0.25, 0.75]], requires_grad=True),
    ):
        assert checked(answer, ["a text"]).tolist() == [[0.25, 0.75]]


def test_a_function_reads_texts_in_batches(votes):
    sizes = []

    def counted(texts):
        sizes.append(len(texts))
        return votes(texts)

    victim = FunctionVictim(counted, batch_size=2)
    assert isinstance(victim, Victim)
    drafts = [Draft(Source.cut(text)) for text in ("fine film", "dull film", "slow film")]
    assert victim.read(victim.keys(drafts)).argmax(-1).tolist() == [1, 0, 0]
    assert sizes == [2, 1] and victim.knows(["fine"]) is None


@pytest.mark.parametrize("rules", [{}, {"numbers": False}, {"lowercase": False}, {"punctuation": False}])
@pytest.mark.parametrize("max_length", [None, 4])
def test_ids_by_pieces_are_the_ids_of_the_whole_text(toy_classifier, rules, max_length):
    classifier = toy_classifier(encoder="lstm", pooling="max")
    learnt = type(classifier.vocabulary).learn(
        ["a fine isn't it 1 don't . ! - b", "fi tn"], max_length=max_length, **rules
    )
    classifier.vocabulary = learnt
    victim = ClassifierVictim(classifier)

    @given(TEXTS, st.data())
    def same(text, data):
        source = Source.cut(text)
        drafts = [Draft(source)]
        for position in range(len(source)):
            base = data.draw(st.sampled_from(drafts))
            drafts.append(base.replaced(position, data.draw(WORDS)))
            if mergeable(base, position):
                drafts.append(base.merged(position, "fine"))
            drafts.append(Edit("insert", "fine").apply(base, position))
        for key, draft in zip(victim.keys(drafts), drafts, strict=True):
            assert np.frombuffer(key, ">u4").tolist() == learnt.encode([draft.text]).ids.tolist()

    same()


SHAPES = [
    {"encoder": "lstm", "pooling": "max"},
    {"encoder": "bilstm"},
    {"encoder": "cnn", "pooling": "max"},
    {"encoder": "average"},
    {"encoder": "none", "pooling": "mean"},
    {"encoder": "bilstm", "hierarchical": True},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_shorter_way_leads_to_what_predict_says(toy_classifier, shape):
    classifier = toy_classifier(classes=3, **shape)
    source = Source.cut("the plot is thin, the jokes are old. Nobody laughed.")
    base = Draft(source).replaced(1, "film")
    drafts = [
        Draft(source),
        base,
        *(base.replaced(at, word) for at in (0, 3, 8) for word in ("", "warm", "zzz")),
    ]
    expected = [list(found.probabilities.values()) for found in classifier.predict([d.text for d in drafts])]
    for plain in (False, True):
        victim = ClassifierVictim(classifier, plain=plain)
        assert np.allclose(victim.read(victim.keys(drafts)), expected, atol=1e-5)


def test_words_that_are_read_alike_have_one_key(toy_classifier):
    victim = ClassifierVictim(toy_classifier(encoder="lstm", pooling="max"))
    draft = Draft(Source.cut("a fine film"))
    one, other, known = victim.keys([draft.replaced(1, word) for word in ("zzz", "qqq", "warm")])
    assert one == other != known
    assert victim.knows(["zzz", "warm", "zzz-warm"]) == [False, True, False]


def test_models_that_read_queries_are_refused(toy_classifier):
    with pytest.raises(BadInput, match="question or hypothesis"):
        ClassifierVictim(toy_classifier(query=True))
