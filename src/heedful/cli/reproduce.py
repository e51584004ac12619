"""heedful reproduce"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from heedful.cli.console import error_console, watcher
from heedful.cli.missing_runs import refuse_unfinished
from heedful.cli.pages import show_page
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import plain

if TYPE_CHECKING:
    from heedful.papers.paper_page import Page
    from heedful.papers.recipe import Experiment, Recipe

_FORMATS = ("table", "md")
_DATA, _OUTPUT = "Data", "Output"


RecipeName = Annotated[str, typer.Argument(help="A paper (heedful list recipes).", metavar="RECIPE")]
Tables = Annotated[str | None, typer.Option(metavar="N", help="Table to reproduce; several with commas.")]
Figures = Annotated[str | None, typer.Option(metavar="N", help="Figure to reproduce; several with commas.")]
Claims = Annotated[
    bool,
    typer.Option(
        "--claims",
        help="Measure everything that the claims need; without --table and --figure, print only the claims.",
    ),
]
Datasets = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…", help="Datasets; all of the recipe's if not given.", rich_help_panel=_DATA
    ),
]
EncoderNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…", help="Encoders; all of the recipe's if not given.", rich_help_panel="Model"
    ),
]
SeedCount = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel="Training",
        help="Train with seeds 0 to N − 1; if not given, only 0, and for seat three or five. For attefa: the first N of "
        "the nine seeds of the twins; all if not given.",
    ),
]
TextCount = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=_DATA,
        help="Audit a seeded sample of N test texts; if not given 1,000, or 500 if texts are long, and for attefa, seat and "
        "flat all (of tweeteval_hate 1,500, for flat of imdb and ag_news 500).",
    ),
]
OnlyFinished = Annotated[
    bool,
    typer.Option(
        "--only-finished", help="Train and audit nothing; use what is there, and name what is missing."
    ),
]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="One of table, md.", rich_help_panel=_OUTPUT)
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the page as Markdown, with drawings in a folder next to it.",
        rich_help_panel=_OUTPUT,
    ),
]
JoinFolder = Annotated[
    Path | None,
    typer.Option(
        "--join",
        metavar="FOLDER",
        help="Also save the numbers in this folder, in small Parquet files for each dataset and encoder, and add those that "
        "other machines saved there to the page (seat, flat).",
        rich_help_panel=_OUTPUT,
    ),
]
_ATTACK = "Attack"
AttackVectors = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Counter-fitted vectors, or a JSON file of neighbours, for attacks that need them.",
        rich_help_panel=_ATTACK,
    ),
]
AttackSynonyms = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Substitutes for all attacks, in place of their own.", rich_help_panel=_ATTACK
    ),
]
AttackLanguageModel = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="A language model for attacks that need one (genetic, bae, clare): a folder, or a name on the hub.",
        rich_help_panel=_ATTACK,
    ),
]
AttackSememes = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A file of HowNet, for pso.", rich_help_panel=_ATTACK),
]
AttackSimilarity = Annotated[
    bool,
    typer.Option(
        "--attack-similarity/--no-attack-similarity",
        help="Ask for similar sentences in TextFooler; without, it is faster and coarser.",
        rich_help_panel=_ATTACK,
    ),
]
KnownWords = Annotated[
    bool,
    typer.Option(
        "--known-words",
        help="Use only substitutes that the model's vocabulary knows.",
        rich_help_panel=_ATTACK,
    ),
]
AttackTexts = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Attack N training texts in every round, drawn anew; if not given all (imdb 1,000, ag_news 2,000).",
        rich_help_panel=_ATTACK,
    ),
]
RoundCount = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Rounds of attack and training (flat); 3 if not given.",
        rich_help_panel=_ATTACK,
    ),
]


def reproduce(
    recipe: RecipeName,
    table: Tables = None,
    figure: Figures = None,
    claims: Claims = False,
    datasets: Datasets = None,
    encoders: EncoderNames = None,
    seeds: SeedCount = None,
    texts: TextCount = None,
    attack_vectors: AttackVectors = None,
    attack_synonyms: AttackSynonyms = None,
    attack_language_model: AttackLanguageModel = None,
    attack_sememes: AttackSememes = None,
    attack_similarity: AttackSimilarity = True,
    known_words: KnownWords = False,
    attack_texts: AttackTexts = None,
    rounds: RoundCount = None,
    only_finished: OnlyFinished = False,
    form: Format = "table",
    output: OutputFile = None,
    together: JoinFolder = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Repeat a paper's experiments and print our numbers next to the published ones, with what differs.

    Trains what is missing, audits it, and says for each of the paper's claims whether it holds here. Finished runs and
    audits are saved: after an interruption, the same command continues. Without --table, --figure or --claims, everything
    is done.

    Examples

      heedful reproduce jain-wallace --table 2 --datasets sst2,babi_1 --encoders bilstm,average --seeds 3

      heedful reproduce jain-wallace --figure 6,7,8 --datasets sst2

      heedful reproduce serrano-smith --only-finished -o serrano-smith.md

      heedful reproduce attefa --table 3 --datasets mock_1,mock_10 --encoders average --seeds 3

      heedful reproduce seat --table 1,2 --datasets sst2 --encoders bilstm

      heedful reproduce seat --datasets mr --join measured -o seat.md

      heedful reproduce flat --table 2,3 --datasets trec --attack-vectors counter-fitted.txt

      heedful reproduce flat --only-finished --join measured -o flat.md
    """
    from heedful.papers.attacked_training import ROUNDS, AttackChoices
    from heedful.papers.recipe import RECIPES

    if form not in _FORMATS:
        raise BadInput(f"There is no format {form!r}: {did_you_mean(form, _FORMATS)}")
    chosen = RECIPES.get(recipe)
    needed, shown = _choose(chosen, table, figure, claims=claims)
    if together is not None and not (chosen.joins or chosen.besides):
        _refuse_join(recipe)
    attacks = AttackChoices(
        vectors=attack_vectors,
        synonyms=attack_synonyms,
        language_model=attack_language_model,
        sememes=attack_sememes,
        similarity=attack_similarity,
        known_words=known_words,
        texts=attack_texts,
        rounds=rounds or ROUNDS,
    )
    if not chosen.attacks and (attacks != AttackChoices() or rounds is not None):
        _refuse_attacks(recipe)
    cases = chosen.cases(
        needed,
        datasets=_split(datasets),
        encoders=_split(encoders),
        seeds=seeds,
        texts=texts,
        attacks=attacks,
        costly=not claims and (table is not None or figure is not None),
    )

    from heedful.papers.kept_runs import join_runs, keep_runs, kept_runs, not_kept
    from heedful.papers.measure_recipe import measure_recipe
    from heedful.papers.outcome import make_page, split
    from heedful.papers.parts import keep, kept

    parts = kept(chosen.name, together) if together and chosen.joins else []
    others = kept_runs(chosen, together) if together and chosen.besides else []
    audits = list(dict.fromkeys(experiment.audit for experiment in needed))
    if len(new := not_kept(cases, audits, others)) < len(cases):
        there = f"{len(cases) - len(new)} of {len(cases)} runs are kept in {together} and not measured again."
        error_console().print(plain(there), soft_wrap=True)
    cases = new
    results = measure_recipe(cases, audits, runs=runs, only_finished=only_finished, watcher=watcher())
    if not (results.runs or parts or others):
        refuse_unfinished(results.missing, runs=len(cases), only_finished=only_finished)
    if together is not None and chosen.besides:
        _tell_kept(keep_runs(chosen, results, together))
        results = join_runs(chosen, results, others)
    elif together is not None:
        here = split(chosen, results)
        _tell_kept(keep(here, together))
        results, parts = replace(results, runs=()), [*parts, *here]
    _deliver(make_page(chosen, results, shown, parts), form, output)


