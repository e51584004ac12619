"""Does the heatmap survive another seed? SEAT: Figures 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from pydantic import Field

from heedful.audits.audit import ALL, BINS, Columns, Measure, Number, Summary, in_bin, register
from heedful.audits.chart_kinds import violins
from heedful.audits.exhibits import Chart, Heatmap
from heedful.audits.questions.movement import compare_snapshots, mean_change, snapshot
from heedful.audits.questions.stability_audit import RESAMPLES, StabilityAudit, measures
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading, as_audited, read_batch
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions, Names, TrainConfig
from heedful.errors import BadInput, Diverged, HeedfulError
from heedful.loading import load
from heedful.measures.divergence import LN_2
from heedful.measures.resampling import FEWEST_SEEDS, Spread, f1_of, mean_of, over_seeds, resample
from heedful.models.stages import Auditable, Stages
from heedful.output.numbers import value
from heedful.progress import Watcher
from heedful.training.objectives.objective import max_epochs
from heedful.training.train import train
from heedful.training.twins import seconds_per_epoch

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

SEEDS = 3
QUICK_SEEDS = 2
AVERAGE = "mean"
FEW_OTHERS = (
    "No mean over seeds has an interval: one or two other seeds do not show what more would give, so that no policy can be passed with them. "
    "Train three or more (--seeds)."
)


class SeedStabilityOptions(AuditOptions):
    """Other models than those that it would train."""

    checkpoints: Names | None = Field(
        None,
        description="Other checkpoints of the same model, such as those of other seeds: folders, runs or hf:NAME, separated by "
        "commas (seed_stability).",
    )


@register
class SeedStability(StabilityAudit):
    """Trains the same model with other seeds, and compares what they attend to."""

    name = "seed_stability"
    question = "Does the heatmap survive another seed?"
    options = ("seeds", "top_k", "checkpoints")
    does = "trains another model"
    only_named = "It trains other models."
    measures: ClassVar = measures("with another seed") | {
        "jsd_max": Measure("largest JSD of the heatmap over the seeds, in nats", high=LN_2, better="lower"),
    }
    caveats = (
        "Two seeds that attend to different words may both be right: this asks whether a heatmap depends on the data or "
        "on the seed.",
        "A model trained on a base that was named (--base) keeps it, and the seeds are those of its own training; where the "
        "vanilla model was found or trained for it (seat, steady), each seed begins with one of its own.",
        "A flat heatmap is the same for every seed: read JSD together with sharpness, or read the relative JSD.",
        "Intervals of means cover other seeds and other texts, for this one model; those of single seeds, and of the largest JSD "
        "over the seeds, cover other texts only.",
    )
    method = (
        "The model is trained again with the same configuration and other seeds, and every text is read by all of them. JSD, "
        "top items and predictions are compared with the model's own and averaged over seeds, text by text; the largest JSD "
        "over seeds is the paper's Figure 2. Heads of different models are matched so that their JSD is smallest."
    )
    heatmap = Heatmap("other_weights", "The seed that differs most", "other_probability")
    config: SeedStabilityOptions
    diverged: tuple[tuple[int, str], ...] = ()
    """Seeds that could not be trained, and what went wrong."""

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """It trains the model again with other seeds, where nobody names other checkpoints."""
        refused, untrained = super().refuses(scope), scope.untrained()
        if refused or scope.checkpoints or untrained is None:
            return refused
        return f"{untrained}, or other checkpoints of it (--checkpoints)"

    @property
    def main_condition(self) -> str:
        """All seeds together."""
        return AVERAGE

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Find or train the models of other seeds."""
        super().prepare(subject, watcher)
        self.others: dict[int, Stages] = {}
        if self.config.checkpoints is not None:
            self.others = _named_models(subject, self.config.checkpoints)
            return
        run, config = subject.classifier.home, subject.classifier.trained
        assert run is not None and config is not None  # see refuses
        seeds = self._seeds(config.seed)
        _announce(run, config, seeds, watcher)
        with watcher.bar(self.name, len(seeds), unit="seeds") as advance:
            for seed in seeds:
                try:
                    other = train(config.model_copy(update={"seed": seed}), runs=run.parent)
                except Diverged as error:
                    self.diverged = (*self.diverged, (seed, str(error)))
                else:
                    self.others[seed] = _comparable(subject, other)
                advance(1)
        if not self.others:
            raise HeedfulError(f"Every seed diverged: {self.diverged[0][1]}")

    def rows(self, reading: Reading) -> Columns:
        """Let every model read the texts, and compare it with the one that is audited."""
        before = snapshot(reading, self.source)
        columns = self.context_columns(before, reading)
        changes, heatmaps, probabilities = [], [], []
        decision = reading.probabilities.argmax(-1, keepdim=True)
        for seed, model in self.others.items():
            after = snapshot(
                read_batch(model, reading.batch, seed=reading.seed, exact=reading.exact), self.source
            )
            changes.append(compare_snapshots(before, after, k=self.config.top_k, matched=True))
            heatmaps.append(after.weights.mean(1))
            probabilities.append(after.probabilities)
            columns |= self.columns(str(seed), changes[-1:], probabilities[-1:])
        apart = torch.stack([change.jsd for change in changes], 1)
        furthest = apart.nan_to_num(-1).argmax(1)
        rows = torch.arange(len(furthest))
        of_decision = torch.stack(probabilities, 1)[rows, furthest].gather(1, decision)[:, 0]
        columns |= mean_change(changes)._asdict()
        if self.labelled:
            columns[f"said_{AVERAGE}"] = torch.stack([c.argmax(-1) for c in probabilities], 1).tolist()
        return columns | {
            "jsd_max": apart.amax(1),
            "other_seed": [list(self.others)[place] for place in furthest.tolist()],
            "other_weights": ragged(torch.stack(heatmaps, 1)[rows, furthest].nan_to_num(), reading.mask),
            "other_probability": of_decision,
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over seeds and texts, by the largest weight and by class (Figure 2)."""
        seeds = _others(rows)
        kind = "seed" if self.config.checkpoints is None else "checkpoint"
        numbers = self.numbers(rows, {seed: f"{kind} {seed}" for seed in seeds})
        numbers.append(self.number("jsd_max", rows["jsd_max"]))
        numbers += [self.overall("jsd", part, group) for group, part in _parts(rows)]
        numbers += [self.number("jsd_max", part["jsd_max"], group) for group, part in _parts(rows)]
        most = next(n for n in numbers if n.name == "jsd_max" and n.group == ALL)
        quick = f"Quick: {len(seeds)} seeds." if self.config.quick and self.config.checkpoints is None else ""
        return self.summary(
            rows,
            f"Another {kind} (the mean of {len(seeds)}) {self.steadiness(numbers)} The largest JSD over the {kind}s is {value(most)}.",
            numbers,
            *self.notes(rows),
            *(f"Seed {seed} diverged and is not averaged in: {problem}" for seed, problem in self.diverged),
            FEW_OTHERS if len(seeds) < FEWEST_SEEDS else "",
            f"Checkpoints, in their order: {', '.join(self.config.checkpoints)}."
            if self.config.checkpoints
            else "",
            quick,
        )

    def overall(self, name: str, rows: pl.DataFrame, group: str = ALL) -> Number:
        """Average a measure over seeds and texts: every seed gives one number, and the interval covers other seeds too."""
        found = self.number(name, rows[name], group)
        if found.estimate is None:
            return found
        models = [[mean_of(rows[f"{name}_{seed}"].to_numpy())] for seed in _others(rows)]
        drawn = resample(models, seed=self.config.seed, resamples=RESAMPLES)
        _, low, high = _with_interval(drawn[..., 0], self.measures[name])
        ends: dict[str, float | None] = {"low": None, "high": None}
        if not np.isnan(low):
            # A text that is undefined for some seeds counts less for the seeds than for the mean.
            ends = {"low": min(low, found.estimate), "high": max(high, found.estimate)}
        return found.model_copy(update=ends)

    def f1_with_interval(self, labels: np.ndarray, predicted: np.ndarray, condition: str) -> Spread:
        """F1, averaged over the seeds, with an interval that covers other seeds too."""
        if condition != AVERAGE:
            return super().f1_with_interval(labels, predicted, condition)
        models = [
            [f1_of(labels, predicted[:, [place]], classes=self.classes)]
            for place in range(predicted.shape[1])
        ]
        drawn = resample(models, seed=self.config.seed, resamples=RESAMPLES)
        return _with_interval(drawn[..., 0], self.measures["f1"])

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Violins of the largest JSD by the largest weight and class (Figure 2), and stability against sharpness."""
        return [
            violins(
                rows,
                "jsd_max",
                BINS,
                title="The heatmap with other seeds",
                axis="largest JSD over the seeds",
                high=LN_2,
                caption="Steady heatmaps lie at the left; sharp ones below.",
            ),
            self.against_sharpness(rows),
        ]

    def _seeds(self, own: int) -> tuple[int, ...]:
        """Name the other seeds: the user's, or the first that are not the model's own."""
        if self.config.seeds is not None:
            if own in self.config.seeds:
                raise BadInput(
                    f"Seed {own} is the model's own, and would be compared with itself: leave it out of --seeds."
                )
            return tuple(dict.fromkeys(self.config.seeds))
        count = QUICK_SEEDS if self.config.quick else SEEDS
        return tuple([seed for seed in range(1, SEEDS + 2) if seed != own][:count])


def _others(rows: pl.DataFrame) -> list[str]:
    """Return the seeds that the rows hold."""
    return [name.removeprefix("relative_jsd_") for name in rows.columns if name.startswith("relative_jsd_")]


def _parts(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Group texts by the largest weight and by the predicted class, as Figure 2 does."""
    bins = [(f"largest weight {low:.2f}–{high:.2f}", rows.filter(in_bin(low, high))) for low, high in BINS]
    labels = rows["predicted"].unique().sort()
    return bins + [(f"class {label}", rows.filter(pl.col("predicted") == label)) for label in labels]


def _with_interval(drawn: Float[np.ndarray, "seeds draws"], about: Measure) -> Spread:
    """Average over seeds, with an interval clipped to the measure's range; fewer than three seeds have none."""
    estimate, low, high = over_seeds(drawn)
    if len(drawn) < FEWEST_SEEDS:
        return Spread(estimate, np.nan, np.nan)
    return Spread(estimate, float(max(low, about.low)), float(min(high, about.high)))


def _named_models(subject: Subject, names: Sequence[str]) -> dict[int, Stages]:
    """Load other checkpoints, which must be other models with the same words and classes, and number them from 1."""
    own, found = subject.classifier.fingerprint(), dict[int, Stages]()
    for number, name in enumerate(names, 1):
        other = load(
            name, runs=Path("runs") if subject.classifier.home is None else subject.classifier.home.parent
        )
        if other.fingerprint() == own:
            raise BadInput(
                f"{name} is the model that is audited, and would be compared with itself: leave it out."
            )
        if len(other.labels) != len(subject.classifier.labels):
            raise BadInput(
                f"{name} has {len(other.labels)} classes and the model {len(subject.classifier.labels)}: name checkpoints of one model."
            )
        found[number] = _comparable(subject, other)
    return found


def _comparable(subject: Subject, other: Auditable) -> Stages:
    """Return a model that reads as the audited one does, or refuse it."""
    if other.vocabulary.to_json() != subject.classifier.vocabulary.to_json():
        raise BadInput(
            f"{other.name} has another vocabulary than the model, so that their items cannot be compared: the data have "
            f"changed since it was trained, so train it again."
        )
    return as_audited(other.model).eval()


def _announce(run: Path, config: TrainConfig, seeds: tuple[int, ...], watcher: Watcher) -> None:
    """Say what this will cost before it starts."""
    listed = ", ".join(map(str, seeds))
    message = f"Training the model with {len(seeds)} other seeds ({listed}), or finding what is finished, in {run.parent}"
    pace = seconds_per_epoch(run)
    if pace is not None:
        message += f": at most {len(seeds) * max_epochs(config) * pace / 60:.0f} minutes, by the pace of the model's own training"
    watcher.say(message + ".")
