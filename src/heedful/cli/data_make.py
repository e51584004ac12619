"""heedful data make counterfitted"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.console import console, watcher
from heedful.cli.help import Command, Commands
from heedful.output.tables import Table
from heedful.output.terminal import grid, plain

if TYPE_CHECKING:
    from heedful.data.words.counterfitted import Counterfitted

make = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    help="Make counter-fitted vectors, for attacks, of any vectors.",
)


@make.callback()
def _make(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        context.get_help()


@make.command("counterfitted", cls=Command)
def make_counterfitted(
    vectors: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Vectors to begin with: an asset's name, or a file.")
    ] = "glove-840b-300d",
    synonyms: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Synonyms, two words on each line (PPDB); may be given again."),
    ] = None,
    antonyms: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Antonyms, two words on each line; may be given again."),
    ] = None,
    wordnet: Annotated[
        bool, typer.Option("--wordnet/--no-wordnet", help="Also use WordNet's antonyms.")
    ] = True,
    simlex: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="SimLex-999, to measure how good the vectors are; looked for in $HEEDFUL_DATA/lexicon.",
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(min=2, metavar="N", help="Take the first words of the vectors, this many at most.")
    ] = 100_000,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The .npz to write.", rich_help_panel="Output"),
    ] = Path("counterfitted.npz"),
) -> None:
    """Counter-fit word vectors: synonyms nearer, antonyms apart (Mrkšić et al. 2016), and say how good they are.

    Attacks such as textfooler take substitutes from the file (heedful attack --vectors, heedful audit --attack-vectors).
    Without --synonyms and --antonyms, the authors' lists are used if they lie in $HEEDFUL_DATA/lexicon: ppdb_synonyms.txt,
    ppdb_antonyms.txt and wordnet_antonyms.txt, packed (.gz) or not. Without any, WordNet's antonyms alone are used, because
    its synonyms make vectors worse.

    Examples

      heedful data make counterfitted --synonyms ppdb_synonyms.txt --antonyms ppdb_antonyms.txt

      heedful data make counterfitted --vectors mine.txt --simlex SimLex-999.txt -o mine-counterfitted.npz
    """
    from heedful.data.words import counterfitted as making

    given = making.Constraints(tuple(synonyms or ()), tuple(antonyms or ()), wordnet)
    if not synonyms and not antonyms:
        given = making.lexicon_constraints(with_wordnet=wordnet)
    made = making.make_counterfitted(
        vectors, output, constraints=given, simlex=simlex, most_words=words, watcher=watcher()
    )
    sources = [plain(path) for path in (*given.synonyms, *given.antonyms)] + ["WordNet"] * wordnet
    console().print(
        f"{made.words:,} words, {made.synonyms:,} pairs of synonyms and {made.antonyms:,} of antonyms, from {', '.join(sources)}.\n",
        soft_wrap=True,
    )
    _show(made)
    console().print(f"\nVectors: [bold]{plain(output)}[/]", soft_wrap=True)


def _show(made: Counterfitted) -> None:
    """Show how good vectors were and are, and what would make them better."""
    from heedful.output.numbers import NOTHING, fixed

    def share(value: float | None) -> str:
        return NOTHING if value is None else f"{100 * value:.2f} %"

    rows = [("antonyms among the ten nearest", share(made.before.antonyms), share(made.after.antonyms))]
    if made.before.simlex is not None:
        name = f"SimLex-999, Spearman's ρ ({made.simlex_pairs} pairs)"
        rows.insert(0, (name, fixed(made.before.simlex), fixed(made.after.simlex)))
    console().print(grid(Table(("", "before", "after"), rows)))
    if made.before.simlex is None:
        console().print("SimLex-999 was not measured: give its file with --simlex.")
    if not made.synonyms:
        console().print(
            "No synonyms were given, so that words were only pushed apart: with PPDB's (--synonyms) vectors become better."
        )
