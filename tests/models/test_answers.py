from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.errors import BadInput
from heedful.models.answers import Answers


def fair(texts):
    return [[0.5, 0.5] for _ in texts]


class Recorded:
    """A function that remembers what it was asked, and fails as often as it is told."""

    def __init__(self, *failures):
        self.calls, self.failures = [], list(failures)

    def __call__(self, texts):
        self.calls.append(list(texts))
        if self.failures:
            raise self.failures.pop(0)
        return [[len(text) / 10, 1 - len(text) / 10] for text in texts]


def test_a_text_is_asked_once_in_batches_and_every_answer_stands_at_its_text():
    function = Recorded()
    answers = Answers(function, batch_size=2)
    assert answers.ask(["abc", "a", "abc", "ab"])[:, 0].tolist() == pytest.approx([0.3, 0.1, 0.3, 0.2])
    assert answers.ask(["ab", "abcd"])[:, 0].tolist() == pytest.approx([0.2, 0.4])
    assert function.calls == [["abc", "a"], ["ab"], ["abcd"]]
    assert answers.asked == 4


def test_a_function_that_was_busy_is_asked_again():
    function = Recorded(ConnectionError("busy"), TimeoutError())
    answers = Answers(function, pauses=(0, 0))
    assert answers.ask(["a"]).tolist() == [[0.1, 0.9]]
    assert (len(function.calls), answers.asked, answers.repeated) == (3, 1, 2)


def test_a_function_that_stays_away_is_an_error_with_its_own_message():
    function = Recorded(*[ConnectionError("the line is dead")] * 3)
    with pytest.raises(BadInput, match=r"failed on 1 texts .*'a'.* ConnectionError: the line is dead"):
        Answers(function, pauses=(0, 0)).ask(["a"])
    assert len(function.calls) == 3


def test_a_mistake_is_not_tried_again():
    function = Recorded(TypeError("no such argument"))
    with pytest.raises(BadInput, match="no such argument"):
        Answers(function, pauses=(60,)).ask(["a"])
    assert len(function.calls) == 1


def test_a_function_that_ends_the_program_ends_only_the_audit():
    function = Recorded(SystemExit(3))
    with pytest.raises(BadInput, match=r"failed on 1 texts .* with SystemExit: 3"):
        Answers(function, pauses=(60,)).ask(["a"])


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_any_precision_are_numbers(kind):
    answers = Answers(lambda texts: torch.tensor([[0.25, 0.75]] * len(texts), dtype=kind, requires_grad=True))
    assert answers.ask(["a", "b"]).tolist() == [[0.25, 0.75]] * 2


@pytest.mark.parametrize(
    "given", [torch.tensor([[0.6, 0.0]]).bfloat16().softmax(-1), [[0.33, 0.33, 0.33]], [[0.335, 0.675]]]
)
def test_rounded_probabilities_are_scaled_to_sum_to_one(given):
    plain = np.asarray(torch.as_tensor(given).double())
    assert abs(plain.sum() - 1) > 1e-3
    assert Answers(lambda texts: given).ask(["a"]) == pytest.approx(plain / plain.sum(), abs=1e-7)


def test_a_function_that_cannot_read_nothing_is_told_that_it_must():
    def fails_on_nothing(texts):
        if "" in texts:
            raise ValueError("empty")
        return fair(texts)

    with pytest.raises(BadInput, match="must answer that too"):
        Answers(fails_on_nothing, pauses=()).ask(["a", ""])


def test_an_answer_that_changes_is_refused():
    random = np.random.default_rng(0)

    def dropout(texts):
        p = random.uniform(size=len(texts))
        return np.stack([p, 1 - p], axis=1)

    with pytest.raises(BadInput, match="changes its answer to the same text"):
        Answers(dropout).check(["one", "two"])


def test_an_answer_that_depends_on_the_texts_beside_it_is_refused():
    def by_batch(texts):
        return [[1 / (1 + len(texts)), len(texts) / (1 + len(texts))] for _ in texts]

    with pytest.raises(BadInput, match="changes its answer"):
        Answers(by_batch).check(["one", "two", "three"])


def test_rounding_is_no_change():
    random = np.random.default_rng(0)

    def single(texts):
        p = 0.5 + random.uniform(-1e-5, 1e-5, size=len(texts))
        return np.stack([p, 1 - p], axis=1)

    Answers(single).check(["one", "two"])


def test_another_number_of_classes_is_refused():
    def grows(texts):
        return [[1 / len(text)] * len(text) for text in texts]

    answers = Answers(grows)
    answers.ask(["ab"])
    with pytest.raises(BadInput, match="gave 2 probabilities for some texts and 3 for others"):
        answers.ask(["abc"])
