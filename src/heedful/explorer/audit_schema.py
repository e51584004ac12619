"""What is asked and answered over HTTP about an audit."""

from __future__ import annotations

from pydantic import BaseModel, Field

from heedful.explorer.audit_table import Kind


class AuditLine(BaseModel):
    """An audit that is finished."""

    id: str = Field(description="Its name in addresses.")
    data: str
    texts: int
    questions: int
    verdict: str
    source: str
    partial: bool


class ColumnLine(BaseModel):
    """A column of the table."""

    name: str
    title: str
    kind: Kind
    audit: str = Field(description="The audit that measured it; empty for what the model said.")
    says: str = Field(description="What it measures.")
    low: float | None
    high: float | None
    choices: list[str] = Field(description="The words it holds, where these are few.")


class AuditAbout(BaseModel):
    """What an audit found, and which columns its table has."""

    id: str
    model: str
    data: str
    texts: int
    source: str
    verdict: str
    finding: str = Field(description="The verdict in a sentence.")
    columns: list[ColumnLine]
    shown: list[str] = Field(description="Columns to begin with.")


class TableRow(BaseModel):
    """One text."""

    values: list[float | int | str | None] = Field(
        description="In the order of the columns that were asked for."
    )


class TablePage(BaseModel):
    """Some of the texts."""

    count: int = Field(description="How many fit the filters.")
    of: int
    columns: list[str]
    rows: list[TableRow]


class BarsAnswer(BaseModel):
    """A histogram."""

    column: str
    edges: list[float]
    of: list[int] = Field(description="Of all texts.")
    kept: list[int] = Field(description="Of the texts that all filters but this column's keep.")
    missing: int = Field(description="Texts for which it is not measured.")


class MapLine(BaseModel):
    """A heatmap that an audit kept."""

    title: str
    weights: list[float]
    probability: float | None


class AuditText(BaseModel):
    """Everything that is kept of one text."""

    row: int
    text: str
    query: str | None
    label: str | None
    predicted: str
    probability: float
    parts: list[str]
    maps: list[MapLine]
    marks: list[int] | None
    marks_says: str = Field(
        description="What is underlined, or why nothing is; empty where that was not asked."
    )
    values: dict[str, float | int | str | None]
