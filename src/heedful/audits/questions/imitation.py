"""Can a twin give the same predictions with other attention? AtteFa, Equation 7: Tables 3–5, Figures 1, 2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import torch
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import dots, scatter
from heedful.audits.exhibits import Chart, Heatmap, Order
from heedful.audits.subject.predictions import item_spans
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.errors import HeedfulError
from heedful.measures.divergence import LN_2, tvd
from heedful.measures.heads import matched_jsd
from heedful.measures.imitation import attefa, attefa_draws, attefa_spread
from heedful.measures.resampling import FEWEST_SEEDS
from heedful.models.classifier import Classifier
from heedful.models.shorter import read
from heedful.models.stages import probabilities
from heedful.output.numbers import percent, value
from heedful.progress import Watcher
from heedful.runs import Run
from heedful.scale.engines.processes import usable_cores
from heedful.training.objectives.imitation import EPOCHS, PATIENCE
from heedful.training.twins import SEEDS, seconds_per_epoch, train_twins

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

QUICK: dict[str, Any] = {"limit": 2000, "epochs": 20}
QUICK_SEEDS = 3
FEW_TWINS = "AtteFa has no interval: one or two twins do not show what others would reach. Train three or more (--seeds)."


@register
class Imitation(Audit):
    """Trains twins of the model that predict as it does and attend elsewhere, and measures how well they succeed."""

    name = "imitation"
    question = "Can a twin give the same predictions with other attention?"
    options = ("seeds",)
    does = "trains another model"
    paper = "attefa"
    access = "stages"
    only_named = "It trains other models."
    measures: ClassVar = {
        "attefa": Measure("AtteFa: sTVD / sJSD of twins and base, at most 1", better="higher"),
        "attefa_corrected": Measure("AtteFa against a twin that reads nothing", better="higher"),
        "twin_tvd": Measure("TVD of a twin's predictions, over all classes"),
        "twin_jsd": Measure("JSD of a twin's attention over its largest value", better="lower"),
        "twin_f1": Measure("F1 of a twin"),
        "elsewhere": Measure(
            "share of texts where a twin's top item differs from the model's",
            better="lower",
            plain="For {} of the texts a twin that predicts alike has another word on top.",
        ),
    }
    caveats = (
        "A twin is trained to be different: its existence shows that other attention would do, not that the model "
        "does not use its own.",
        "AtteFa is low for a model that hardly distinguishes classes, because that is easy to imitate; the corrected "
        "score divides by what a twin that reads nothing reaches.",
        "The interval of AtteFa speaks of other twins and other texts, not of other models that could have been trained.",
    )

    equation = "AtteFa = min(mean TVD(ŷ_twin, ŷ) / mean sJSD(α_twin, α), 1),  sJSD = JSD / ln 2"
    method = (
        "A twin of the same shape is trained anew to predict as the model does and to attend elsewhere. If it cannot, its "
        "predictions move as much as its attention and AtteFa is near 1; if it can, AtteFa is near 0. Done for several "
        "seeds. TVD is over all classes, in [0, 1], as the paper's scaled one is for two."
    )
    heatmap = Heatmap("twin_weights", "A twin's attention", "twin_probability")
    order = Order("twin_jsd", "how different the twins' attention is", worst="highest")

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Twins are about attention, and need the run in which the model was trained."""
        return super().refuses(scope) or scope.beyond_attention() or scope.untrained()

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """AtteFa by seed (Figure 1), and what each text contributes (Figure 2)."""
        seeds = [name.removeprefix("tvd_") for name in rows.columns if name.startswith("tvd_")]
        scores = {
            f"seed {seed}": attefa(rows[f"tvd_{seed}"].to_numpy(), rows[f"jsd_{seed}"].to_numpy())
            for seed in seeds
        }
        return [
            dots(
                scores,
                title="AtteFa by seed",
                axis="AtteFa",
                caption="0: a twin predicts the same with other attention.",
            ),
            scatter(
                rows,
                "twin_jsd",
                "twin_tvd",
                title="Attention moved, prediction moved",
                axes=("JSD of attention, scaled", "TVD of predictions"),
                caption="At the lower right twins attend elsewhere and predict the same.",
            ),
        ]

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Train the twins that are missing."""
        run = subject.classifier.home
        assert run is not None  # see refuses
        options = self.config
        seeds = options.seeds or (SEEDS[:QUICK_SEEDS] if options.quick else SEEDS)
        _announce(run, seeds, quick=options.quick, watcher=watcher)
        changes = dict(QUICK) if options.quick else {}
        with watcher.bar(self.name, len(seeds), unit="twins") as advance:
            twins = train_twins(run, seeds=seeds, runs=run / "twins", done=lambda twin: advance(1), **changes)
        self.failed = [twin for twin in twins if twin.folder is None]
        self.twins = {t.seed: Classifier.from_pretrained(t.folder) for t in twins if t.folder is not None}
        self.records = {t.seed: Run(t.folder).metrics() for t in twins if t.folder is not None}
        if not self.twins:
            raise HeedfulError(f"Every twin diverged: {self.failed[0].problem}")

    def rows(self, reading: Reading) -> Columns:
        """Compare every twin with the model, text by text."""
        own = reading.scores("attention")
        moved, far, weights, decision_probabilities = [], [], [], []
        decision = reading.probabilities.argmax(-1, keepdim=True)
        for twin in self.twins.values():
            with torch.no_grad():
                output = read(twin.model.eval(), reading.batch)
            assert output.weights is not None
            predicted = probabilities(output.logits.double())
            moved.append(tvd(predicted, reading.probabilities))
            decision_probabilities.append(predicted.gather(1, decision)[:, 0])
            far.append(matched_jsd(output.weights.double(), reading.weights.double()) / LN_2)
            weights.append(output.weights.mean(1))
        tvds, jsds, heatmaps = torch.stack(moved, 1), torch.stack(far, 1), torch.stack(weights, 1)
        best = (jsds - tvds).argmax(1)  # the twin that makes the strongest case on this text
        chosen = heatmaps[torch.arange(len(best)), best]
        elsewhere = heatmaps.argmax(-1) != own.argmax(-1, keepdim=True)
        top = _top_items(chosen, reading)
        columns: dict[str, Tensor | list[Any]] = {
            "twin_tvd": tvds.mean(1),
            "twin_jsd": jsds.mean(1),
            "elsewhere": elsewhere.double().mean(1),
            "chances": reading.probabilities.tolist(),
            "twin_seed": [list(self.twins)[i] for i in best.tolist()],
            "twin_weights": ragged(chosen, reading.mask),
            "twin_probability": torch.stack(decision_probabilities, 1)[torch.arange(len(best)), best],
            "twin_top": top,
        }
        for place, seed in enumerate(self.twins):
            columns |= {f"tvd_{seed}": tvds[:, place], f"jsd_{seed}": jsds[:, place]}
        return columns

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """AtteFa from the averages of each seed, then over seeds."""
        seeds = [name.removeprefix("tvd_") for name in rows.columns if name.startswith("tvd_")]
        tvds = np.stack([rows[f"tvd_{seed}"].to_numpy() for seed in seeds], 1)
        jsds = np.stack([rows[f"jsd_{seed}"].to_numpy() for seed in seeds], 1)
        references = {"attefa": None, "attefa_corrected": np.array(rows["chances"].to_list())}
        numbers: list[Number] = []
        for name, own in references.items():
            drawn = attefa_draws(tvds, jsds, own, seed=self.config.seed)
            numbers.append(_over_seeds(name, drawn, len(rows)))
            numbers += [
                _plain(name, one, f"seed {seed}", len(rows))
                for seed, one in zip(seeds, drawn[:, 0].tolist(), strict=True)
            ]
        numbers += [self.number(name, rows[name]) for name in ("twin_tvd", "twin_jsd", "elsewhere")]
        f1 = {seed: float(record["test"]["f1"]) for seed, record in self.records.items()}
        numbers.append(self.number("twin_f1", np.array(list(f1.values()))))
        numbers += [_plain("twin_f1", score, f"seed {seed}", len(rows)) for seed, score in f1.items()]
        found = {number.name: number for number in reversed(numbers)}
        score, elsewhere = numbers[0], found["elsewhere"]
        words = rows["twin_top"].value_counts(sort=True).head(3)
        top_words = ", ".join(
            f"“{word}” ({count / len(rows):.0%})".replace("%", " %") for word, count in words.iter_rows()
        )
        many = "1 seed" if len(seeds) == 1 else f"{len(seeds)} seeds"
        return self.summary(
            rows,
            f"Twins with other attention reach an AtteFa of {value(score)} over {many} (1: no twin can imitate the "
            f"model while attending elsewhere; 0: every twin can), and {value(found['attefa_corrected'])} against a twin that reads "
            f"nothing; for {percent(elsewhere)} of the texts their top item is another one, most often {top_words}.",
            numbers,
            *(f"Seed {twin.seed} diverged and is not averaged in: {twin.problem}" for twin in self.failed),
            FEW_TWINS if len(seeds) < FEWEST_SEEDS else "",
            f"Epochs chosen: {', '.join(str(record['epoch']) for record in self.records.values())}.",
            f"Quick: {many}, {QUICK['limit']} training texts, at most {QUICK['epochs']} epochs."
            if self.config.quick
            else "",
        )


def _over_seeds(name: str, drawn: np.ndarray, count: int) -> Number:
    """Average over twins; the interval covers other seeds and other texts."""
    estimate, *ends = attefa_spread(drawn)
    low, high = ends if len(drawn) >= FEWEST_SEEDS else (None, None)
    std = float(np.std(drawn[:, 0], ddof=1)) if len(drawn) > 1 else None
    return Number(name=name, estimate=estimate, low=low, high=high, std=std, count=count, missing=0)


def _plain(name: str, estimate: float, group: str, count: int) -> Number:
    return Number(
        name=name, group=group, estimate=estimate, low=None, high=None, std=None, count=count, missing=0
    )


def _top_items(weights: Tensor, reading: Reading) -> list[str]:
    """Return the top item of each heatmap as text; a sentence by its first characters."""
    spans, texts = item_spans(reading), reading.batch.tokens.texts
    found = []
    for text, row, item in zip(texts, spans, weights.argmax(-1).tolist(), strict=True):
        start, end = row[item].tolist()
        found.append(text[start:end].lower()[:40])
    return found


def _announce(run: Any, seeds: tuple[int, ...], *, quick: bool, watcher: Watcher) -> None:
    """Say what this will cost before it starts."""
    epochs = QUICK["epochs"] if quick else EPOCHS
    pace = seconds_per_epoch(run, limit=QUICK["limit"] if quick else None)
    twins = "1 twin" if len(seeds) == 1 else f"{len(seeds)} twins"
    message = f"Training {twins}, at most {epochs} epochs each (patience {PATIENCE})"
    if pace is not None:
        rounds = math.ceil(len(seeds) / min(len(seeds), usable_cores()))  # one twin on each core
        least, most = (max(1, round(rounds * count * pace / 60)) for count in (PATIENCE + 1, epochs))
        message += (
            f": between {least} and {most} minutes on this machine, by the pace of the model's own training"
        )
    watcher.say(message + ".")
