"""What a recipe gives a reader: sections of tables and sentences, the same in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.output.charts import as_svg
from heedful.output.markup import in_markdown
from heedful.output.tables import Table
from heedful.output.tables import markdown as table_in_markdown
from heedful.storage import write_bytes, write_text

if TYPE_CHECKING:
    from heedful.output.terminal import Screen


@dataclass(frozen=True)
class Picture:
    """A drawing that is written as a file of its own, with what it shows in words."""

    name: str
    words: str
    spec: dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A heading, tables, sentences below them, and drawings where the page is a file."""

    title: str
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True, repr=False)
class Page:
    """Everything that one command found: `show()`, `save(file)`, `markdown()`."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)

    def __repr__(self) -> str:
        return f"Page: {self.title}; show() prints it, save(file) writes it"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from heedful.papers.show_page import page_html

        return page_html(self)

    def show(self, screen: Screen | None = None) -> None:
        """Print it."""
        from heedful.output.terminal import Screen
        from heedful.papers.show_page import show_page

        show_page(self, screen or Screen())

    def save(self, path: str | Path) -> Path:
        """Write it as Markdown, with its drawings beside it."""
        save_page(self, Path(path))
        return Path(path)

    def markdown(self) -> str:
        """Give it as Markdown, without drawings."""
        return markdown(self)


def save_page(page: Page, path: Path) -> None:
    """Write a page as Markdown, and its drawings, if it has any, into NAME-figures beside it."""
    beside = Path(f"{path.stem}-figures")
    for section in page.sections:
        for picture in section.pictures:
            write_bytes(path.parent / beside / f"{picture.name}.svg", as_svg(picture.spec).encode("utf-8"))
    write_text(path, markdown(page, beside))


def markdown(page: Page, pictures: Path | None = None) -> str:
    """Write a page as Markdown; with drawings if their folder is given.

    >>> print(markdown(Page("A", ["b."], [Section("C", [Table(["d"], [["x|y"]])], ["e"])])))
    # A
    <BLANKLINE>
    b.
    <BLANKLINE>
    ## C
    <BLANKLINE>
    | d |
    |---|
    | x\\|y |
    <BLANKLINE>
    - e
    <BLANKLINE>
    """
    blocks = [f"# {page.title}", *page.lead]
    for section in page.sections:
        blocks.append(f"## {section.title}")
        for table in section.tables:
            blocks += [f"**{in_markdown(table.title)}**"] if table.title else []
            blocks.append(table_in_markdown(table))
        if pictures is not None:
            blocks += [f"![{p.words}]({(pictures / p.name).as_posix()}.svg)" for p in section.pictures]
        if section.lines:
            blocks.append("\n".join(f"- {line}" for line in section.lines))
    return "\n\n".join(blocks) + "\n"
