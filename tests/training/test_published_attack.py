"""A published attack as rounds of training ask for it: one row for every text, its name by what it does."""

from __future__ import annotations

import json

import pytest

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.constraints.places import NoWordTwice
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import own_synonyms
from heedful.attacks.searches.greedy import Greedy
from heedful.checking import build
from heedful.errors import BadInput
from heedful.training.published_attack import PublishedAttack
from heedful.training.rounds import NothingFound

assembled = []


def toy(options):
    assembled.append(options)
    return Attack(candidates=own_synonyms(options), constraints=(NoWordTwice(),), search=Greedy("deletion"))


@pytest.fixture
def attack(tmp_path, monkeypatch):
    list(ATTACKS)
    for name in ("_things", "_descriptions"):
        monkeypatch.setattr(ATTACKS, name, dict(getattr(ATTACKS, name)))
    ATTACKS.register("toy", "synonyms of a file")(toy)
    assembled.clear()
    path = tmp_path / "synonyms.json"
    path.write_text(json.dumps({"fine": ["dull"], "film": ["plot"], "dull": ["fine"]}), encoding="utf-8")

    def make(**options):
        return PublishedAttack(build(AttackOptions, {"recipe": "toy", "synonyms": str(path), **options}))

    return make


def test_every_text_has_its_row_also_without_a_word(attack, toy_classifier):
    classifier = toy_classifier(encoder="average")
    texts = ["a fine film", "?!", "dull film", "..."]
    labels = [classifier.predict([text])[0].label == "class 1" for text in texts]
    found = attack()(texts, [int(label) for label in labels], classifier)
    assert found.originals == texts and found.rows.tolist() == [0, 1, 2, 3]
    assert [found.statuses[place] for place in (1, 3)] == ["skipped", "skipped"]
    assert [found.attacked[place] for place in (1, 3)] == ["?!", "..."]
    assert {found.statuses[place] for place in (0, 2)} <= {"successful", "failed"}
    nothing = attack()(["...", "!"], [0, 1], classifier)
    assert nothing.attacked == ["...", "!"]


def test_where_no_word_has_a_candidate_the_texts_come_with_the_sentence(attack, toy_classifier):
    classifier = toy_classifier(encoder="average")
    label = int(classifier.predict(["old"])[0].label == "class 1")
    with pytest.raises(NothingFound, match="finds no candidate for any word of these 2 texts") as found:
        attack()(["old", "...", "warm"], [label, 1, label], classifier)
    assert found.value.texts.attacked == ["old", "...", "warm"]
    assert found.value.texts.statuses[0] == "failed"


def test_it_is_assembled_once(attack, toy_classifier):
    made, classifier = attack(), toy_classifier(encoder="average")
    for _ in range(3):
        made(["a fine film"], [0], classifier)
    assert len(assembled) == 1


def test_its_name_follows_what_it_does_and_not_where_files_lie(attack, tmp_path):
    (tmp_path / "copy.json").write_bytes((tmp_path / "synonyms.json").read_bytes())
    assert attack().name == attack(synonyms=str(tmp_path / "copy.json")).name
    assert attack().name != attack(max_changed=0.5).name
    assert attack().name == attack(limit=3).name


@pytest.mark.parametrize("option", ["language_model", "sentence_encoder"])
def test_models_count_by_what_they_hold(attack, tmp_path, option):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_text("weights")
    here, there = (attack(**{option: str(tmp_path / name)}).name for name in ("here", "there"))
    assert here == there != attack().name
    (tmp_path / "here" / "model.safetensors").write_text("other weights")
    assert attack(**{option: str(tmp_path / "here")}).name != there


def test_a_misspelt_attack_is_one_sentence():
    with pytest.raises(BadInput, match="There is no attack named 'textfoller': did you mean textfooler"):
        PublishedAttack(build(AttackOptions, {"recipe": "textfoller"}))
