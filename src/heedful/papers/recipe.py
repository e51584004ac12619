"""What all recipes share: which models on which datasets, which audits an experiment needs, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import polars as pl
import yaml

from heedful.errors import BadInput, did_you_mean
from heedful.output.tables import Table
from heedful.papers.claims import RULE, Claim
from heedful.papers.measured_numbers import Numbers
from heedful.papers.paper_page import Picture
from heedful.papers.results import MeasuredRun, Results
from heedful.registry import Registry

if TYPE_CHECKING:
    from heedful.attacks.options import AttackOptions
    from heedful.config import TrainConfig
    from heedful.papers.attacked_training import AttackChoices, CaseRounds

ExperimentKind = Literal["table", "figure"]
T = TypeVar("T")


@dataclass(frozen=True)
class Dataset:
    """How a recipe reads a dataset."""

    texts: int | None
    """At most this many test texts are audited; all if None."""
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1
    """Seeds to train with where the user does not say."""
    usual: bool = True
    """Whether it is taken where no dataset is named, by experiments that name none."""
    attacked: int | None = None
    """At most this many training texts are attacked in a round, where the user does not say; all if None."""


@dataclass(frozen=True)
class Model:
    """One architecture of the paper."""

    name: str
    encoder: str
    """What --encoders calls it."""
    options: Mapping[str, Any]
    usual: tuple[str, ...] | None = None
    """Where its encoder is not asked for by name: trained with one seed, on these datasets alone. None: no bounds."""
    texts: int | None = None
    """At most this many test texts are audited; as many as the dataset says if None."""
    trained_against: str | None = None
    """The attack whose rounds it is trained in, if it is."""
    attacks: tuple[str, ...] = ()
    """What its audits attack it by."""
    audit: Mapping[str, Any] = field(default_factory=dict)
    """Options of its audits."""
    near_words: str | None = None
    """The option of training, if there is one, that takes the vectors of the user's attacks."""


@dataclass(frozen=True)
class Experiment:
    """One table or figure."""

    kind: ExperimentKind
    number: int
    title: str
    audit: str
    """What it reads; empty where it is about corpora alone, so that no model is needed."""
    tables: Callable[[Results], Sequence[Table]]
    notes: Sequence[str] = ()
    models: tuple[str, ...] | None = None
    """Which models it is about; all if not given."""
    datasets: tuple[str, ...] | None = None
    """Which datasets it is about; all if not given."""
    also: tuple[str, ...] = ()
    """Other audits that it reads."""
    costly: bool = False
    """Whether it is measured only where not all is asked for."""
    base_only: bool = False
    """Whether it is about seed 0, which other seeds are compared with."""
    seeds: int | None = None
    """How many seeds it takes at most; as many as there are if not given."""
    pictures: Callable[[Results], Sequence[Picture]] = lambda results: ()
    """What it draws where a page is written to a file."""
    corpora: bool = False
    """Whether it counts the texts and words of corpora."""

    @property
    def name(self) -> str:
        """What the paper calls it."""
        return f"{self.kind.capitalize()} {self.number}"

    def about(self, dataset: str, model: str, seed: int) -> bool:
        """Whether it needs this run."""
        return (
            (self.datasets is None or dataset in self.datasets)
            and (self.models is None or model in self.models)
            and (seed == 0 or not self.base_only)
            and (self.seeds is None or seed < self.seeds)
        )


@dataclass(frozen=True)
class RecipeCase:
    """One model to train and audit."""

    dataset: str
    model: str
    seed: int
    config: TrainConfig
    texts: int | None
    audit: Mapping[str, Any] = field(default_factory=dict)
    """Options of the audit besides."""
    audits: tuple[str, ...] = ()
    """What is asked of it, where that is not the same for all."""
    rounds: CaseRounds | None = None
    """How it is made by rounds of attack and training, if it is."""
    attacks: tuple[AttackOptions, ...] = ()
    """What its audits attack it by."""
    lacks: str | None = None
    """Why it cannot be made, if that is known beforehand."""

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.dataset} {self.model} seed {self.seed}"


def several_seeds(results: Results) -> str:
    """Say how seeds and texts are counted."""
    seeds = sorted({run.seed for run in results.runs})
    return (
        f"{len(results.runs)} runs (seed {', '.join(map(str, seeds))}). Where there are several seeds, their texts are put "
        f"together and counted so; ± is the standard deviation over texts, as in the papers."
    )


