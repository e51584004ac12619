"""Does the heatmap change when the model forgets what it has learnt? Sanity checks (Adebayo et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Heatmap, Order
from heedful.audits.questions.movement import by_word, snapshot
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading, as_audited, read_batch
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.words import Words, words_in
from heedful.config import AuditOptions
from heedful.errors import BadInput, Diverged
from heedful.measures.correlation import kendall_tau
from heedful.measures.divergence import LN_2, jsd
from heedful.measures.overlap import top_k_overlap
from heedful.measures.resampling import mean_of, over_seeds, resample
from heedful.models.redrawn import STAGES, redraw, stages_with_weights
from heedful.models.stages import Stages
from heedful.output.numbers import percent, value
from heedful.progress import Watcher
from heedful.training.objectives.objective import max_epochs
from heedful.training.train import train
from heedful.training.twins import seconds_per_epoch

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

DRAWS = 3
"""Times that weights are drawn; numbers are averaged over them, text by text."""

TOP = 3
"""How many top words are compared."""

_ALONE, _DRAWS = "_alone", "_draws"


class WordHeatmap(NamedTuple):
    """A heatmap over words: scores as they are, and as a distribution."""

    scores: Float[Tensor, "batch words"]
    weights: Float[Tensor, "batch words"]


class Likeness(NamedTuple):
    """How alike two heatmaps are, text by text; NaN where one of them has no order."""

    similarity: Float[Tensor, " batch"]
    top: Float[Tensor, " batch"]
    jsd: Float[Tensor, " batch"]


class RandomisationOptions(AuditOptions):
    """Options of this audit only."""

    shuffled_labels: bool = Field(
        True, description="Train the model once more on shuffled labels, or find it (randomisation)."
    )


@register
class Randomisation(Audit):
    """Draws the weights of stages anew, and trains on shuffled labels, and measures whether the heatmap changes."""

    name = "randomisation"
    question = "Does the heatmap change when the model forgets what it has learnt?"
    access = "embeddings"
    options = ("shuffled_labels",)
    config: RandomisationOptions
    does = "draws weights anew"
    paper = "adebayo-2018"
    only_named = "It trains another model, unless --no-shuffled-labels is given."
    measures: ClassVar = {
        "similarity_after": Measure(
            "Kendall's τ of the words before and after all weights are drawn anew",
            low=-1.0,
            better="lower",
            plain="When all that the model has learnt is forgotten, the order of the words stays by {} (1: the same order; 0: unrelated).",
        ),
        "top_after": Measure(
            "share of the top three words that stay when all weights are drawn anew",
            better="lower",
            plain="When all that the model has learnt is forgotten, {} of the three words on top stay there.",
        ),
        "top_by_chance": Measure("share of the top three words that two unrelated orders have in common"),
        "jsd_after": Measure(
            "JSD of the heatmap before and after all weights are drawn anew, in nats",
            high=LN_2,
            better="higher",
        ),
        "changed_by_decode": Measure(
            "1 − Kendall's τ when the weights of decode alone are drawn anew", high=2.0
        ),
        "changed_by_attend": Measure(
            "1 − Kendall's τ when the weights of attend alone are drawn anew", high=2.0, better="higher"
        ),
        "changed_by_encode": Measure(
            "1 − Kendall's τ when the weights of encode alone are drawn anew", high=2.0, better="higher"
        ),
        "changed_by_embed": Measure(
            "1 − Kendall's τ when the weights of embed alone are drawn anew", high=2.0, better="higher"
        ),
        "similarity_shuffled_labels": Measure(
            "Kendall's τ of the words beside a model trained on shuffled labels",
            low=-1.0,
            better="lower",
            plain="A model that was trained on shuffled labels orders the words alike by {} (1: the same order; 0: unrelated).",
        ),
        "top_shuffled_labels": Measure(
            "share of the top three words that a model trained on shuffled labels has on top too",
            better="lower",
        ),
        "jsd_shuffled_labels": Measure(
            "JSD to the heatmap of a model trained on shuffled labels, in nats", high=LN_2, better="higher"
        ),
    }
    caveats = (
        "This finds heatmaps that do not depend on what was learnt. One that does may still not show why the model decides as it "
        "does: passing is the least that can be asked for.",
        "Attention is computed before the decoder: by construction new weights of decode alone never change it.",
        "A heatmap that follows the input itself, such as punctuation, places or the size of embeddings, survives new weights. "
        "Flat attention has an order too; whether it changes or stays says little.",
        "Intervals cover other texts and other draws of the weights; those for shuffled labels cover other texts only, since one "
        "model was trained.",
    )

    equation = "τ(φ, φ′) over the words of a text,  φ′ of the model whose decode, then attend, encode and embed are drawn anew"
    method = (
        "Stage by stage from the output to the input, weights are drawn anew as an untrained model of this shape draws them, "
        f"{DRAWS} times, and also those of each stage alone; the vectors of words are shuffled among the words, so that they "
        "keep their distribution. The heatmap of the changed model is compared with the model's own: Kendall's τ-b over the words, "
        f"with pieces added up, the share of the top {TOP} that stay, and the JSD of the weights, averaged over heads. An "
        "explainer explains what the changed model decides. Then the labels: the model is trained again with the same options and "
        "seed, and the labels of train shuffled; true labels of dev choose its epoch. The states of sentences, in a hierarchical "
        "network, belong to encode with all that makes them."
    )
    order = Order("similarity_after", "how much of the heatmap survives new weights", worst="highest")
    heatmap = Heatmap("other_weights", "All weights drawn anew", "other_probability")
    conditions: dict[str, list[Stages]]
    """Changed models, one for every draw: all stages down to the one named were drawn anew, or that one alone."""
    shuffled: Stages | None = None
    """Trained on shuffled labels; None if that was not possible."""
    left_out: tuple[str, ...] = ()
    """What could not be asked, and why."""

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """The model is changed, and its texts are scored again."""
        return super().refuses(scope) or scope.fixed()

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Draw the weights, and find or train the model of shuffled labels."""
        if self.source == "own":
            raise BadInput(
                f"{self.name} needs the scores of a changed model, and scores of your own are given for the unchanged model: "
                f"choose attention or an explainer as --source."
            )
        stages = stages_with_weights(subject.model)
        drawn = [redraw(subject.model, DRAWS * self.config.seed + draw) for draw in range(DRAWS)]
        self.conditions = {}
        for place, stage in enumerate(stages):
            self.conditions[stage] = [one.model(stages[: place + 1]) for one in drawn]
            self.conditions.setdefault(alone_condition(stage), [one.model([stage]) for one in drawn])
        self.left_out = tuple(
            f"The stage {stage} of this model has no weights to draw."
            for stage in STAGES
            if stage not in stages
        )
        self.shuffled = self._of_shuffled_labels(subject, watcher)

    def rows(self, reading: Reading) -> Columns:
        """Read the texts with every changed model, and compare the heatmaps."""
        words = words_in(reading.model, reading.batch)
        before = self._word_heatmap(reading, words)
        columns: dict[str, Tensor | Sequence[object]] = {}
        for name, models in self.conditions.items():
            after = [
                read_batch(model, reading.batch, seed=reading.seed, exact=reading.exact) for model in models
            ]
            found = [compare_heatmaps(before, self._word_heatmap(other, words), words) for other in after]
            columns |= _columns(name, mean_likeness(found)) | _of_draws(name, found)
            if name in STAGES:  # the last of them is the deepest
                columns |= _columns("after", mean_likeness(found)) | self._shown(reading, after[0])
        nothing = torch.full_like(before.scores[:, 0], torch.nan)
        for stage in STAGES:
            same = columns.get(f"similarity_{alone_condition(stage)}", nothing)
            assert isinstance(same, Tensor)
            columns[f"changed_by_{stage}"] = 1 - same
        columns["top_by_chance"] = (TOP / words.counts.double()).masked_fill(words.counts <= TOP, torch.nan)
        labelled = Likeness(nothing, nothing, nothing)
        if self.shuffled is not None:
            other = read_batch(self.shuffled, reading.batch, seed=reading.seed, exact=reading.exact)
            labelled = compare_heatmaps(before, self._word_heatmap(other, words), words)
        return columns | _columns("shuffled_labels", labelled)

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts: after everything was drawn anew, stage by stage, and each stage alone."""
        chain = [stage for stage in STAGES if f"similarity_{stage}" in rows.columns]
        groups = {stage: " + ".join(chain[: place + 1]) for place, stage in enumerate(chain)}
        groups |= {
            alone_condition(stage): f"{stage} alone" for stage in chain if alone_condition(stage) != stage
        }
        numbers: list[Number] = [self.number(name, rows[name]) for name in self.measures]
        for place, number in enumerate(numbers):
            what, _, which = number.name.rpartition("_")
            if chain and which == "after":
                numbers[place] = self._over_draws(number, rows, f"{what}_{chain[-1]}")
            elif what == "changed_by" and which in chain:
                numbers[place] = self._over_draws(
                    number, rows, f"similarity_{alone_condition(which)}", turned=True
                )
        found = {number.name: number for number in numbers}
        for name in Likeness._fields:
            for condition, group in groups.items():
                number = self.number(f"{name}_after", rows[f"{name}_{condition}"], group)
                numbers.append(self._over_draws(number, rows, f"{name}_{condition}"))
        undefined, short = found["similarity_after"].missing, int(rows["top_by_chance"].is_nan().sum())
        labels = found["similarity_shuffled_labels"]
        return self.summary(
            rows,
            f"When all weights are drawn anew, the order of the words stays by τ = {value(found['similarity_after'])}, where 1 is the same "
            f"and 0 unrelated, and {percent(found['top_after'])} of the top {TOP} words stay, by chance {percent(found['top_by_chance'])}."
            + (f" Beside a model trained on shuffled labels τ is {value(labels)}." if labels.count else ""),
            numbers,
            f"For {undefined} of {len(rows)} texts the words have no order, before or after: all have the same score, or there is only one. They are left out."
            if undefined
            else "",
            f"{short} texts have {TOP} words or fewer, all of which are on top: they are left out of the share that stays."
            if short
            else "",
            *self.left_out,
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histograms of τ with new weights, and with shuffled labels where these were trained on."""
        shown = {
            "similarity_after": ("The heatmap with new weights", "τ after all weights are drawn anew"),
            "similarity_shuffled_labels": (
                "The heatmap of shuffled labels",
                "τ beside a model trained on shuffled labels",
            ),
        }
        return [
            histogram(
                rows,
                name,
                title=title,
                axis=axis,
                low=-1,
                high=1,
                caption="1: the same order of words, whatever the model has learnt. 0: no relation.",
            )
            for name, (title, axis) in shown.items()
            if name in rows.columns and not rows[name].is_nan().all()
        ]

    def _over_draws(self, number: Number, rows: pl.DataFrame, column: str, *, turned: bool = False) -> Number:
        """Widen an interval to cover other draws too; `turned` numbers are 1 minus the column's."""
        if number.estimate is None:
            return number
        draws = np.array(rows[column + _DRAWS].to_list(), dtype=np.float64).T
        drawn = resample(
            [[mean_of(1 - one if turned else one)] for one in draws], seed=self.config.seed, resamples=1000
        )
        _, low, high = over_seeds(drawn[..., 0])
        about = self.measures[number.name]
        # A text that is not defined in every draw counts less for the draws than for the mean.
        low, high = min(max(low, about.low), number.estimate), max(min(high, about.high), number.estimate)
        return number.model_copy(update={"low": low, "high": high})

    def _word_heatmap(self, reading: Reading, words: Words) -> WordHeatmap:
        heatmap = by_word(snapshot(reading, self.source), words.of, words.mask.shape[1])
        return WordHeatmap(words.scores(reading.scores(self.source)), heatmap.weights.mean(1))

    def _shown(self, reading: Reading, other: Reading) -> dict[str, Tensor | Sequence[object]]:
        """Save a changed model's heatmap, to be shown next to the model's own."""
        decided = reading.probabilities.argmax(-1, keepdim=True)
        weights = snapshot(other, self.source).weights.mean(1).nan_to_num()
        return {
            "other_weights": ragged(weights, reading.mask),
            "other_probability": other.probabilities.gather(1, decided)[:, 0],
        }

    def _of_shuffled_labels(self, subject: Subject, watcher: Watcher) -> Stages | None:
        """Find or train the model that learns from shuffled labels; if that is impossible, say why."""
        run, config = subject.classifier.home, subject.classifier.trained
        without = "Nothing was trained on shuffled labels"
        if not self.config.shuffled_labels:
            self.left_out += (f"{without} (--no-shuffled-labels).",)
            return None
        if run is None or config is None:
            self.left_out += (f"{without}: that needs the run that the model was trained in.",)
            return None
        if config.base is not None or config.label_seed is not None:
            reason = "labels that were shuffled" if config.base is None else "a base that has seen the labels"
            self.left_out += (f"{without}: the model itself was trained with {reason}.",)
            return None
        pace = seconds_per_epoch(run)
        minutes = "" if pace is None else f": at most {max_epochs(config) * pace / 60:.0f} minutes"
        watcher.say(f"Training the model on shuffled labels, or finding it, in {run.parent}{minutes}.")
        try:
            other = train(config.model_copy(update={"label_seed": self.config.seed}), runs=run.parent)
        except Diverged as error:
            self.left_out += (f"Trained on shuffled labels, the model diverged: {error}",)
            return None
        if other.vocabulary.to_json() != subject.classifier.vocabulary.to_json():
            raise BadInput(
                f"{other.name} has another vocabulary than the model, so that their items cannot be compared: the data have "
                f"changed since it was trained, so train it again."
            )
        return as_audited(other.model).eval()


