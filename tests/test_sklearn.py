"""The estimator keeps scikit-learn's promises: its own checks, on numbers spelled as words, and its tools, on texts."""

# ruff: noqa: N803, N806 scikit-learn calls texts X

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import heedful
from heedful.sklearn import AttentionClassifier

GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")
TEXTS = [f"film was {(BAD, GOOD)[i % 2][i % 4]} and {(BAD, GOOD)[i % 2][i // 4 % 4]} ." for i in range(60)]
LABELS = np.array(["bad", "good"] * 30)
SMALL = {"embedding_size": 8, "epochs": 16, "learning_rate": 0.05, "batch_size": 8}


class OnNumbers(AttentionClassifier):
    """The estimator on rows of numbers, each spelled as words: scikit-learn's checks know no other input."""

    def fit(self, X, y=None):
        if y is None:
            return super().fit(["a"], None)
        X, y = validate_data(self, X, y)
        self.steps_ = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)
        return super().fit(self._spelled(X), y)

    def predict_proba(self, X):
        check_is_fitted(self)
        return super().predict_proba(self._spelled(validate_data(self, X, reset=False)))

    def _spelled(self, X):
        levels = (X[:, None] > self.steps_).sum(1)
        return [" ".join(f"x{place}is{level}" for place, level in enumerate(row)) for row in levels]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = True, False, False
        return tags


@pytest.mark.slow
@parametrize_with_checks([OnNumbers("average", hidden=8, **SMALL)])  # none is expected to fail
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted() -> AttentionClassifier:
    return AttentionClassifier("average", hidden=8, **SMALL).fit(TEXTS, LABELS)


def test_it_learns_and_gives_labels_of_the_kind_it_was_given(fitted):
    assert fitted.classes_.tolist() == ["bad", "good"]
    assert fitted.score(TEXTS, LABELS) > 0.9
    numbers = AttentionClassifier("average", hidden=8, **SMALL).fit(TEXTS, np.where(LABELS == "good", 7, -2))
    assert numbers.predict(TEXTS[:4]).tolist() == [-2, 7, -2, 7]
    np.testing.assert_allclose(numbers.predict_proba(TEXTS).sum(1), 1, atol=1e-6)
    assert (numbers.predict_proba(TEXTS) == fitted.predict_proba(TEXTS)).all()


def test_more_than_ten_classes_named_by_numbers_stay_apart():
    words = [chr(97 + number) * 3 for number in range(12)]
    texts, labels = words * 6, [str(number) for number in range(12)] * 6
    many = AttentionClassifier("none", **SMALL | {"epochs": 30}).fit(texts, labels)
    assert many.predict(words).tolist() == [str(number) for number in range(12)]


@pytest.mark.parametrize("make", [np.array, tuple, pl.Series, lambda texts: pl.DataFrame({"text": texts})])
def test_texts_come_in_any_container(fitted, make):
    assert (fitted.predict(make(TEXTS)) == fitted.predict(TEXTS)).all()


def test_a_clone_is_untrained_and_has_the_same_options(fitted):
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        again.predict(TEXTS)


def test_a_pickle_holds_the_same_model(fitted, monkeypatch):
    written = pickle.dumps(fitted)
    assert b"heedful.models" not in written  # weights and words as files, and no object of ours
    again = pickle.loads(written)
    assert (again.predict_proba(TEXTS) == fitted.predict_proba(TEXTS)).all()
    assert pickle.loads(pickle.dumps(clone(fitted))).get_params() == fitted.get_params()


def test_pipelines_and_grids(fitted):
    pipeline = Pipeline(
        [("lower", FunctionTransformer(lambda X: [text.lower() for text in X])), ("model", clone(fitted))]
    )
    grid = GridSearchCV(
        pipeline, {"model__epochs": [1, 16], "model__encoder": ["average"]}, cv=2, error_score="raise"
    )
    grid.fit(TEXTS, LABELS)
    assert grid.best_params_["model__epochs"] == 16 and grid.best_score_ > 0.8
    assert cross_val_score(clone(fitted), TEXTS, LABELS, cv=2, error_score="raise").min() > 0.8


def test_all_of_heedful_takes_it_for_a_model(fitted):
    found = heedful.audit(fitted, TEXTS, only=["sharpness"], progress=False)
    assert found.about.source == "attention" and found.about.labels == ("bad", "good")
    assert [p.label for p in heedful.predict(fitted, TEXTS)] == fitted.predict(TEXTS).tolist()
    assert fitted.explain(TEXTS[:2], "leave_one_out").scored_by == "leave_one_out"
    whole = Pipeline([("model", fitted)])
    assert heedful.explain(whole, TEXTS[:1])[0].label == "bad"  # of a pipeline predictions alone are known


def test_nothing_is_left_on_disk_but_where_that_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    AttentionClassifier("average", hidden=8, **SMALL).fit(TEXTS, LABELS)
    assert list(tmp_path.rglob("*")) == [tmp_path / "temporary"]
    kept = AttentionClassifier("average", hidden=8, runs=tmp_path / "runs", **SMALL).fit(TEXTS, LABELS)
    assert kept.classifier_.run is not None and kept.classifier_.run.parent == tmp_path / "runs"
    assert heedful.load(kept.classifier_.run).predict(TEXTS[:1])[0].label == "bad"


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (TEXTS, None, "requires y to be passed"),
        (TEXTS, ["same"] * 60, "one class"),
        (TEXTS, LABELS[:3], "inconsistent numbers of samples"),
        ("one text", ["a"], "put the one"),
        ([3, 4], [0, 1], "Text 1 is a int"),
        ([], [], "0 samples"),
        (["fine", ""], [0, 1], "no text"),
    ],
)
def test_bad_input_is_a_value_error(X, y, said):
    with pytest.raises(ValueError, match=said):
        AttentionClassifier("average", **SMALL).fit(X, y)


def test_a_wrong_option_is_said_with_its_name():
    with pytest.raises(ValueError, match="did you mean"):
        AttentionClassifier("averag", **SMALL).fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="There is no option 'epoch'"):
        AttentionClassifier(options={"epoch": 2}).fit(TEXTS, LABELS)
