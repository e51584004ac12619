"""Write docs/results.md, docs/studies.md, docs/coverage.md, docs/claims.md and the pages of papers, from the numbers in docs/measured and the words in docs/findings.

python docs/make_results.py

It measures nothing (docs/measure_results.py does) and reads no page.
"""

from __future__ import annotations

import statistics

import polars as pl
from asked import DOCS, MEASURED, QUESTIONS, TRAINED, TRAININGS, Question, Training, cases
from kept_papers import kept_paper
from kept_studies import kept as kept_study
from make_coverage import coverage, ledger

from heedful.papers.attefa.studies import study_files as study_pages
from heedful.papers.attefa.studies.run_study import Studied
from heedful.papers.attefa.studies.study import STUDIES
from heedful.papers.paper_page import Page, Section, markdown, save_page
from heedful.papers.recipe import RECIPES, Recipe
from heedful.storage import write_text

WHOLE = {"seat": ("Table 1:", "Table 2:")}
"""Tables of a paper that stand on this page too, not only on the paper's own."""
AGAIN = "again"
"""Where pages go of what was measured again, beside those that stand as they were written."""
HEADINGS = ("dataset", "measure", "aim", "reached", "train / dev / test", "best epochs", "minutes", "command")


def finding(name: str) -> str:
    """What people write about results, with links as they are from docs; nothing where there is no such file."""
    path = DOCS / "findings" / f"{name}.md"
    return path.read_text(encoding="utf-8").strip().replace("](../", "](") if path.exists() else ""


def results() -> str:
    """The page of all that was measured."""
    table, notes = trained()
    parts = [finding("trained"), table, "## Notes of the runs", notes, finding("settings")]
    return "\n\n".join([*parts, *(paper(RECIPES.get(name)) for name in RECIPES), answers()]) + "\n"


def trained() -> tuple[str, str]:
    """A row for every training, and what its runs note."""
    frame = pl.read_parquet(TRAINED)
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    notes = []
    for row in TRAININGS:
        own = frame.filter(pl.col("dataset") == row.name)
        lines.append("| " + " | ".join(_cells(row, own)) + " |")
        notes += [f"- {row.name}: {note}" for note in own["note"].drop_nulls()]
    return "\n".join(lines), "\n".join(notes)


def _cells(row: Training, frame: pl.DataFrame) -> list[str]:
    def values(name: str) -> list[float]:
        single = frame.filter(pl.col("measure") == name, pl.col("seed").is_not_null())
        return single.sort("seed")["estimate"].to_list()

    head, command = [row.name, row.metric, f"{row.aim:.2f}"], f"`{row.command}`"
    if not (reached := values(row.metric)):
        return [*head, "not measured yet", "", "", "", command]
    cell = f"**{statistics.mean(reached):.3f}**"
    if len(reached) > 1:
        cell += f" ± {statistics.stdev(reached):.3f} ({', '.join(f'{value:.3f}' for value in reached)})"
    if len(reached) < row.seeds:
        cell += f"; {row.seeds - len(reached)} of {row.seeds} seeds not measured yet"
    sizes = " / ".join(f"{values(f'{split} texts')[0]:,.0f}" for split in ("train", "dev", "test"))
    epochs = ", ".join(f"{epoch:.0f}" for epoch in values("epoch"))
    (minutes,) = frame.filter(pl.col("measure") == "minutes", pl.col("seed").is_null())["estimate"]
    return [*head, cell, sizes, epochs, f"{minutes:.1f}", command]


def paper_page(recipe: Recipe) -> Page | None:
    """The page of a paper, as far as it is made from what is kept."""
    return kept_paper(recipe, MEASURED).page


def paper(recipe: Recipe) -> str:
    """Claims of a paper, what was found beside them, and some of its tables."""
    heading = f"## {recipe.title}"
    page = paper_page(recipe)
    if page is None:
        return f"{heading}\n\nNot measured yet: `heedful reproduce {recipe.name}`."
    decided = next(section for section in page.sections if section.title == "Claims")
    table = markdown(Page("", (), [Section("Claims", decided.tables, decided.lines[:1])]))
    lacks = [line for section in page.sections if section.title == "Missing" for line in section.lines]
    partly = sum("not audited for" in line for line in lacks)
    wholly = len(lacks) - partly
    missing = f" {wholly} of {len(cases(recipe))} runs are missing; the page names them." if wholly else ""
    missing += f" {partly} are audited in part." if partly else ""
    more = f"All tables, every dataset's own number and what differs: [{recipe.name}.md]({recipe.name}.md)."
    if again := kept_paper(recipe, MEASURED).again:
        more += f" Measured again, tables and figures: [{AGAIN}/{recipe.name}.md]({AGAIN}/{recipe.name}.md). {again.lead[0]}"
    shown = [section for section in page.sections if section.title.startswith(WHOLE.get(recipe.name, ()))]
    tables = markdown(Page("", (), shown)).partition("\n\n")[2].replace("## ", "### ").strip()
    blocks = [
        heading,
        f"{' '.join(page.lead)}{missing} {more}",
        table.split("## Claims")[1].strip(),
        finding(recipe.name),
        tables,
    ]
    return "\n\n".join(filter(None, blocks))


def _done() -> dict[str, Studied]:
    found = {question.figure: kept_study(question.study, question.figure, MEASURED) for question in QUESTIONS}
    return {figure: studied for figure, studied in found.items() if studied is not None}


def answers() -> str:
    """What every study answers."""
    done = _done()
    lines = ["| question | answer | command |", "|---|---|---|"]
    for question in QUESTIONS:
        studied = done.get(question.figure)
        answer = " ".join(study_pages.make_page(studied).lead) if studied else "Not measured yet."
        lines.append(f"| {STUDIES.get(question.study).question} | {answer} | `{question.command}` |")
    table = "\n".join(lines)
    return f"## Studies\n\nTables, figures and what to know of each: [studies.md](studies.md).\n\n{table}"


def study(question: Question, studied: Studied) -> str:
    """A study with its tables and its figure."""
    text = markdown(study_pages.make_page(studied)).replace("\n#", "\n##").strip()
    picture = f"![{studied.study.question}](studies/{question.figure}.svg)"
    return f"#{text}\n\nAsked with `{question.command}`.\n\n{picture}\n"


def studies() -> str:
    """The page of all studies that are done."""
    done = _done()
    pages = [study(question, done[question.figure]) for question in QUESTIONS if question.figure in done]
    return "\n".join(["# Studies: one control at a time\n", *filter(None, [finding("studies")]), *pages])


def save_papers() -> None:
    """Write the pages of all papers that are made from what is kept."""
    for name in RECIPES:
        found = kept_paper(RECIPES.get(name), MEASURED)
        if found.stands is None and found.page is not None:
            save_page(found.page, DOCS / f"{name}.md")
        if found.again is not None:
            save_page(found.again, DOCS / AGAIN / f"{name}.md")


if __name__ == "__main__":
    save_papers()
    for figure, studied in _done().items():
        write_text(DOCS / "studies" / f"{figure}.svg", study_pages.figure(studied))
    write_text(DOCS / "studies.md", studies())
    write_text(DOCS / "results.md", results())
    write_text(DOCS / "coverage.md", coverage())
    write_text(DOCS / "claims.md", ledger())
