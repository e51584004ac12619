"""What mkdocs calls while it builds the site: pages made from the code, and links that leave the site.

Pages of the reference have no file of their own, so that they cannot be older than the code.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import audits_page
import commands_page
import paper_order
import python_page
import result_files_page

ROOT = HERE.parents[1]
MADE = {
    "reference/commands.md": commands_page.page,
    "reference/python.md": python_page.page,
    "reference/audits.md": audits_page.page,
    "reference/policy.md": result_files_page.policy_page,
    "reference/results.md": result_files_page.page,
    "contributing.md": lambda: (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
}
_MOVED = {"../CONTRIBUTING.md": "contributing.md", "../README.md": "index.md"}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from the code."""
    for name, make in MADE.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links to files of the repository that the site does not hold into plain words, and put papers in reading order."""
    folder = Path(page.file.src_uri).parent

    def replaced(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match.group()
        moved = _MOVED.get(target, target)
        if page.file.src_uri == "contributing.md":
            moved = moved.removeprefix("docs/")
        inside = _joined(folder, moved)
        found = None if inside is None else files.get_file_from_path(inside)
        if found is not None and found.inclusion.is_included():
            return f"{picture}[{text}]({moved}{anchor or ''})"
        if not (ROOT / "docs" / folder / target).exists() and not (ROOT / target).exists():
            return match.group()  # a broken link: the strict build says so
        return text if text.startswith("`") else f"{text} (`{_from_root(folder, target)}`)"

    if page.file.src_uri.removesuffix(".md") in paper_order.PAPERS:
        markdown = paper_order.in_reading_order(markdown)
    return _LINK.sub(replaced, markdown).replace("{{ separation }}", audits_page.separation())


def _joined(folder: Path, target: str) -> str | None:
    """Follow a link from a page of docs; nothing where it leaves that folder."""
    parts: list[str] = list(folder.parts)
    for part in Path(target).parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return "/".join(parts)


def _from_root(folder: Path, target: str) -> str:
    return str((ROOT / "docs" / folder / target).resolve().relative_to(ROOT))
