"""A classifier with attention as an estimator of scikit-learn: for pipelines, grid search and cross-validation.

>>> from heedful.sklearn import AttentionClassifier
>>> AttentionClassifier("average", epochs=3).get_params()["epochs"]
3
"""

# ruff: noqa: N803 scikit-learn calls texts X

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from heedful.errors import BadInput

if TYPE_CHECKING:
    from heedful.models.classifier import Classifier
    from heedful.models.prediction import Predictions

__all__ = ["AttentionClassifier"]


class AttentionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Reads texts and gives labels, as `heedful.train` makes it.

    What is None is as heedful has it by itself; `options` holds further ones of `heedful train --help`. A share of the texts
    (`dev_fraction`) selects the epoch. Without `runs`, a folder, nothing is kept on disk. After `fit`, `classifier_` is
    what all of heedful takes for a model: `heedful.audit(estimator, texts)`.
    """

    def __init__(
        self,
        encoder: str | None = None,
        *,
        objective: str | None = None,
        preset: str | None = None,
        hidden: int | None = None,
        vectors: str | Path | None = None,
        embedding_size: int | None = None,
        train_embeddings: bool | None = None,
        min_count: int | None = None,
        max_length: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        dev_fraction: float = 0.1,
        options: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        runs: str | Path | None = None,
    ) -> None:
        self.encoder = encoder
        self.objective = objective
        self.preset = preset
        self.hidden = hidden
        self.vectors = vectors
        self.embedding_size = embedding_size
        self.train_embeddings = train_embeddings
        self.min_count = min_count
        self.max_length = max_length
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dev_fraction = dev_fraction
        self.options = options
        self.random_state = random_state
        self.runs = runs

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Train on texts (a list, an array, a column of a frame) and their labels, of any kind."""
        from heedful.training.train import resolve, train

        texts = self._texts(X)
        numbers = self._read_labels(texts, y)
        with _as_value_error(), self._folder() as folder:
            kept = _laid_out(texts, numbers, self.classes_, share=self.dev_fraction, folder=folder)
            config = resolve({"dataset": str(kept.folder), **self._options()})
            kept.write()
            trained = train(config, runs=folder)
        self.classifier_ = trained if self.runs is not None else replace(trained, run=None)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the label of every text."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probabilities of texts [texts, classes], in the order of `classes_`."""
        check_is_fitted(self)
        texts = self._texts(X)
        with _as_value_error():
            return self.attending_classifier().predict_proba(texts)

    def explain(self, X: Any, explainer: str | None = None) -> Predictions:
        """Classify texts and score every word: by attention, or by an explainer (`heedful list explainers`)."""
        from heedful.explainers.explain import explain

        check_is_fitted(self)
        texts = self._texts(X)
        with _as_value_error():
            return explain(self.attending_classifier(), texts, explainer)

    def attending_classifier(self) -> Classifier:
        """Give what was trained: all of heedful takes it for a model."""
        check_is_fitted(self)
        found: Classifier = self.classifier_
        return found

    def _texts(self, X: Any) -> list[str]:
        """Take texts, from whatever holds them."""
        from heedful.data.corpora.given import texts_given

        with _as_value_error():
            texts, queries = texts_given(X)
        if queries is not None:
            raise ValueError("AttentionClassifier reads single texts, and there is a query beside each.")
        if not texts:
            raise ValueError("There is no text: 0 samples were given, and at least 1 is needed.")
        return texts

    def _read_labels(self, texts: Sequence[str], y: ArrayLike | None) -> NDArray[np.int64]:
        """Number the labels, and remember what they are."""
        if y is None:
            raise ValueError("AttentionClassifier requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(texts, labels)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"A classifier needs texts of two classes, and there is one class only: {labels[0]!r}."
            )
        return np.asarray(numbers, dtype=np.int64)

    def _options(self) -> dict[str, Any]:
        """Give the options of training that were chosen."""
        apart = ("dev_fraction", "options", "random_state", "runs")
        chosen = {k: v for k, v in self.get_params(deep=False).items() if k not in apart and v is not None}
        state = self.random_state
        seed = state if isinstance(state, int | np.integer) else check_random_state(state).randint(2**31 - 1)
        return {**chosen, "seed": int(seed), **(self.options or {})}

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Give the folder of runs, or one that is gone afterwards."""
        if self.runs is not None:
            yield Path(self.runs)
            return
        with tempfile.TemporaryDirectory(prefix="heedful-") as folder:
            yield Path(folder)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """What pickle writes: of the trained model, its files as bytes, which are data and run nothing when they are read."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "classifier_" in state:
            with tempfile.TemporaryDirectory(prefix="heedful-") as folder:
                state["classifier_"].save_pretrained(folder)
                state["classifier_"] = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read the model from its files."""
        files = state.get("classifier_")
        if isinstance(files, Mapping):
            from heedful.models.classifier import Classifier

            with tempfile.TemporaryDirectory(prefix="heedful-") as folder:
                for name, content in files.items():
                    (Path(folder) / Path(name).name).write_bytes(content)
                state = {**state, "classifier_": replace(Classifier.from_pretrained(folder), run=None)}
        super().__setstate__(state)


@contextmanager
def _as_value_error() -> Iterator[None]:
    """Raise what scikit-learn expects where input is bad, in heedful's words."""
    try:
        yield
    except BadInput as error:
        raise ValueError(str(error)) from error


def _laid_out(
    texts: Sequence[str], numbers: NDArray[np.int64], classes: NDArray[Any], *, share: float, folder: Path
) -> Any:
    """Lay texts out as files, a share of them to select the epoch on; there is no test: whoever fits has one of their own."""
    from heedful.data.corpora.given import GivenRows
    from heedful.data.corpora.kept_texts import KeptTexts
    from heedful.data.corpora.labels import spell
    from heedful.data.corpora.reader import carve
    from heedful.data.corpus import Split

    spelled = [spell(label) for label in classes.tolist()]
    names = tuple(label for label in spelled if label)
    if len(set(names)) < len(classes):  # different things that are written alike
        names = tuple(f"class {number}" for number in range(len(classes)))
    whole = Split(list(texts), numbers)
    try:
        train, dev = carve(whole, share, seed=0)
    except BadInput:  # too few texts: the epoch is selected on those that are learnt
        train = dev = whole

    def rows(split: Split) -> GivenRows:
        pairs = zip(split.texts, split.labels, strict=True)
        return GivenRows(
            "X", [{"text": text, "label": names[label]} for text, label in pairs], {"label": names}
        )

    return KeptTexts.of(rows(train), dev=rows(dev), test=rows(dev), beside=folder, options={})
