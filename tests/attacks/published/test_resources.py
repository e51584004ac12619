"""Every published attack is found, and says in one sentence what it lacks."""

from __future__ import annotations

import pytest

import heedful
from heedful.attacks.attack import ATTACKS
from heedful.attacks.options import AttackOptions
from heedful.attacks.published.bae import _SIMILARITY
from heedful.errors import BadInput

ALL = ("bae", "clare", "genetic", "genetic_faster", "iga", "pso", "pwws", "textfooler")


def test_all_are_registered_and_say_what_is_followed():
    assert set(ALL) <= set(ATTACKS)
    for name in ALL:
        assert "Followed" in (ATTACKS.get(name).__doc__ or "")


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        ("genetic", "counter-fitted vectors"),
        ("genetic_faster", "counter-fitted vectors"),
        ("iga", "counter-fitted vectors"),
        ("pso", "HowNet.*--sememes FILE"),
        ("bae", "--language-model FOLDER"),
        ("clare", "--language-model FOLDER"),
    ],
)
def test_what_is_not_at_hand_is_said_in_a_sentence(recipe, says, votes, tmp_path):
    with pytest.raises(BadInput, match=says) as raised:
        heedful.attack(votes, ["a fine film"], recipe=recipe, progress=False, folder=tmp_path / "kept")
    assert "\n" not in str(raised.value) and not (tmp_path / "kept").exists()


@pytest.mark.parametrize("recipe", ["genetic", "genetic_faster"])
def test_a_missing_language_model_is_said_and_may_be_left_out(recipe, synonyms_file, votes, asset):
    asset("wordnet")
    options = {"recipe": recipe, "synonyms": str(synonyms_file), "progress": False}
    with pytest.raises(BadInput, match="--no-fluency"):
        heedful.attack(votes, ["a fine film"], **options)
    result = heedful.attack(votes, ["a fine film"], fluency=False, **options)
    assert result.about.options["fluency"] is False and result.numbers.texts == 1


def test_sememes_of_a_file_that_is_not_there():
    with pytest.raises(BadInput, match=r"no file nowhere\.tsv"):
        ATTACKS.get("pso")(AttackOptions(recipe="pso", sememes="nowhere.tsv"))


def test_baes_threshold_is_an_angular_similarity():
    # 1 - arccos >= .8 without π is an angle of .2, and a cosine of .98: not a cosine of .936, as in TextAttack.
    import math

    assert math.cos(math.pi * (1 - _SIMILARITY)) == pytest.approx(math.cos(0.2))
