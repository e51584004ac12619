"""heedful reproduce"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.console import console, error_console, watcher
from heedful.cli.former_words import formerly, renamed
from heedful.cli.seeds import seeds_asked
from heedful.cli.train import RunsFolder
from heedful.cli.where import On
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import plain
from heedful.scale.chosen import working_on

if TYPE_CHECKING:
    from heedful.papers.paper_page import Page

_FORMATS = ("text", "md")
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
        "--data",
        metavar="NAME,NAME,…",
        help="Datasets; all of the recipe's if not given.",
        rich_help_panel=_DATA,
    ),
]
FormerDatasets = Annotated[str | None, formerly("--datasets")]
EncoderNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,…", help="Encoders; all of the recipe's if not given.", rich_help_panel="Model"
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N,N,…",
        rich_help_panel="Training",
        help="Seeds to train with, such as 0,1,2 or 0-2; if not given, only 0, and for seat three or five. For attefa: those of "
        "the twins, and the papers' nine if not given.",
    ),
]
TextCount = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        metavar="N",
        rich_help_panel=_DATA,
        help="Audit a seeded sample of N test texts; if not given 1,000, or 500 if texts are long, and for attefa, seat and "
        "flat all (of tweeteval_hate 1,500, for flat of imdb and ag_news 500).",
    ),
]
FormerTexts = Annotated[int | None, formerly("--texts", min=1)]
OnlyFinished = Annotated[
    bool,
    typer.Option(
        "--only-finished", help="Train and audit nothing; use what is there, and name what is missing."
    ),
]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="One of text, md.", rich_help_panel=_OUTPUT)
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
        "other machines saved there to the page (all recipes; of attefa the tables that train nothing).",
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
        help="Attack N training texts in every round, drawn anew; if not given all (imdb 200, ag_news 2,000).",
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
    former_datasets: FormerDatasets = None,
    encoders: EncoderNames = None,
    seeds: Seeds = None,
    limit: TextCount = None,
    former_texts: FormerTexts = None,
    attack_vectors: AttackVectors = None,
    attack_synonyms: AttackSynonyms = None,
    attack_language_model: AttackLanguageModel = None,
    attack_sememes: AttackSememes = None,
    attack_similarity: AttackSimilarity = True,
    known_words: KnownWords = False,
    attack_texts: AttackTexts = None,
    rounds: RoundCount = None,
    only_finished: OnlyFinished = False,
    form: Format = "text",
    output: OutputFile = None,
    together: JoinFolder = None,
    on: On = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Repeat a paper's experiments and print our numbers next to the published ones, with what differs.

    Trains what is missing, audits it, and says for each of the paper's claims whether it holds here. Finished runs and
    audits are saved: after an interruption, the same command continues. Without --table, --figure or --claims, everything
    is done.

    Examples

      heedful reproduce jain-wallace --table 2 --data sst2,babi_1 --encoders bilstm,average --seeds 0,1,2

      heedful reproduce jain-wallace --figure 6,7,8 --data sst2

      heedful reproduce serrano-smith --only-finished -o serrano-smith.md

      heedful reproduce attefa --table 3 --data mock_1,mock_10 --encoders average --seeds 10,50,100

      heedful reproduce seat --table 1,2 --data sst2 --encoders bilstm

      heedful reproduce seat --data mr --join measured -o seat.md

      heedful reproduce flat --table 2,3 --data trec --attack-vectors counter-fitted.txt

      heedful reproduce flat --only-finished --join measured -o flat.md
    """
    from heedful.papers.attacked_training import ROUNDS, AttackChoices
    from heedful.papers.recipe import RECIPES
    from heedful.papers.reproduce import reproduce as repeat
    from heedful.training.twins import SEEDS, some_seeds

    form = _format(form)
    twins = RECIPES.get(recipe).twins
    datasets = renamed(datasets, former_datasets, to="--data", was="--datasets")
    with working_on(on):
        page = repeat(
            recipe,
            tables=_split(table),
            figures=_split(figure),
            claims=claims,
            datasets=_split(datasets),
            encoders=_split(encoders),
            seeds=seeds_asked(seeds, lambda count: (some_seeds(count) or SEEDS) if twins else range(count)),
            texts=renamed(limit, former_texts, to="--limit", was="--texts"),
            attacks=AttackChoices(
                vectors=attack_vectors,
                synonyms=attack_synonyms,
                language_model=attack_language_model,
                sememes=attack_sememes,
                similarity=attack_similarity,
                known_words=known_words,
                texts=attack_texts,
                rounds=rounds or ROUNDS,
            ),
            only_finished=only_finished,
            together=together,
            runs=runs,
            watcher=watcher(),
        )
    _deliver(page, form, output)


def _format(name: str) -> str:
    """Check the format; what is text everywhere was once called table here."""
    if name == "table":
        error_console().print(
            "--format table is called --format text now; both are understood.", soft_wrap=True
        )
        return "text"
    if name not in _FORMATS:
        raise BadInput(f"There is no format {name!r}: {did_you_mean(name, _FORMATS)}")
    return name


def _deliver(page: Page, form: str, output: Path | None) -> None:
    """Write and print a page."""
    if output is not None:
        page.save(output)
    if form == "md":
        typer.echo(page.markdown(), nl=False)
    else:
        page.show(console())
    if output is not None:
        error_console().print(f"Written: [bold]{plain(output)}[/]", soft_wrap=True)


def _split(names: str | None) -> list[str] | None:
    """Split a list with commas; None if nothing was given."""
    if names is None:
        return None
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not found:
        raise BadInput("An option is an empty list: name at least one, or leave the option out.")
    return found
