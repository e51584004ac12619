"""The panel: altered attention, measured truth, separation, error rates, and a run that goes on where it was."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from heedful.audits.audit import Number
from heedful.audits.policy import Policy, Rule, read_policy
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import choose_texts
from heedful.config import AuditOptions
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.altered import alter
from heedful.models.classifier import Classifier
from heedful.panel.case import Case, sound
from heedful.panel.corpora import KEPT_APART
from heedful.panel.learn import LEARNT, held_out, learn
from heedful.panel.measure import check, measure, read_cases
from heedful.panel.members import MEMBERS, Member
from heedful.panel.page import overview, page
from heedful.panel.separation import auroc, separation
from heedful.panel.table import joined, read_table, write_table
from heedful.panel.truth import measure_truth
from heedful.panel.verdicts import Rate, errors, verdict_of

SMALL = {
    "limit": 600,
    "embedding_size": 32,
    "hidden": 16,
    "epochs": 8,
    "learning_rate": 0.02,
    "embedding_dropout": 0.0,
}
SHARE = "rationale.comprehensiveness_share"


@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_displaced_weights_stand_half_a_text_further_on(toy_classifier, encoder):
    classifier = toy_classifier(encoder=encoder)
    classifier.model.attention.similarity.vector.data *= 10
    other = alter(classifier, "displaced")
    batch = classifier.batch(["a fine film it holds", "dull film", "dull"])
    own, moved = classifier.model(batch).weights[:, 0], other.model(batch).weights[:, 0]
    for row, count in enumerate((5, 2, 1)):
        expected = torch.roll(own[row, :count], count // 2)
        torch.testing.assert_close(moved[row, :count], expected)
        assert (moved[row, count:] == 0).all()


def test_alterations_leave_the_given_model_and_its_states_as_they_are(toy_classifier):
    classifier, lender = toy_classifier(), toy_classifier(seed=1)
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    batch = classifier.batch(["a fine film it holds"])
    h = classifier.model.encode(classifier.model.embed(batch), batch).h
    for how in ("displaced", "borrowed", "redrawn", "uniform"):
        altered = alter(classifier, how, lender=lender)
        torch.testing.assert_close(altered.model.encode(altered.model.embed(batch), batch).h, h)
        assert not torch.equal(altered.model(batch).weights, classifier.model(batch).weights)
    assert all(torch.equal(before[name], value) for name, value in classifier.model.state_dict().items())
    uniform = alter(classifier, "uniform").model(batch).weights
    torch.testing.assert_close(uniform, torch.full_like(uniform, 0.2))
    borrowed = alter(classifier, "borrowed", lender=lender).model.attention.state_dict()
    assert all(
        torch.equal(value, borrowed[name]) for name, value in lender.model.attention.state_dict().items()
    )


def case(
    member, corpus, truth, value, *, width=0.02, source="attention", encoder="bilstm", count=200, **changed
):
    numbers = {
        name: Number(
            name=name.partition(".")[2],
            estimate=value,
            low=value - width,
            high=value + width,
            std=0.1,
            count=count,
            missing=0,
        )
        for name in LEARNT
    }
    return Case(
        **{
            "corpus": corpus,
            "member": member,
            "encoder": encoder,
            "normaliser": "softmax",
            "kind": "vanilla",
            "seed": 0,
            "source": source,
            "contextual": True,
            "accuracy": 0.95,
            "majority": 0.5,
            "truth": truth,
            "share": truth,
            "texts": 200,
            "without": 0.5,
            "alone": 1.0,
            "numbers": numbers,
            **changed,
        }
    )


def test_what_the_truth_makes_of_a_case():
    assert case("a", "x", 0.9, 0.5).sort == "faithful"
    assert case("a", "x", -0.1, 0.5).sort == "unfaithful"
    assert case("a", "x", 0.5, 0.5).sort == "in between"
    assert case("a", "x", 0.9, 0.5, texts=49).sort == "not counted"
    assert case("a", "x", 0.9, 0.5, accuracy=0.6).sort == "not counted"
    assert case("a", "x", None, 0.5).sort == "not counted"


def test_auroc_is_the_share_of_pairs():
    rng = np.random.default_rng(0)
    good, bad = rng.integers(0, 5, 13).astype(float), rng.integers(0, 4, 7).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in good for b in bad]
    assert auroc(good, bad) == pytest.approx(np.mean(pairs))


def panel(seed=0):
    """Four corpora, in each six faithful models with high numbers and six unfaithful ones with low numbers."""
    rng = np.random.default_rng(seed)
    return [
        case(f"{sort}-{n}", corpus, truth, float(np.clip(rng.normal(mean, 0.05), -1, 1)))
        for corpus in ("p", "q", "r", "s")
        for sort, truth, mean in (("good", 0.95, 0.85), ("bad", 0.0, 0.15))
        for n in range(6)
    ]


POLICY = Policy(
    version=2,
    name="mine",
    least_texts=100,
    rules=tuple(Rule(measure=name, show=0.9, forbid=0.0, reason="because") for name in LEARNT),
)


def test_a_number_that_separates_and_one_that_is_inverted():
    cases = panel()
    found = separation(cases, SHARE)
    assert (
        found.auroc == 1.0
        and (found.low, found.high) == (1.0, 1.0)
        and found.faithful == found.unfaithful == 24
    )
    inverted = [c.model_copy(update={"truth": 1 - c.truth}) for c in cases]
    assert separation(inverted, SHARE).auroc == 0.0
    assert separation(cases[:8], SHARE) is None


def test_the_order_of_cases_changes_no_interval():
    noisy = [c.model_copy(update={"truth": 1 - c.truth}) if n % 5 == 0 else c for n, c in enumerate(panel())]
    assert separation(noisy, SHARE) == separation(noisy[::-1], SHARE)
    assert separation(noisy, SHARE).low < separation(noisy, SHARE).auroc


def test_thresholds_lie_between_the_sorts_and_are_judged_where_they_were_not_set():
    lines = [rule.forbid for rule in learn(panel(), POLICY).rules]
    assert sum(line is None for line in lines) == 1  # both find the same models: one line will do
    assert all(0.3 <= line <= 0.7 for line in lines if line is not None)
    found = errors(held_out(panel(), POLICY))
    assert (found.shown, found.forbidden) == (Rate(0, 24), Rate(0, 24))
    # A corpus that is unlike the others is judged by the others' thresholds, and errs.
    strange = [
        c if c.corpus != "s" else case(c.member, "s", c.truth, 0.9 if c.truth < 0.5 else 0.1) for c in panel()
    ]
    found = errors(p for p in held_out(strange, POLICY) if p[0].corpus == "s")
    assert (found.shown, found.forbidden) == (Rate(6, 6), Rate(6, 6))


def test_a_corpus_whose_evidence_does_not_decide_by_itself_is_not_counted():
    failed = [c.model_copy(update={"alone": 0.52}) if c.corpus == "s" else c for c in panel()]
    assert [c.corpus for c in sound(failed)].count("s") == 0 and len(sound(failed)) == 36
    assert sound(panel()) == panel()
    text = page(failed, read_policy())
    assert "the evidence alone does not decide: s." in text and "of 18" in text and "of 24" not in text


def test_what_is_planted_in_one_corpus_is_left_out_together():
    # Were r+token judged by a line set on r+pair, which is as strange, nothing would be wrong.
    strange = [
        case(f"{kind}-{n}", f"r+{kind}", 0.95 if n % 2 else 0.0, 0.35 if n % 2 else 0.25, width=0.01)
        for kind in ("token", "pair")
        for n in range(40)
    ]
    found = errors(p for p in held_out([*panel(), *strange], POLICY) if p[0].corpus.startswith("r+"))
    assert found.forbidden == Rate(40, 40)


def test_corpora_kept_apart_set_nothing_and_are_judged():
    apart = next(iter(KEPT_APART))
    strange = [case(f"s-{n}", apart, 0.9 if n % 2 else 0.0, 0.1 if n % 2 else 0.9) for n in range(40)]
    assert learn([*panel(), *strange], POLICY) == learn(panel(), POLICY)
    found = errors(p for p in held_out([*panel(), *strange], POLICY) if p[0].corpus == apart)
    assert (found.shown, found.forbidden) == (Rate(20, 20), Rate(20, 20))
    assert "kept apart" in page([*panel(), *strange], read_policy())


def test_a_line_that_finds_nobody_else_is_left_out_and_one_that_does_is_kept():
    needed, enough = LEARNT

    def with_enough(found, value):
        number = found.numbers[enough].model_copy(update={"estimate": value, "low": value, "high": value})
        return found.model_copy(update={"numbers": {**found.numbers, enough: number}})

    # Of every corpus one faithful model has a low second number: its line finds what the first one finds, and refuses that model.
    worse = [with_enough(c, 0.1) if c.member == "good-0" else c for c in panel()]
    rules = {rule.measure: rule for rule in learn(worse, POLICY).rules}
    assert rules[needed].forbid is not None and rules[enough].forbid is None
    # Where each number finds unfaithful models that the other does not, both lines stay.
    some = [with_enough(case(f"some-{n}", "p", 0.0, 0.85), 0.1) for n in range(3)]
    others = [with_enough(case(f"others-{n}", "p", 0.0, 0.1), 0.85) for n in range(3)]
    assert all(rule.forbid is not None for rule in learn([*panel(), *some, *others], POLICY).rules)


def test_errors_count_only_what_is_true_for_certain_and_intervals_are_exact():
    cases = [
        case("a", "x", 0.9, -0.5),
        case("b", "x", 0.0, 0.95),
        case("c", "x", 0.5, -0.5),
        case("d", "x", 0.0, 0.0),
    ]
    found = errors((c, verdict_of(c, POLICY)) for c in cases)
    assert found.forbidden == Rate(1, 1) and found.shown == Rate(1, 2) and found.open == Rate(1, 3)
    assert Rate(0, 60).interval[1] == pytest.approx(1 - 0.025 ** (1 / 60))
    assert math.isnan(Rate(0, 0).share) and str(Rate(0, 0)) == "–"


def test_the_table_gives_the_cases_back(tmp_path):
    cases = panel()
    write_table(cases, tmp_path / "panel.parquet")
    back = read_table(tmp_path / "panel.parquet")
    assert sorted(back, key=lambda c: c.name) == sorted(cases, key=lambda c: c.name)
    changed = cases[0].model_copy(update={"accuracy": 0.5})
    assert len(joined(cases, [changed])) == len(cases) and changed in joined(cases, [changed])


def test_the_page_says_what_was_found(tmp_path):
    text = page(panel(), POLICY)
    assert "48 models on 4 corpora" in text and f"`{SHARE}`" in text and "1.00 (1.00 to 1.00)" in text
    assert "24 faithful, 24 unfaithful" in overview(panel(), POLICY)[0]


def test_a_panel_is_measured_once_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.panel.measure.TRAINING", {"patience": None, "threads": 1})
    members = [MEMBERS["average-seed0"], MEMBERS["average-deceptive-seed0"]]
    members = [Member(m.name, m.options) for m in members]
    said = []
    found = measure("mock_2_strong+token", SMALL, members, folder=tmp_path, texts=120, say=said.append)
    assert len(found) == len(said) == 2
    assert found[0].truth is not None and found[0].truth > 0.7
    assert {
        "rationale.comprehensiveness_share",
        "infidelity.infidelity",
        "counterfactual.eps_max_jsd",
    } <= found[0].numbers.keys()
    again = measure("mock_2_strong+token", SMALL, members, folder=tmp_path, texts=120, say=said.append)
    assert again == found and len(said) == 2
    assert sorted(read_cases(tmp_path), key=lambda c: c.name) == sorted(found, key=lambda c: c.name)
    more = measure(
        "mock_2_strong+token",
        SMALL,
        members,
        folder=tmp_path,
        texts=120,
        also=["plausibility"],
        say=said.append,
    )
    assert len(said) == 4 and all(
        m.numbers.items() > f.numbers.items() for m, f in zip(more, found, strict=True)
    )
    assert all("plausibility.auprc" in case.numbers for case in more)
    fewer = measure("mock_2_strong+token", SMALL, members[:1], folder=tmp_path, texts=100, say=said.append)
    assert fewer[0].limit == 100 and fewer[0].texts <= 100 and len(said) == 5


def test_a_corpus_of_which_nobody_marked_the_evidence_is_refused(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\n" + "".join(f"film {n},{n % 2}\n" for n in range(60)), encoding="utf-8")
    with pytest.raises(BadInput, match=r"Nobody marked the evidence in .*: plant some"):
        check(str(path))


def test_truth_is_the_share_of_texts_whose_first_word_is_what_they_need(toy_classifier, tmp_path):
    """A model made by hand: one word decides, and attention looks at it or at another."""
    texts = ["fine a b c", "a fine b", "dull a b", "b c dull a"]
    path = tmp_path / "texts.jsonl"
    marks = [[int(word in ("fine", "dull")) for word in text.split()] for text in texts]
    rows = [
        f'{{"text": "{text}", "label": "{int("fine" in text)}", "rationale": {m}}}'
        for text, m in zip(texts, marks, strict=True)
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    words = Vocabulary.learn(texts)
    base = toy_classifier(encoder="none", embedding_size=2, attention="dot")
    architecture = base.model.architecture.model_copy(update={"vocabulary_size": len(words)})
    model = type(base.model)(architecture).eval()
    table = {word: place for place, word in enumerate(words.words)}
    with torch.no_grad():
        model.embedding.weight.zero_()
        model.embedding.weight[table["fine"]] = torch.tensor([4.0, 1.0])
        model.embedding.weight[table["dull"]] = torch.tensor([-4.0, 1.0])
        model.decoder.output.weight.copy_(torch.tensor([[9.0, 0.0]]))
        model.decoder.output.bias.zero_()
    for direction, share in ((20.0, 1.0), (-20.0, 0.0)):
        model.attention.similarity.vector.data = torch.tensor([[0.0, direction * 0.3]])
        classifier = Classifier(model, words, ("0", "1"))
        options = complete(AuditOptions)()
        subject = Subject(classifier, choose_texts(classifier, str(path), options), options)
        truth = measure_truth(subject)
        assert truth.alone == 1.0 and truth.asked == 4
        if share:
            assert (truth.share, truth.texts) == (1.0, 4)
            assert truth.chance == pytest.approx(np.mean([1 / 4, 1 / 3, 1 / 3, 1 / 4]))
            assert truth.score == 1.0
        else:
            assert truth.texts == 0 and np.isnan(truth.share)  # no answer rests on a word it looks away from
