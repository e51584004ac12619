"""Try it: what is answered is what the model's stages say."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from tests.explorer.conftest import client_of

import heedful
from heedful.explorer.naming import shelf_named
from heedful.measures.flips import smallest_flip_set
from heedful.models.stages import probabilities

Ask = Callable[..., Any]
TEXT = "film 3 was lovely and great ."


def softly(runs: Any, name: str, text: str, weights: list[float]) -> list[float]:
    """Decode by hand: every head has the same weights."""
    model = heedful.load(runs.folder / name)
    net = model.model.eval()
    batch = model.batch([text])
    with torch.no_grad():
        states = net.encode(net.embed(batch), batch)
        own = net.attend(states)
        given = torch.tensor(weights)[None, None].expand_as(own) / sum(weights)
        return probabilities(net.decode(states, given))[0].tolist()


def test_a_text_is_read_as_predict_reads_it(ask: Ask, runs: Any) -> None:
    found = ask("/read", {"text": TEXT})
    (predicted,) = heedful.load(runs.folder / runs.plain).predict([TEXT])
    assert found["predicted"] == predicted.label
    assert found["probabilities"] == pytest.approx(list(predicted.probabilities.values()), abs=1e-6)
    assert found["weights"] == pytest.approx([item.weight for item in predicted.items], abs=1e-6)
    assert found["parts"][1::2] == [TEXT[i.start : i.end] for i in predicted.items]
    assert "".join(found["parts"]) == TEXT
    assert (found["movable"], found["heads"], found["linear"], found["unit"]) == (True, 1, True, "word")


@pytest.mark.parametrize("which", ["plain", "heads"])
def test_given_weights_are_decoded_with_the_states_as_they_were(ask: Ask, runs: Any, which: str) -> None:
    name = getattr(runs, which)
    weights = [3.0, 0.0, 1.0, 0.0, 0.0, 5.0, 0.25]
    found = ask("/weights", {"text": TEXT, "weights": weights, "alike": True}, model=name)
    assert found["probabilities"] == pytest.approx(softly(runs, name, TEXT, weights), abs=1e-5)
    assert found["weights"] == pytest.approx([w / 9.25 for w in weights], abs=1e-9)
    own = ask("/read", {"text": TEXT}, model=name)["probabilities"]
    moved = sum(abs(a - b) for a, b in zip(found["probabilities"], own, strict=True)) / 2
    assert found["change"] == pytest.approx(moved, abs=1e-6)


@pytest.mark.parametrize("which", ["plain", "heads"])
def test_weights_that_nobody_touched_are_the_models_own(ask: Ask, runs: Any, which: str) -> None:
    name = getattr(runs, which)
    read = ask("/read", {"text": TEXT}, model=name)
    for scale in (1.0, 7.5):
        given = [scale * weight for weight in read["weights"]]
        found = ask("/weights", {"text": TEXT, "weights": given}, model=name)
        assert found["probabilities"] == pytest.approx(read["probabilities"], abs=1e-6)
        assert found["far"] == pytest.approx(0, abs=1e-6)


def test_no_weight_at_all_leaves_the_decoder_alone(ask: Ask) -> None:
    a = ask("/weights", {"text": TEXT, "weights": [0.0] * 7})
    b = ask("/weights", {"text": "dull and slow and grim .", "weights": [0.0] * 6})
    assert a["probabilities"] == pytest.approx(b["probabilities"], abs=1e-9)
    assert sum(a["weights"]) == 0


@pytest.mark.parametrize("smallest", [5e-324, 1e-300, 1e9])
def test_extreme_weights_are_still_weights(ask: Ask, smallest: float) -> None:
    found = ask("/weights", {"text": TEXT, "weights": [smallest] * 7})
    assert found["weights"] == pytest.approx([1 / 7] * 7)


def test_buttons_that_change_nothing_or_everything(ask: Ask, runs: Any) -> None:
    read = ask("/read", {"text": TEXT})
    own = ask("/button", {"text": TEXT, "how": "own"})
    assert own["probabilities"] == pytest.approx(read["probabilities"], abs=1e-6)
    flat = ask("/button", {"text": TEXT, "how": "uniform"})
    assert flat["weights"] == pytest.approx([1 / 7] * 7)
    assert flat["probabilities"] == pytest.approx(softly(runs, runs.plain, TEXT, [1.0] * 7), abs=1e-5)
    shuffled = ask("/button", {"text": TEXT, "how": "shuffled", "seed": 3})
    assert sorted(shuffled["weights"]) == pytest.approx(sorted(read["weights"]))
    assert shuffled == ask("/button", {"text": TEXT, "how": "shuffled", "seed": 3})
    assert shuffled["weights"] != ask("/button", {"text": TEXT, "how": "shuffled", "seed": 4})["weights"]


def test_the_farthest_heatmap_gives_the_same_answer_and_none_is_farther(ask: Ask, runs: Any) -> None:
    found = ask("/button", {"text": TEXT, "how": "counterfactual"})
    assert found["change"] <= 0.01 + 1e-9
    assert found["same"]
    assert "This is exact" in found["says"]
    again = softly(runs, runs.plain, TEXT, found["weights"])
    assert again == pytest.approx(found["probabilities"], abs=1e-5)
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.full(7, 0.2), 200):
        other = ask("/weights", {"text": TEXT, "weights": weights.tolist()})
        assert other["change"] > 0.01 or other["far"] <= found["far"] + 1e-6


def test_the_farthest_heatmap_of_several_heads_is_searched_and_said_to_be(ask: Ask, runs: Any) -> None:
    found = ask("/button", {"text": TEXT, "how": "counterfactual"}, model=runs.heads)
    assert found["change"] <= 0.01 + 1e-6
    assert "There may be farther ones" in found["says"]


def test_the_smallest_set_flips_and_no_smaller_one_does(ask: Ask) -> None:
    from itertools import combinations

    read = ask("/read", {"text": TEXT})
    found = ask("/button", {"text": TEXT, "how": "flip_set"})
    gone = [i for i, w in enumerate(found["weights"]) if w == 0]
    if "never" in found["says"] or "No erasure" in found["says"]:
        sizes = range(1, 7)
    else:
        assert not found["same"]
        sizes = range(1, len(gone))
    for size in sizes:
        for erased in combinations(range(7), size):
            weights = [0.0 if i in erased else w for i, w in enumerate(read["weights"])]
            assert ask("/weights", {"text": TEXT, "weights": weights})["same"], erased


def test_an_explainers_scores_are_weights_without_signs(ask: Ask) -> None:
    scores = ask("/read", {"text": TEXT, "source": "leave_one_out"})
    found = ask("/button", {"text": TEXT, "how": "explainer", "explainer": "leave_one_out"})
    sizes = [abs(score) for score in scores["weights"]]
    assert found["weights"] == pytest.approx([size / sum(sizes) for size in sizes], abs=1e-6)


def test_a_twins_attention_under_this_models_states(own_runs: Any) -> None:
    from fastapi.testclient import TestClient

    from heedful.explorer.application import make_application
    from heedful.explorer.naming import shelf_named

    options = {"embedding_size": 8, "hidden": 4, "epochs": 1, "progress": False, "seed": 1}
    home = own_runs.folder / own_runs.plain
    twin = heedful.train(str(own_runs.data), runs=home / "twins", **options)
    app = make_application(shelf_named([], runs=own_runs.folder), token="t", port=80)
    with TestClient(app, base_url="http://127.0.0.1", headers={"authorization": "Bearer t"}) as client:
        path = f"/api/models/{own_runs.plain}"
        assert client.get(path).json()["twins"] == [twin.name]
        found = client.post(f"{path}/button", json={"text": TEXT, "how": "twin", "twin": twin.name}).json()
        (itself,) = twin.predict([TEXT])
        weights = [item.weight for item in itself.items]
        assert found["weights"] == pytest.approx(weights, abs=1e-5)
        assert found["probabilities"] == pytest.approx(
            softly(own_runs, own_runs.plain, TEXT, weights), abs=1e-4
        )
        assert f"itself says {itself.label}" in found["says"]
        wrong = client.post(f"{path}/button", json={"text": TEXT, "how": "twin", "twin": "nobody"})
        assert wrong.status_code == 422
        assert twin.name in wrong.json()["error"]


def test_without_a_twin_it_is_said_how_to_train_one(ask: Ask) -> None:
    assert "--only imitation" in ask("/button", {"text": TEXT, "how": "twin"}, status=422)["error"]


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ([(3, "")], "film 3 was and great ."),
        ([(3, "dull")], "film 3 was dull and great ."),
        ([(0, ""), (6, "")], "3 was lovely and great"),
        ([(5, "  not  so great ")], "film 3 was lovely and not  so great ."),
    ],
)
def test_words_are_changed_in_the_text_and_in_the_weights(
    ask: Ask, changes: list[tuple[int, str]], changed: str
) -> None:
    read = ask("/read", {"text": TEXT})
    asked = [{"word": word, "to": to} for word, to in changes]
    found = ask("/words", {"text": TEXT, "changes": asked})
    assert found["real"]["text"] == changed
    assert found["real"]["probabilities"] == pytest.approx(ask("/read", {"text": changed})["probabilities"])
    weights = [0.0 if i in dict(changes) else w for i, w in enumerate(read["weights"])]
    zeroed = ask("/weights", {"text": TEXT, "weights": weights})
    assert found["attention"]["probabilities"] == pytest.approx(zeroed["probabilities"], abs=1e-6)


def test_a_model_without_attention_is_read_and_not_moved(ask: Ask, runs: Any) -> None:
    found = ask("/read", {"text": TEXT}, model=runs.mean)
    assert (found["movable"], found["heads"], found["source"]) == (False, 0, "leave_one_out")
    assert (
        "no attention"
        in ask("/weights", {"text": TEXT, "weights": [1.0] * 7}, model=runs.mean, status=422)["error"]
    )
    assert ask("/words", {"text": TEXT, "changes": [{"word": 0}]}, model=runs.mean)["attention"] is None
    assert "no attention" in ask("", model=runs.mean)["cannot"][0]


@pytest.mark.parametrize(
    ("what", "body", "says"),
    [
        ("/read", {"text": "   "}, "no word"),
        ("/read", {"text": ""}, "text"),
        ("/read", {"text": "good", "query": "is it?"}, "leave out the query"),
        ("/read", {"text": "good film", "source": "attentoin"}, "did you mean attention?"),
        ("/read", {"text": "good", "nonsense": 1}, "nonsense"),
        ("/weights", {"text": TEXT, "weights": [1.0]}, "7 words"),
        ("/weights", {"text": TEXT, "weights": [-1.0] * 7}, "greater than or equal to 0"),
        ("/button", {"text": TEXT, "how": "sideways"}, "uniform"),
        ("/button", {"text": "film", "how": "counterfactual"}, "one item only"),
        ("/words", {"text": TEXT, "changes": []}, "at least 1"),
        ("/words", {"text": TEXT, "changes": [{"word": 99}]}, "no word 99"),
        ("/words", {"text": "film", "changes": [{"word": 0}]}, "Nothing would be left"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(ask: Ask, what: str, body: Any, says: str) -> None:
    found = ask(what, body, status=422)
    assert list(found) == ["error"]
    assert says in found["error"]
    assert "\n" not in found["error"]


def test_texts_are_found_by_their_words_and_labels(ask: Ask) -> None:
    every = ask("/texts", limit=100)
    assert every["count"] == every["of"] == len(every["texts"])
    some = ask("/texts", words="DULL")
    assert 0 < some["count"] < every["count"]
    assert all("dull" in line["text"] for line in some["texts"])
    good = ask("/texts", label="pos", limit=100)["texts"]
    assert good
    assert all(line["label"] == "pos" for line in good)
    assert ask("/texts", offset=10**6)["texts"] == []


def test_a_name_that_nobody_has_is_not_here(ask: Ask, runs: Any) -> None:
    assert "did you mean" in ask("/read", {"text": "a"}, model=runs.plain[:-1], status=404)["error"]


def test_weights_wait_for_a_model_that_is_asked_something_and_nobody_waits_for_them(runs: Any) -> None:
    """Weights are decoded at once where the model is free; otherwise later, with the same answer, and the server goes on."""
    shelf = shelf_named([], runs=runs.folder)
    with client_of(shelf) as client:
        path = f"/api/models/{runs.plain}"
        words = len(client.post(f"{path}/read", json={"text": TEXT}).json()["weights"])
        body = {"text": TEXT, "weights": [1.0] * words}
        free = client.post(f"{path}/weights", json=body)
        assert free.status_code == 200
        late: list[Any] = []
        asked = Thread(target=lambda: late.append(client.post(f"{path}/weights", json=body)))
        with shelf.opened(runs.plain):
            asked.start()
            asked.join(0.3)
            assert asked.is_alive()
            assert client.get("/api/models").status_code == 200
            assert not late
        asked.join(60)
        assert late[0].json() == free.json()
        forgotten = body | {"text": f"{TEXT} anew", "weights": [1.0] * (words + 1)}
        assert client.post(f"{path}/weights", json=forgotten).status_code == 200


def test_what_a_button_found_is_told_in_words_that_people_use(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = ask("/button", {"text": TEXT, "how": "explainer", "explainer": "leave_one_out"})["says"]
    assert says.startswith("The scores of leave-one-out,")
    usual = ask("/button", {"text": TEXT, "how": "flip_set"})
    assert any(usual["weights"]) and "bias" not in usual["says"]

    def whole(weights: Any, logits: Any, mask: Any, empty: Any) -> Any:
        found = smallest_flip_set(weights, logits, mask, empty)
        everything = {"flips": torch.ones(1, dtype=torch.bool), "size": mask.sum(1), "members": mask}
        return found._replace(**everything)

    monkeypatch.setattr("heedful.explorer.other_weights.smallest_flip_set", whole)
    found = ask("/button", {"text": TEXT, "how": "flip_set"})
    assert not any(found["weights"])
    assert found["says"].endswith("then nothing but the decoder’s bias decides. This is exact.")