def _tell_kept(paths: Iterable[Path]) -> None:
    for path in paths:
        error_console().print(f"Kept: [bold]{plain(path)}[/]", soft_wrap=True)


def _deliver(page: Page, form: str, output: Path | None) -> None:
    """Write and print a page."""
    from heedful.papers.paper_page import markdown, save_page

    if output is not None:
        save_page(page, output)
    if form == "md":
        typer.echo(markdown(page), nl=False)
    else:
        show_page(page)
    if output is not None:
        error_console().print(f"Written: [bold]{plain(output)}[/]", soft_wrap=True)


def _refuse_join(recipe: str) -> NoReturn:
    from heedful.papers.recipe import RECIPES

    able = ", ".join(name for name in RECIPES if RECIPES.get(name).joins or RECIPES.get(name).besides)
    raise BadInput(f"Parts of {recipe} cannot be joined: --join is for {able}.")


def _refuse_attacks(recipe: str) -> NoReturn:
    from heedful.papers.recipe import RECIPES

    able = ", ".join(name for name in RECIPES if RECIPES.get(name).attacks)
    raise BadInput(f"Nothing of {recipe} is attacked: leave out the options of attacks, or reproduce {able}.")


def _choose(
    recipe: Recipe, table: str | None, figure: str | None, *, claims: bool
) -> tuple[list[Experiment], list[Experiment]]:
    """Return the experiments to measure, and those to show."""
    asked = [recipe.find("table", number) for number in _split(table) or ()]
    asked += [recipe.find("figure", number) for number in _split(figure) or ()]
    needed = list(recipe.experiments) if claims or not asked else asked
    return needed, asked if asked or claims else needed


def _split(names: str | None) -> list[str] | None:
    """Split a list with commas; None if nothing was given."""
    if names is None:
        return None
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise BadInput("An option is an empty list: name at least one, or leave the option out.")
    return found