@dataclass(frozen=True)
class Joined:
    """What a recipe needs to be made of parts: its tables then read the numbers of results, not their runs."""

    numbers: Callable[[Results], Numbers]
    """All that is measured of some runs."""
    models: Callable[[Numbers], Sequence[Sequence[str]]]
    """Rows that set the size and performance of models beside the paper's."""


@dataclass(frozen=True)
class Recipe:
    """A paper's experiments."""

    name: str
    title: str
    description: str
    options: Mapping[str, Any]
    """Of every training."""
    datasets: Mapping[str, Dataset]
    models: tuple[Model, ...]
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    differences: Mapping[str, Sequence[str]]
    """What differs from the paper, in a sentence, and for which datasets that counts (none named: all)."""
    described: Callable[[Sequence[MeasuredRun]], Sequence[str]] | None = None
    """Cells that set a model's size and performance beside the paper's; none for a recipe that joins."""
    twins: bool = False
    """Whether seeds count the twins of one base each, not bases."""
    lead: Callable[[Results], str] = several_seeds
    """What a reader should know before any table."""
    rule: str = RULE
    """How claims are decided."""
    audit: Mapping[str, Any] = field(default_factory=dict)
    """Options of every audit."""
    attacks: bool = False
    """Whether models are attacked, so that the user may choose how."""
    joined: Joined | None = None
    """How its pages are made from numbers alone, so that what several machines measured can be put together."""
    besides: Callable[[MeasuredRun], Mapping[str, pl.DataFrame]] | None = None
    """What tables read of a run besides its audits, in a recipe whose runs can be kept without models and texts, and put together."""

    @property
    def joins(self) -> bool:
        """Whether each table and each number of a claim is about one dataset and encoder, so that parts can be put together."""
        return self.joined is not None

    @property
    def places(self) -> list[tuple[str, str]]:
        """Every dataset and encoder, in the order of the page."""
        return [(dataset, encoder) for dataset in self.datasets for encoder in self.encoders]

    @property
    def encoders(self) -> tuple[str, ...]:
        """What --encoders may name."""
        return tuple(dict.fromkeys(model.encoder for model in self.models))

    def find(self, kind: ExperimentKind, number: str) -> Experiment:
        """Give a table or figure by its number."""
        known = {str(e.number): e for e in self.experiments if e.kind == kind}
        return _known(f"{kind} of {self.name}", number, known)

    def cases(
        self,
        experiments: Sequence[Experiment] | None = None,
        *,
        datasets: Sequence[str] | None = None,
        encoders: Sequence[str] | None = None,
        seeds: int | Sequence[int] | None = None,
        texts: int | None = None,
        attacks: AttackChoices | None = None,
        costly: bool = False,
    ) -> list[RecipeCase]:
        """Every model to train and audit for some experiments (by default all), or say what is not known.

        `seeds` are these, or so many. Without them there are as many bases of each as its dataset asks for, and the usual number of twins where
        there are any. Where all experiments are asked for, the costly ones are left out unless `costly`.
        """
        from heedful.training.twins import some_seeds

        needed = list(experiments) if experiments and costly else self._needed(experiments)
        needed = [experiment for experiment in needed if experiment.audit]
        usual = {experiment.audit for experiment in experiments or self.experiments if experiment.audit}
        twins = some_seeds(seeds) if seeds is None or isinstance(seeds, int) else tuple(seeds)
        audit = {**self.audit, **({"seeds": twins} if self.twins else {})}
        for name in datasets or ():
            _known(f"dataset in {self.name}", name, self.datasets)
        for name in encoders or ():
            _known(f"encoder in {self.name}", name, dict.fromkeys(self.encoders))
        if not needed:  # what is asked for is about corpora
            return []
        cases = []
        for name in self._datasets(needed, datasets):
            data = self.datasets[name]
            for model in self._models(needed, encoders):
                bounds = model.usual if encoders is None else None
                if bounds is not None and name not in bounds:
                    continue
                bases = 1 if self.twins or bounds is not None else seeds or data.seeds
                for seed in range(bases) if isinstance(bases, int) else bases:
                    asked = [
                        e
                        for e in needed
                        if e.about(name, model.name, seed) and (datasets or e.datasets or data.usual)
                    ]
                    if not asked:
                        continue
                    own = tuple(dict.fromkeys(audit for e in asked for audit in (e.audit, *e.also)))
                    audits = () if set(own) == usual else own
                    limit = texts or model.texts or data.texts
                    case = self._case(name, model, seed, attacks)
                    cases.append(replace(case, texts=limit, audit={**audit, **case.audit}, audits=audits))
        if not cases:
            raise BadInput(
                "What is asked for is about other encoders on these datasets: choose again with --data and --encoders."
            )
        return cases

    def corpora(
        self, experiments: Sequence[Experiment], *, datasets: Sequence[str] | None = None
    ) -> dict[str, TrainConfig]:
        """Give what some experiments count: every corpus, and how it is read by the first model that reads words."""
        counting = [experiment for experiment in experiments if experiment.corpora]
        for name in datasets or ():
            _known(f"dataset in {self.name}", name, self.datasets)
        model = next(model for model in self.models if not model.encoder.startswith("hf:"))
        return {
            name: self._case(name, model, 0, None).config
            for name, data in self.datasets.items()
            if (name in datasets if datasets else data.usual)
            and any(experiment.datasets is None or name in experiment.datasets for experiment in counting)
        }

    def _case(self, dataset: str, model: Model, seed: int, chosen: AttackChoices | None) -> RecipeCase:
        """Resolve what is trained, and how it is attacked."""
        from heedful.papers.attacked_training import AttackChoices, CaseRounds
        from heedful.training.train import resolve

        data, attacks = self.datasets[dataset], chosen or AttackChoices()
        given = {"dataset": dataset, **self.options, **model.options, **data.options, "seed": seed}
        lacks = None
        if model.near_words is not None:
            given[model.near_words], lacks = attacks.space()
        config = resolve({key: value for key, value in given.items() if value is not None})
        rounds = None
        if model.trained_against is not None:
            limit = attacks.texts or data.attacked
            rounds = CaseRounds(attacks.options(model.trained_against), attacks.rounds, limit)
        audit = {**(attacks.audit(model.attacks) if model.attacks else {}), **model.audit}
        return RecipeCase(
            dataset,
            model.name,
            seed,
            config,
            None,
            audit,
            rounds=rounds,
            attacks=tuple(map(attacks.options, model.attacks)),
            lacks=lacks,
        )

    def _needed(self, experiments: Sequence[Experiment] | None) -> list[Experiment]:
        """Give the experiments asked for; where that is all of them, without the costly ones."""
        if experiments is None or len(experiments) == len(self.experiments):
            return [experiment for experiment in self.experiments if not experiment.costly]
        return list(experiments)

    def _datasets(self, experiments: Sequence[Experiment], datasets: Sequence[str] | None) -> list[str]:
        needed: set[str] = set()
        usual = [name for name, data in self.datasets.items() if datasets or data.usual]
        for experiment in experiments:
            needed.update(experiment.datasets or usual)
        chosen = [name for name in datasets or self.datasets if name in needed]
        if not chosen:
            about = ", ".join(name for name in self.datasets if name in needed)
            raise BadInput(f"What is asked for is about the datasets {about}: name one with --data.")
        return chosen

    def _models(self, experiments: Sequence[Experiment], encoders: Sequence[str] | None) -> list[Model]:
        needed: set[str] = set()
        for experiment in experiments:
            needed.update(experiment.models or (model.name for model in self.models))
        able = [model for model in self.models if model.name in needed]
        chosen = [model for model in able if encoders is None or model.encoder in encoders]
        if not chosen:
            about = ", ".join(dict.fromkeys(model.encoder for model in able))
            raise BadInput(f"What is asked for is about the encoders {about}: name one with --encoders.")
        return chosen


RECIPES: Registry[Recipe] = Registry("recipe", "heedful.papers", file="recipe")


def register(recipe: Recipe) -> Recipe:
    """Make a recipe known by its name."""
    return RECIPES.register(recipe.name, recipe.description)(recipe)


@cache
def published(name: str) -> dict[str, Any]:
    """Read a paper's numbers."""
    text = resources.files(f"heedful.papers.{name}").joinpath("published.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def _known(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise BadInput(f"There is no {what} named {name!r}: {did_you_mean(name, known)}")
    return known[name]