def compare_heatmaps(before: WordHeatmap, after: WordHeatmap, words: Words) -> Likeness:
    """Compare two heatmaps of the same words."""
    tau = kendall_tau(before.scores, after.scores, words.mask).tau
    top = top_k_overlap(before.scores, after.scores, k=TOP, mask=words.mask)
    nothing = tau.isnan() | (words.counts <= TOP)  # of equal words the first would be on top both times
    return Likeness(tau, top.masked_fill(nothing, torch.nan), jsd(before.weights, after.weights))


def alone_condition(stage: str) -> str:
    """Name the condition in which one stage alone is drawn anew: for the first stage that is the plain one."""
    return stage if stage == STAGES[0] else stage + _ALONE


def mean_likeness(found: Sequence[Likeness]) -> Likeness:
    """Average over draws, text by text; a draw that is undefined for a text is left out."""
    return Likeness(*(torch.stack(values).nanmean(0) for values in zip(*found, strict=True)))


def _of_draws(condition: str, found: Sequence[Likeness]) -> dict[str, Tensor | Sequence[object]]:
    """The values of every draw, which the interval of a mean needs."""
    each = zip(Likeness._fields, zip(*found, strict=True), strict=True)
    return {f"{name}_{condition}{_DRAWS}": torch.stack(values, 1).tolist() for name, values in each}


def _columns(condition: str, likeness: Likeness) -> dict[str, Tensor | Sequence[object]]:
    return {f"{name}_{condition}": values for name, values in likeness._asdict().items()}
