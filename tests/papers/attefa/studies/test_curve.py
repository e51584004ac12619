"""The curve: its geometry by hand, its answer, its labels, and what is trained, found and missing."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heedful.papers.attefa.studies.following
from heedful.cli.app import main
from heedful.papers.attefa.studies.answer import answer
from heedful.papers.attefa.studies.curve import height, mean_height, place, trace
from heedful.papers.attefa.studies.curve_figure import _apart, draw_curves
from heedful.papers.attefa.studies.run_study import Studied
from heedful.papers.attefa.studies.study import STUDIES
from heedful.training.twins import Twin

SHARES = st.floats(0, 1)


def studied(*points) -> Studied:
    return Studied(STUDIES.get("curve"), (), (), (), points)


def test_a_point_is_the_mean_of_its_twins_in_both_units():
    tests = [{"jsd": 0.2, "tvd": 0.1, "f1": 0.8}, {"jsd": 0.6, "tvd": 0.3, "f1": 0.6}]
    about = {"corpus": "sst2", "encoder": "bilstm", "value": "0.1", "strength": 0.1, "divergence": "kl"}
    found = place(tests, **about, base_f1=0.9, blind_tvd=0.4, classes=2)
    assert (found.jsd, found.jsd_least, found.jsd_most) == (pytest.approx(0.4), 0.2, 0.6)
    assert (found.tvd, found.tvd_least, found.tvd_most) == (pytest.approx(0.2), 0.1, 0.3)
    assert found.f1 == pytest.approx(0.7) and found.twins == 2
    assert found.papers_jsd == pytest.approx(0.4 * math.log(2)) and found.papers_tvd == pytest.approx(0.1)
    many = place(tests, **about, base_f1=0.9, blind_tvd=0.4, classes=3)
    assert many.papers_tvd is None


def test_the_curve_begins_at_the_base_and_leaves_attefa_aside(point):
    jsd, tvd = trace([point(0.8, 0.3), point(0.4, 0.1), point(0.9, 0.9, divergence="jsd")])
    assert jsd.tolist() == [0, 0.4, 0.8] and tvd.tolist() == [0, 0.1, 0.3]
    assert height(jsd, tvd, 0.6) == pytest.approx(0.2)
    assert height(jsd, tvd, 0.81) is None
    assert mean_height(jsd, tvd) == pytest.approx((0.4 * 0.05 + 0.4 * 0.2) / 0.8)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=8))
def test_heights_agree_with_a_fine_walk_along_the_curve(places):
    jsd, tvd = np.array([(0.0, 0.0), *sorted(places)]).T
    mean = mean_height(jsd, tvd)
    assert tvd.min() - 1e-9 <= mean <= tvd.max() + 1e-9
    if jsd[-1] > 1e-3:
        steps = (np.arange(500) + 0.5) / 500 * jsd[-1]
        assert mean == pytest.approx(np.mean([height(jsd, tvd, at) for at in steps]), abs=0.02)


def test_the_order_of_points_does_not_matter(point):
    points = [point(0.1, 0.0), point(0.5, 0.2), point(0.5, 0.1), point(0.9, 0.3)]
    first, second = trace(points), trace(points[::-1])
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_the_answer_tells_every_curve(point):
    one = [point(0.4, 0.1), point(0.8, 0.3), point(1.0, 0.0, divergence="jsd")]
    one = [replace(p, blind_tvd=0.3) for p in one]
    told = "predictions of mock_1 average move by a TVD of 0.150, 50 % of what reading nothing does, and by 0.125 on average up to a JSD of 0.80"
    half = "With attention half of the way to wholly elsewhere (JSD 0.5 of its bound), "
    assert answer(studied(*one)) == f"{half}{told}."
    short = [point(0.1, 0.1, corpus="mock_10"), point(0.2, 0.2, corpus="mock_10")]
    assert answer(studied(*one, *short)) == (
        f"{half}{told}; nothing is known of mock_10 average, where no twin went that far: predictions move by 0.100 on "
        "average up to a JSD of 0.20."
    )


def test_the_answer_says_nothing_of_one_point(point):
    nothing = "Nothing can be said: fewer than two values are measured."
    assert answer(studied(point(0.5, 0.1), point(0.9, 0.1, divergence="jsd"))) == nothing
    assert answer(studied()) == nothing


@given(st.lists(st.tuples(SHARES, SHARES), max_size=12))
def test_labels_do_not_hide_one_another(places):
    shown = [{"jsd": jsd, "tvd": tvd} for jsd, tvd in places]
    kept = _apart(shown, 1.0)
    assert kept[:1] == shown[:1]
    for i, one in enumerate(kept):
        for other in kept[:i]:
            assert abs(one["jsd"] - other["jsd"]) > 0.1 or abs(one["tvd"] - other["tvd"]) > 0.04


def test_the_figure_shows_lines_strengths_and_what_reading_nothing_gives(point):
    points = [
        point(0.5, 0.1, value="0.003"),
        point(0.9, 0.2, value="0.01"),
        point(1.0, 0.2, divergence="jsd"),
    ]
    drawn = draw_curves(studied(*points, point(0.7, 0.4, corpus="data/reviews.csv", value="7")))
    for words in (
        "mock_1 average",
        "reviews average",
        "λ 0.003",
        "λ 0.01",
        "λ 7",
        "reading nothing",
        "AtteFa",
    ):
        assert words in drawn
    assert draw_curves(studied()).startswith("<svg")


def test_what_is_finished_is_found_and_not_trained(curve, do, monkeypatch, recorder):
    runs, done = curve

    def never(*_, **__):
        raise AssertionError("nothing is left to train")

    monkeypatch.setattr(heedful.papers.attefa.studies.following, "train_twins", never)
    again = do("curve", runs, watcher=recorder)
    assert again.points == done.points
    assert not any(line.startswith("Training") for line in recorder.lines)
    assert do("curve", runs, only_finished=True).points == done.points


def test_a_twin_that_is_gone_is_missing_and_then_trained_alone_to_the_same_numbers(
    curve, do, monkeypatch, tmp_path, recorder
):
    done = curve[1]
    shutil.copytree(curve[0], tmp_path / "runs")
    gone = [
        config.parent
        for config in (tmp_path / "runs").glob("*/twins/*-seed50-*/config.yaml")
        if "divergence: kl" in config.read_text() and "strength: 0.001" in config.read_text()
    ]
    shutil.rmtree(gone[0])
    partly = do("curve", tmp_path / "runs", only_finished=True)
    assert partly.missing == (("mock_1 average λ 0.001", "1 of 2 twins not trained"),)
    assert [p.twins for p in partly.points] == [1, 2, 2]
    asked = []
    train = heedful.papers.attefa.studies.following.train_twins
    monkeypatch.setattr(
        heedful.papers.attefa.studies.following,
        "train_twins",
        lambda *a, **k: asked.append(k["seeds"]) or train(*a, **k),
    )
    again = do("curve", tmp_path / "runs", watcher=recorder)
    assert asked == [[50]]
    assert any(line.startswith("Training 1 twin for the curve, at most 80 epochs") for line in recorder.lines)
    assert again.points == done.points


def test_a_twin_that_diverges_is_named_and_not_averaged_in(curve, do, monkeypatch, tmp_path):
    shutil.copytree(curve[0], tmp_path / "runs")
    for twin in (tmp_path / "runs").glob("*/twins/*"):
        if "divergence: kl" in (twin / "config.yaml").read_text():
            shutil.rmtree(twin)

    def diverging(base: Path, *, seeds, **_):
        return [Twin(seed, None, "The loss is not a number.") for seed in seeds]

    monkeypatch.setattr(heedful.papers.attefa.studies.following, "train_twins", diverging)
    found = do("curve", tmp_path / "runs")
    assert [p.value for p in found.points] == ["AtteFa"]
    assert sum("diverged and is not averaged in: The loss" in note for note in found.notes) == 4
    assert answer(found).startswith("Nothing can be said")


def test_quick_takes_fewer_points_and_says_so(do, tmp_path):
    found = do("curve", tmp_path, quick=True, seeds=(10,))
    assert [p.value for p in found.points] == ["0.001", "AtteFa"]
    assert "Quick: 2 of 3 points; each is on all texts of test." in found.notes
    assert "Quick: 1 seed, 60 training texts, at most 1 epochs." in found.notes
    assert found.rows[0].texts == 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--dataset sst22", "sst22"),
        ("--encoder bilstn", "did you mean bilstm?"),
        ("--seeds 10", "choose from 1 to 9"),
        (
            "--only-finished",
            "None of the 2 runs is trained and audited (mock_1 encoder average seed 0: not trained)",
        ),
    ],
)
def test_bad_input_is_one_sentence(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["study", "curve", *words.split()])
    shown = capsys.readouterr()
    assert left.value.code == 2 and shown.out == ""
    assert said in " ".join(shown.err.split())
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in shown.err
