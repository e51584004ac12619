"""Write docs/coverage.md, every table and figure of the five papers with its command and state, and docs/claims.md, every claim.

    python docs/make_coverage.py

Both follow from the recipes, the numbers in docs/measured, and the pages that stand as they were written. Nothing is measured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asked import DOCS, MEASURED, cases_of, first_seeds, seeds_of
from kept_papers import KeptPaper, kept_paper

from heedful.output.markup import in_markdown
from heedful.output.numbers import NOTHING
from heedful.output.tables import Table, markdown
from heedful.papers.claims import Judged
from heedful.papers.kept_runs import not_kept
from heedful.papers.outcome import estimate
from heedful.papers.parts import PagePart
from heedful.papers.recipe import RECIPES, Experiment, Recipe, RecipeCase
from heedful.storage import write_text

DONE, PARTLY, NOT_YET, CANNOT = "measured as declared", "in part", "not yet", "cannot"
STATES = (DONE, PARTLY, NOT_YET, CANNOT)


class Published(NamedTuple):
    """What a paper has, and what of it cannot be had here."""

    tables: range
    figures: range
    stands_in: str
    """What takes the place of data and weights that nobody can fetch here."""


PAPERS = {
    "jain-wallace": Published(
        range(1, 3),
        range(1, 9),
        "ADR Tweets, Diabetes, Anemia and the questions of CNN cannot be fetched here and have no stand-in; bAbI 2 and 3 are not in the recipe. fastText is stood in for by a part of "
        "GloVe, AG News and SNLI by a part of their training texts.",
    ),
    "serrano-smith": Published(
        range(1, 4),
        range(3, 14),
        "Yahoo Answers, Amazon, Yelp and the paper's IMDB reviews cannot be fetched here: sst5, 20news, ag_news and imdb_rating stand in for them. "
        "Figures 1 and 2 draw the method and have no results.",
    ),
    "attefa": Published(
        range(1, 6),
        range(1, 3),
        "Diabetes and Anemia are hospital records under a licence, and have no stand-in; fastText is stood in for by GloVe.",
    ),
    "seat": Published(
        range(1, 11),
        range(1, 6),
        "BERT base is stood in for by MiniLM with six layers, fastText by a part of GloVe.",
    ),
    "flat": Published(
        range(1, 11),
        range(1, 7),
        "BERT and DeBERTa are stood in for by MiniLM with six layers; word2vec by a part of GloVe; the Universal Sentence Encoder by MiniLM.",
    ),
}
WITHOUT = {
    (
        "flat",
        "figure",
        1,
    ): "An invented pair of reviews on three models, to explain the idea; Figure 3 is the paper's own examples on trained models",
    ("flat", "figure", 2): "A drawing of the method with invented words",
}
"""What has no command, and what it shows."""


class Covered(NamedTuple):
    """One table or figure: what it shows, what makes it, how far it is measured."""

    name: str
    shows: str
    command: str
    state: str
    detail: str = ""


def covered(recipe: Recipe, kept: KeptPaper) -> list[Covered]:
    """Every table and figure of a paper."""
    found = []
    published = PAPERS[recipe.name]
    for kind, numbers in (("table", published.tables), ("figure", published.figures)):
        own = {e.number: e for e in recipe.experiments if e.kind == kind}
        for number in numbers:
            name = f"{kind.capitalize()} {number}"
            if (words := WITHOUT.get((recipe.name, kind, number))) is not None:
                found.append(Covered(name, words, NOTHING, NOT_YET, "it has no command"))
            else:
                found.append(_covered(recipe, own[number], kept))
    return found


def ours(recipe: Recipe, kept: KeptPaper) -> list[Covered]:
    """Tables and figures that the paper does not have."""
    published = PAPERS[recipe.name]
    numbers = {"table": published.tables, "figure": published.figures}
    return [_covered(recipe, e, kept) for e in recipe.experiments if e.number not in numbers[e.kind]]


def _covered(recipe: Recipe, experiment: Experiment, kept: KeptPaper) -> Covered:
    done, declared = _runs(recipe, experiment, kept)
    corpora = recipe.corpora([experiment])
    counted = sum(name in kept.results.corpora.datasets for name in corpora)
    parts = [(done, declared, "runs")] if declared else []
    parts += [(counted, len(corpora), "corpora")] if corpora else []
    if all(made == all_of for made, all_of, _ in parts):
        state = DONE
    else:
        state = PARTLY if any(made for made, *_ in parts) else NOT_YET
    detail = ", ".join(f"{made} of {all_of} {what}" for made, all_of, what in parts)
    return Covered(experiment.name, experiment.title, _command(recipe, experiment), state, detail)


def _command(recipe: Recipe, experiment: Experiment) -> str:
    words = f"heedful reproduce {recipe.name} --{experiment.kind} {experiment.number}"
    seeds = seeds_of(recipe)
    if recipe.attacks:
        return f"{words} --rounds 2 --no-attack-similarity --attack-vectors FILE"
    return (
        f"{words} --seeds {first_seeds(seeds)}"
        if seeds and experiment.audit and not experiment.base_only
        else words
    )


def _runs(recipe: Recipe, experiment: Experiment, kept: KeptPaper) -> tuple[int, int]:
    """How many runs of a table or figure are measured, of how many that are declared."""
    cases = cases_of(recipe, experiment) if experiment.audit else []
    asked = (experiment.audit, *experiment.also)
    if recipe.joins:
        done = _in_parts(recipe, experiment, kept, cases)
    else:
        left = not_kept(cases, asked, kept.results.runs)
        done = len(cases) - len(left)
    if (stands := kept.stands) is not None and _is_written(recipe, experiment):
        lacks = dict(stands.missing)
        written = [case for case in cases if _is_there(lacks.get(case.name), asked)]
        done = max(done, len(written))
    return done, len(cases)


def _in_parts(recipe: Recipe, experiment: Experiment, kept: KeptPaper, cases: Sequence[RecipeCase]) -> int:
    """How many of some runs the parts have, with rows of their model for this table or figure."""
    encoders = {model.name: model.encoder for model in recipe.models}
    places = {part.place: part for part in kept.parts}
    asked, done = (experiment.audit, *experiment.also), 0
    shown = {place: _methods(experiment, part) for place, part in places.items()}
    for case in cases:
        place = (case.dataset, encoders[case.model])
        methods = shown.get(place)
        if methods is not None and (not methods or case.model.partition(" ")[2] in methods):
            done += _is_there(dict(places[place].missing).get(case.name), asked)
    return done


def _methods(experiment: Experiment, part: PagePart) -> set[str] | None:
    """Which methods a table or figure has rows of; empty where rows do not say, None where there are none."""
    tables = [table for table in experiment.tables(part.results) if table.rows]
    named = [(list(table.headings).index("method"), table) for table in tables if "method" in table.headings]
    return {str(row[place]) for place, table in named for row in table.rows} if tables else None


def _is_there(lack: str | None, asked: tuple[str, ...]) -> bool:
    """Whether what is asked is there although something is missing."""
    if lack is None:
        return True
    named = re.fullmatch(r"trained, and not audited for (.+)", lack)
    return named is not None and not set(asked) & set(named[1].split(", "))


def _is_written(recipe: Recipe, experiment: Experiment) -> bool:
    """Whether the page that stands as it was written has it."""
    page = (DOCS / f"{recipe.name}.md").read_text(encoding="utf-8")
    return f"\n## {experiment.name}: " in page


def papers() -> Iterator[tuple[Recipe, KeptPaper]]:
    """Every paper with what is kept of it."""
    for name in PAPERS:
        recipe = RECIPES.get(name)
        yield recipe, kept_paper(recipe, MEASURED)


def coverage() -> str:
    """The page of all tables and figures."""
    sections, every = [], []
    for recipe, kept in papers():
        rows = covered(recipe, kept)
        every += rows
        sections += [f"## {recipe.title}", PAPERS[recipe.name].stands_in, _table(rows), _link(recipe, kept)]
        if more := ours(recipe, kept):
            sections += ["Not in the paper:", _table(more)]
    lead = (
        "Every table and every figure with results of the five papers, what it shows, the command that makes it here, and how far it is measured. "
        "A state counts what is declared: three seeds where the recipe does not say how many, nine twins for AtteFa. In part means that some of the runs are missing; "
        "the page of the paper names them. Written by docs/make_coverage.py from the recipes and from what is kept in [measured](measured/README.md)."
    )
    return "\n\n".join(["# What of the papers is here", lead, _totals(every), *sections]) + "\n"


def _totals(rows: list[Covered]) -> str:
    tables = []
    for kind in ("Table", "Figure"):
        own = [row for row in rows if row.name.startswith(kind)]
        counts = Counter(row.state for row in own)
        with_command = sum(row.command != NOTHING for row in own)
        tables.append(
            [f"{kind}s", str(len(own)), str(with_command), *(str(counts[state]) for state in STATES)]
        )
    return markdown(Table(["", "in the papers", "with a command", *STATES], tables))


def _table(rows: list[Covered]) -> str:
    cells = [
        [
            row.name,
            row.shows,
            f"`{row.command}`" if row.command != NOTHING else NOTHING,
            f"{row.state}{f' ({row.detail})' if row.detail else ''}",
        ]
        for row in rows
    ]
    return _raw(["", "what it shows", "command", "state"], cells)


def _raw(headings: list[str], rows: list[list[str]]) -> str:
    """A table whose cells may hold code; bars would end them."""
    escaped = [[cell if cell.startswith("`") else in_markdown(cell) for cell in row] for row in rows]
    lines = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in escaped])


def _link(recipe: Recipe, kept: KeptPaper) -> str:
    page = f"Numbers: [{recipe.name}.md]({recipe.name}.md)"
    again = f", and measured again: [again/{recipe.name}.md](again/{recipe.name}.md)" if kept.again else ""
    return f"{page}{again}."


def ledger() -> str:
    """The page of all claims."""
    sections, words = [], Counter[str]()
    for recipe, kept in papers():
        again = {found.claim.id: found for found in kept.judged_again} if kept.stands else {}
        rows = [_claim(recipe, found, again.get(found.claim.id)) for found in kept.judged]
        words.update(found.word for found in kept.judged)
        headings = [
            "",
            "claim",
            "where",
            "answer",
            "ours (95 % interval)",
            "claimed",
            "holds on",
            "the paper",
        ]
        headings += ["measured again"] if again else []
        rows = rows if again else [row[:-1] for row in rows]
        sections += [
            f"## {recipe.title}",
            markdown(Table(headings, rows)),
            f"{recipe.rule} {_link(recipe, kept)}",
        ]
    answers = ", ".join(f"{word} {count}" for word, count in words.most_common())
    lead = (
        f"Every claim that a recipe decides: {sum(words.values())} in all ({answers}). A claim is a number and the range that it must lie in; the paper's words are read as "
        "ranges by us. Written by docs/make_coverage.py from what is kept in [measured](measured/README.md); how claims are measured on each corpus stands on the page of each paper."
    )
    return "\n\n".join(["# All claims", lead, *sections]) + "\n"


def _claim(recipe: Recipe, found: Judged, again: Judged | None) -> list[str]:
    claim = found.claim
    where = claim.source if claim.source == "ours" else f"section {claim.source}"
    held = f"{found.held} of {found.able}" if found.able else NOTHING
    more = f"{again.word}, {estimate(again.interval)}" if again is not None and again.parts else NOTHING
    number = estimate(found.interval) if found.parts else NOTHING
    return [
        claim.id,
        claim.statement,
        where,
        found.word,
        number,
        claim.range,
        held,
        claim.published or NOTHING,
        more,
    ]


if __name__ == "__main__":
    write_text(DOCS / "coverage.md", coverage())
    write_text(DOCS / "claims.md", ledger())
