"""Papers: every table and figure that was measured, by dataset and encoder, as pages and as data."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from pydantic import BaseModel, Field

from heedful.explorer.explorer_state import Here
from heedful.explorer.faults import FAULTS
from heedful.explorer.paper_shelf import MeasuredPaper
from heedful.explorer.routes.pages import page
from heedful.output.charts import inside_page
from heedful.output.tables import cell
from heedful.papers.paper_page import Section

pages = APIRouter(include_in_schema=False)
router = APIRouter(prefix="/api/papers", tags=["Papers"], responses=FAULTS)

Chosen = Annotated[str | None, Query(max_length=200)]


class PlaceLine(BaseModel):
    """A dataset and an encoder of which something was measured."""

    dataset: str
    encoder: str
    runs: int


class PaperLine(BaseModel):
    """A paper."""

    name: str
    title: str
    description: str
    places: list[PlaceLine]


class TableLine(BaseModel):
    """A table as words."""

    title: str
    headings: list[str]
    rows: list[list[str]]


class FigureLine(BaseModel):
    """A figure: what it shows in words, and the drawing in the language of Vega-Lite."""

    name: str
    words: str
    spec: dict[str, object]


class SectionLine(BaseModel):
    """A table or figure of the paper, or its claims."""

    title: str
    tables: list[TableLine]
    figures: list[FigureLine]
    lines: list[str]


class PaperAnswer(BaseModel):
    """What was measured of a paper."""

    title: str
    lead: list[str]
    sections: list[SectionLine] = Field(description="Tables and figures, then the claims.")


@router.get("", summary="All papers")
def papers(here: Here) -> list[PaperLine]:
    """List the papers, and what was measured of each."""
    return [_line(here.papers.find(name)) for name in here.papers.names()]


@router.get("/{paper}", summary="One paper")
def paper(here: Here, paper: str, dataset: Chosen = None, encoder: Chosen = None) -> PaperAnswer:
    """Give its tables, figures and claims, of all that was measured or of a dataset and an encoder."""
    made = here.papers.find(paper).page(dataset, encoder)
    return PaperAnswer(title=made.title, lead=list(made.lead), sections=[_section(s) for s in made.sections])


@pages.get("/papers")
def shelf(here: Here) -> HTMLResponse:
    """Show all papers."""
    found = [here.papers.find(name) for name in here.papers.names()]
    return page(here, "papers", "papers.html", papers=found, measured=here.papers.measured)


@pages.get("/papers/{paper}")
def one(here: Here, paper: str, dataset: Chosen = None, encoder: Chosen = None) -> HTMLResponse:
    """Show what was measured of a paper."""
    found = here.papers.find(paper)
    made = found.page(dataset or None, encoder or None)
    drawn = [
        (section, [(p, Markup(inside_page(p.spec, p.words))) for p in section.pictures])
        for section in made.sections
    ]
    return page(
        here, "papers", "paper.html", paper=found, made=made, sections=drawn, dataset=dataset, encoder=encoder
    )


def _line(found: MeasuredPaper) -> PaperLine:
    recipe = found.recipe
    return PaperLine(
        name=recipe.name,
        title=recipe.title,
        description=recipe.description,
        places=[PlaceLine(**place._asdict()) for place in found.places],
    )


def _section(section: Section) -> SectionLine:
    return SectionLine(
        title=section.title,
        tables=[
            TableLine(
                title=table.title,
                headings=list(table.headings),
                rows=[[cell(one).words for one in row] for row in table.rows],
            )
            for table in section.tables
        ],
        figures=[FigureLine(name=p.name, words=p.words, spec=p.spec) for p in section.pictures],
        lines=list(section.lines),
    )
