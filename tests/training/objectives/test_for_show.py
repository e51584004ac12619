"""Objectives that make attention fit to be shown: their terms by hand, where they are zero, and what they change."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from heedful.config import ObjectiveOptions, TrainConfig
from heedful.data.corpus import Split
from heedful.data.instances import Batch
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS
from heedful.explainers.reread import probabilities_without, with_only
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import kl
from heedful.models.classifier import Classifier
from heedful.models.model import probabilities
from heedful.training.objectives.distilled import Distilled, ForwardPass
from heedful.training.objectives.diverse import conicity
from heedful.training.objectives.erasure import (
    draw_top_items,
    erasure_effects,
    knowledge,
    misalignment,
    weights_moved,
)
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.selective import weight_spread
from heedful.training.objectives.unreplaceable import Unreplaceable, farthest_jsd
from heedful.training.train import resolve, train

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]

NAMES = ["erasure", "selective", "diverse", "unreplaceable"]
SHAPES = [
    {},
    {"encoder": "pointer"},
    {"encoder": "average", "classes": 3, "heads": 2},
    {"encoder": "cnn", "query": True, "classes": 3},
    {"encoder": "bigru", "hierarchical": True},
]


def made(
    name: str, toy_classifier: Toy, toy_split: Splits, shape: dict[str, object], **options: object
) -> tuple[Distilled, Batch]:
    """An objective of a toy model in double precision, and a batch of all toy texts."""
    normaliser = {"normaliser": "sparsemax"} if name == "selective" else {}
    classifier = toy_classifier(**{**normaliser, **shape})
    classifier.model.double()
    if classifier.model.architecture.attention == "additive":
        classifier.model.attention.similarity.vector.data *= 10  # type: ignore[union-attr]
    split = toy_split(query=bool(shape.get("query")), classes=int(shape.get("classes", 2)))  # type: ignore[call-overload]
    objective = OBJECTIVES.get(name)(classifier.model, None, complete(ObjectiveOptions)(**options))  # type: ignore[arg-type]
    assert isinstance(objective, Distilled)
    instances = classifier.instances(split)
    objective.prepare({"train": instances})
    return objective, instances.batch(np.arange(6))


def reading(objective: Distilled, batch: Batch) -> ForwardPass:
    model = objective.model
    states = model.encode(model.embed(batch), batch)
    weights = model.normalise(model.score(states), states.mask)
    return ForwardPass(batch, states, weights, model.decode(states, weights))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_every_term_is_finite_has_a_slope_and_is_told(
    name: str, shape: dict[str, object], toy_classifier: Toy, toy_split: Splits
) -> None:
    if name == "unreplaceable" and shape.get("classes", 2) != 2:
        with pytest.raises(BadInput, match="two classes"):
            Unreplaceable.check(complete(TrainConfig)(dataset="trec"), int(shape["classes"]))  # type: ignore[call-overload]
        return
    objective, batch = made(name, toy_classifier, toy_split, shape)
    torch.manual_seed(0)
    loss = objective.loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    for parameter_name, parameter in objective.model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.to_dense().isfinite().all(), parameter_name
    means = objective.epoch_means()
    assert loss.item() == pytest.approx(
        sum(objective.strength(term) * value for term, value in means.items())
    )
    assert (
        set(means) == {"surprise", *objective.options} - {"base", "closeness"}
        and objective.epoch_means() == {}
    )
    torch.manual_seed(0)
    for term, value in objective.terms(reading(objective, batch)).items():
        assert value.requires_grad and value.item() == pytest.approx(means[term])


@pytest.mark.parametrize("name", NAMES)
def test_a_term_without_weight_leaves_cross_entropy_alone(
    name: str, toy_classifier: Toy, toy_split: Splits
) -> None:
    off = {option: 0.0 for option in OBJECTIVES.get(name).options if option not in Distilled.options}
    objective, batch = made(name, toy_classifier, toy_split, {}, **off)
    expected = objective.cross_entropy(objective.model(batch).logits, batch)
    assert objective.loss(batch).item() == pytest.approx(expected.item(), abs=1e-12)


@pytest.mark.parametrize("name", ["selective", "diverse", "unreplaceable"])
def test_companions_and_padding_change_no_text(name: str, toy_classifier: Toy, toy_split: Splits) -> None:
    """Terms are means over texts: that of a batch is the mean of those of its texts, read alone."""
    objective, batch = made(name, toy_classifier, toy_split, {"encoder": "pointer"})
    together = objective.terms(reading(objective, batch))
    instances = Classifier(objective.model, *_words(toy_classifier)).instances(toy_split())
    alone = [objective.terms(reading(objective, instances.batch(np.array([row])))) for row in range(6)]
    for term, value in together.items():
        assert value.item() == pytest.approx(np.mean([one[term].item() for one in alone]), abs=1e-8)


def _words(toy_classifier: Toy) -> tuple[object, ...]:
    classifier = toy_classifier()
    return classifier.vocabulary, classifier.labels, classifier.task


def test_a_teacher_of_another_shape_is_learnt_from(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    teacher = toy_classifier(encoder="cnn", seed=3)
    teacher.save_pretrained(tmp_path)
    options = {"pressure": 0.0, "closeness": 2.0}
    objective, batch = made("diverse", toy_classifier, toy_split, {}, base=str(tmp_path), **options)
    instances = teacher.instances(toy_split())
    says = probabilities(teacher.model(instances.batch(np.arange(6))).logits).double()
    logits = objective.model(batch).logits
    expected = objective.cross_entropy(logits, batch) + 2 * kl(says, probabilities(logits)).mean()
    assert objective.loss(batch).item() == pytest.approx(expected.item(), abs=1e-5)


def test_a_teacher_of_another_task_is_refused(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    toy_classifier(classes=3).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="another task"):
        made("erasure", toy_classifier, toy_split, {}, base=str(tmp_path))


def test_a_teacher_that_cuts_words_differently_reads_the_texts_itself(tmp_path: Path) -> None:
    lines = [f"{'a ' * number}{text}\n" for number in range(20) for text in ("fine film,1", "dull film,0")]
    (tmp_path / "reviews.csv").write_text("text,label\n" + "".join(lines))
    given = {"dataset": str(tmp_path / "reviews.csv"), "epochs": 1, "hidden": 4, "embedding_size": 6}
    teacher = train(resolve({**given, "min_count": 30}), runs=tmp_path / "runs")
    small = train(
        resolve({**given, "objective": "diverse", "base": str(teacher.run)}), runs=tmp_path / "runs"
    )
    assert len(teacher.vocabulary) != len(small.vocabulary)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objective": "selective"}, "use --normaliser sparsemax or entmax15"),
        ({"objective": "erasure", "decoder": "mlp"}, "use --decoder linear, or --alignment 0"),
        ({"objective": "unreplaceable", "heads": 2}, "two classes, one head and a linear decoder"),
        ({"objective": "diverse", "pooling": "mean"}, "is about attention"),
        ({"encoder": "pointer", "pooling": "max"}, "use --pooling attention"),
        ({"encoder": "pointer", "hierarchical": True}, "choose another encoder"),
    ],
)
def test_what_cannot_be_trained_so_is_refused(
    options: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=sentence):
        train(resolve({"dataset": "mock_1", "limit": 40, **options}), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


# Erasure


def test_the_effect_of_a_deletion_by_hand() -> None:
    weights = torch.tensor([[[0.5, 0.3, 0.2]]], dtype=torch.float64)
    says = torch.tensor([[[[2.0], [-1.0], [0.0]]]], dtype=torch.float64)
    found = erasure_effects(weights, says, torch.tensor([[0.7 + 0.1]], dtype=torch.float64))  # a bias of 0.1
    sigmoid = [1 / (1 + math.exp(-x)) for x in (0.8, -0.3 / 0.5 + 0.1, 1.0 / 0.7 + 0.1, 0.7 / 0.8 + 0.1)]
    assert found[0].tolist() == pytest.approx([abs(after - sigmoid[0]) for after in sigmoid[1:]])


@pytest.mark.parametrize("shape", [{}, {"heads": 2, "classes": 3}, {"encoder": "none"}])
def test_without_context_effects_are_leave_one_out(
    shape: dict[str, object], toy_classifier: Toy, toy_split: Splits
) -> None:
    classifier = toy_classifier(**{"encoder": "average", **shape})
    model = classifier.model.double()
    batch = classifier.instances(toy_split(classes=int(shape.get("classes", 2)))).batch(np.arange(6))  # type: ignore[call-overload]
    states = model.encode(model.embed(batch), batch)
    weights = model.attend(states)
    says = model.decoder.slopes(states.h, states.query)
    found = erasure_effects(weights, says, model.decode(states, weights)) * states.mask
    expected = EXPLAINERS.get("leave_one_out")(model, batch, seed=0)
    assert torch.allclose(found, expected, atol=1e-8)  # also of the text with one word, "dull"


def test_weights_that_are_the_effects_to_two_thirds_are_aligned() -> None:
    effects = torch.tensor([[0.512, 0.064, 0.0], [0.064, 0.512, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    weights = torch.tensor([[0.8, 0.2, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], dtype=torch.float64)
    found = misalignment(weights, effects)
    by_hand = 0.2 * math.log(0.4) + 0.8 * math.log(1.6)
    assert found.tolist() == pytest.approx([0.0, by_hand, 0.0])  # the last text has no effects to align with


def test_attention_follows_the_effects_and_words_do_not_fall_silent() -> None:
    """No slope of what the items say; of the scores one that leads to the order of the effects, not to one item."""
    torch.manual_seed(0)
    scores = torch.randn(8, 1, 6, dtype=torch.float64, requires_grad=True)
    says = torch.randn(8, 1, 6, dtype=torch.float64).requires_grad_()
    optimiser = torch.optim.Adam([scores], lr=0.05)

    def measure() -> tuple[Tensor, Tensor, Tensor]:
        weights = torch.softmax(scores, -1)
        effects = erasure_effects(weights, says[..., None], (weights * says).sum(-1) + 0.5)
        return misalignment(weights[:, 0], effects), weights[:, 0], effects

    for _ in range(500):
        optimiser.zero_grad()
        measure()[0].mean().backward()
        optimiser.step()
    assert says.grad is None
    after, weights, effects = measure()
    assert after.max() < 0.02 and weights.max() < 0.95
    top = weights.topk(2, dim=1).indices.sort(dim=1).values
    assert (top == effects.topk(2, dim=1).indices.sort(dim=1).values).double().mean() > 0.9


def test_top_items_are_the_shares_of_eraser() -> None:
    torch.manual_seed(0)
    mask = torch.arange(20)[None] < torch.tensor([20, 7, 1])[:, None]
    weights = torch.softmax(torch.randn(3, 20).masked_fill(~mask, -torch.inf), 1)
    seen: list[set[int]] = [set(), set(), set()]
    for _ in range(60):
        top = draw_top_items(weights, mask)
        assert not (top & ~mask).any()
        for row in range(3):
            least = weights[row][top[row]].min()
            assert (weights[row][mask[row] & ~top[row]] <= least).all()
            seen[row].add(int(top[row].sum()))
    assert seen == [{1, 2, 4, 10}, {1, 2, 4}, {1}]


def test_knowledge_is_nothing_for_a_uniform_prediction_and_all_for_a_sure_one() -> None:
    assert knowledge(torch.tensor([[0.0], [60.0], [-60.0]])).tolist() == pytest.approx([0, 1, 1])
    assert knowledge(torch.tensor([[1.0, 1.0, 1.0], [90.0, 0.0, 0.0]])).tolist() == pytest.approx(
        [0, 1], abs=1e-6
    )
    p = 1 / (1 + math.exp(-1.0))
    expected = 1 + (p * math.log(p) + (1 - p) * math.log(1 - p)) / math.log(2)
    assert knowledge(torch.tensor([[1.0]])).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shape", [{}, {"encoder": "pointer"}, {"hierarchical": True}, {"query": True}])
def test_what_is_left_of_a_text_is_read_as_by_the_audits(
    shape: dict[str, object], toy_classifier: Toy, toy_split: Splits
) -> None:
    objective, batch = made("erasure", toy_classifier, toy_split, shape)
    read = reading(objective, batch)
    keep = read.states.mask & (torch.rand(read.states.mask.shape) < 0.5)
    expected = probabilities_without(objective.model, batch, torch.arange(6), keep)
    found = probabilities(objective.model(with_only(objective.model, batch, keep)).logits)
    assert torch.allclose(found, expected, atol=1e-8)


def test_weights_of_what_is_left_move_only_where_context_counts(
    toy_classifier: Toy, toy_split: Splits
) -> None:
    """Without context the others keep their ratios whatever is deleted; a BiLSTM weighs them anew."""
    keep = torch.rand(6, 40, generator=torch.Generator().manual_seed(0)) < 0.5
    found = {}
    for encoder in ("average", "pointer"):
        objective, batch = made("erasure", toy_classifier, toy_split, {"encoder": encoder, "heads": 2})
        read = reading(objective, batch)
        kept = read.states.mask & keep[:, : read.states.mask.shape[1]]
        after = objective.model(with_only(objective.model, batch, kept)).weights
        found[encoder] = weights_moved(read.weights * kept[:, None], after, kept)
        assert (found[encoder][kept.sum(1) <= 1].abs() < 1e-12).all()
    assert found["average"].abs().max() < 1e-12 and found["pointer"].max() > 1e-3


def test_how_far_weights_moved_by_hand() -> None:
    before = torch.tensor([[[0.4, 0.0, 0.2]]], dtype=torch.float64)
    after = torch.tensor([[[1 / 3, 2 / 3]]], dtype=torch.float64)
    kept = torch.tensor([[True, False, True]])
    assert weights_moved(before, after.flip(-1), kept).item() == pytest.approx(0.0, abs=1e-12)
    p, q = torch.tensor([2 / 3, 1 / 3]), torch.tensor([1 / 3, 2 / 3])
    assert weights_moved(before, after, kept).item() == pytest.approx((kl(p, (p + q) / 2)).item(), abs=1e-6)


def test_nothing_is_asked_of_texts_whose_top_words_are_no_evidence(
    toy_classifier: Toy, toy_split: Splits
) -> None:
    """Where the top words alone give the wrong answer, what the others tell is not punished."""
    objective, batch = made("erasure", toy_classifier, toy_split, {"encoder": "average"})
    output = objective.model.decoder.output
    with torch.no_grad():
        output.bias.fill_(1e3)  # every text is called positive, whatever is left of it
    labels = batch.labels
    right = objective.terms(reading(objective, batch))["comprehensiveness"].item()
    assert right == pytest.approx(labels.double().mean().item())


# Selective


def test_spread_is_the_chance_of_two_items() -> None:
    weights = torch.tensor([[[1.0, 0.0, 0.0]], [[0.5, 0.5, 0.0]], [[0.25, 0.25, 0.5]]])
    assert weight_spread(weights).tolist() == pytest.approx([0.0, 0.5, 0.625])


def test_selected_words_alone_are_read_again_and_their_weights_get_a_slope(
    toy_classifier: Toy, toy_split: Splits
) -> None:
    objective, batch = made("selective", toy_classifier, toy_split, {})
    read = reading(objective, batch)
    selected = read.weights.mean(1) > 0
    assert (selected.sum(1) < read.states.mask.sum(1)).any()
    again = objective.model(with_only(objective.model, batch, selected)).logits
    found = objective.terms(read)["sufficiency"]
    assert found.item() == pytest.approx(objective.cross_entropy(again, batch).item(), abs=1e-12)
    (slope,) = torch.autograd.grad(found, read.weights)
    assert (slope[:, 0][selected] != 0).any() and (slope[:, 0][~selected] == 0).all()


# Diverse


def test_conicity_by_hand() -> None:
    h = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [9.0, 9.0]], [[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]])
    mask = torch.tensor([[True, True, False], [True, True, False]])
    assert conicity(h, mask).tolist() == pytest.approx([1.0, math.sqrt(0.5)])
    assert conicity(torch.zeros(1, 2, 3), torch.tensor([[False, False]])).tolist() == [0.0]


# Unreplaceable


@pytest.mark.parametrize("seed", range(5))
def test_the_farthest_heatmap_has_its_value_and_its_slope(seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    mask = torch.arange(7)[None] < torch.tensor([7, 5, 2, 1])[:, None]
    scores = torch.randn(4, 7, generator=random, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    says = torch.randn(4, 7, generator=random, dtype=torch.float64)
    expected = eps_max_jsd(torch.softmax(scores, 1), says, mask, 0.01).value
    assert torch.allclose(
        farthest_jsd(torch.softmax(scores, 1), says, mask, epsilon=0.01), expected, atol=1e-7
    )

    def exact(at: Tensor) -> Tensor:
        return eps_max_jsd(torch.softmax(scores, 1), at, mask, 0.01).value.sum()

    says.requires_grad_()
    (slope,) = torch.autograd.grad(
        farthest_jsd(torch.softmax(scores, 1), says, mask, epsilon=0.01).sum(), says
    )
    for row, item in mask.nonzero().tolist():
        step = torch.zeros_like(says)
        step[row, item] = 1e-6
        difference = (exact(says.detach() + step) - exact(says.detach() - step)) / 2e-6
        assert slope[row, item].item() == pytest.approx(difference.item(), abs=1e-4)


def test_the_slope_of_the_weights_is_that_of_the_exact_maximum() -> None:
    random = torch.Generator().manual_seed(1)
    scores = torch.randn(3, 6, generator=random, dtype=torch.float64).requires_grad_()
    says = torch.randn(3, 6, generator=random, dtype=torch.float64)
    mask = torch.ones(3, 6, dtype=torch.bool)
    (slope,) = torch.autograd.grad(
        farthest_jsd(torch.softmax(scores, 1), says, mask, epsilon=0.01).sum(), scores
    )
    for row, item in mask.nonzero().tolist():
        step = torch.zeros_like(scores)
        step[row, item] = 1e-6
        ends = [
            eps_max_jsd(torch.softmax(scores.detach() + way * step, 1), says, mask, 0.01).value.sum()
            for way in (1, -1)
        ]
        assert slope[row, item].item() == pytest.approx(((ends[0] - ends[1]) / 2e-6).item(), abs=1e-4)
