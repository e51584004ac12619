"""heedful sweep with command: reproduce"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heedful.cli.swept.swept_command import SWEPT, Kinds, Options, Row, SweptCommand, check_known, names
from heedful.errors import BadInput

if TYPE_CHECKING:
    from heedful.papers.recipe import Experiment, RecipeCase

_KNOWN: Kinds = {
    "recipe": str,
    "table": (list, str, int),
    "figure": (list, str, int),
    "datasets": (list, str),
    "encoders": (list, str),
    "seeds": int,
    "texts": int,
}


def _check(options: Options) -> Options:
    check_known(options, _KNOWN, needed=("recipe",))
    _cases(options)
    return dict(options)


def _do(options: Options, runs: Path) -> Row:
    from heedful.papers.measure_recipe import measure_recipe
    from heedful.papers.recipe import RECIPES

    asked, cases = _cases(options)
    audits = list(dict.fromkeys(experiment.audit for experiment in asked))
    results = measure_recipe(cases, audits, runs=runs)
    if not results.runs:
        what, why = results.missing[0]
        raise BadInput(
            f"None of the {len(cases)} runs of {RECIPES.get(options['recipe']).name} could be measured ({what}: {why})."
        )
    texts = sum(run.texts for run in results.runs)
    return {"runs": len(results.runs), "missing": len(results.missing), "texts": texts}


def _cases(options: Options) -> tuple[list[Experiment], list[RecipeCase]]:
    """Give the experiments that are asked for, and their runs."""
    from heedful.papers.recipe import RECIPES

    recipe = RECIPES.get(options["recipe"])
    asked = [recipe.find("table", str(number)) for number in names(options.get("table")) or ()]
    asked += [recipe.find("figure", str(number)) for number in names(options.get("figure")) or ()]
    needed = asked or list(recipe.experiments)
    cases = recipe.cases(
        needed,
        datasets=names(options.get("datasets")),
        encoders=names(options.get("encoders")),
        seeds=options.get("seeds"),
        texts=options.get("texts"),
        costly=bool(asked),
    )
    return needed, cases


SWEPT.register("reproduce", "measure runs of a paper's recipe, which heedful reproduce then finds")(
    SweptCommand(_check, _do)
)
