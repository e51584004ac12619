"""Rows → a split: which column is what, which rows cannot be used, and what to tell the user."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.data.corpora.evidence import marks, rationale_spans, support_spans, whole_numbers
from heedful.data.corpora.labels import check_label, class_numbers, spell
from heedful.data.corpora.rows import RawRow, read_rows
from heedful.data.corpus import Span, Split, Task
from heedful.data.words.text import check_text, clean_text
from heedful.errors import BadInput

# A text in pieces, for rationales that mark these and not what lies between white space.
TOKENS = "tokens"
USUAL_TEXTS = ("text", "sentence", "premise", "document", "review", "content", TOKENS)
QUERY_BESIDE = {"premise": "hypothesis", "document": "question", "text": "query"}
USUAL_LABELS = ("label", "answer", "labels", "class", "target")


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold the text, the query (where there is one) and the label."""

    text: str
    label: str
    query: str | None = None

    @classmethod
    def choose(
        cls,
        there: Sequence[str],
        *,
        text: str | None,
        query: str | None,
        label: str | None,
        needs_query: bool,
        where: str,
    ) -> Columns:
        """Take the user's choice, or the usual names."""

        def find(chosen: str | None, usual: Sequence[str], what: str) -> str:
            listing = f"its columns are {', '.join(map(str, there))}"
            if chosen is not None:
                if chosen not in there:
                    raise BadInput(f"There is no column {chosen!r} in {where}: {listing}.")
                return chosen
            for name in usual:
                if name in there:
                    return name
            raise BadInput(
                f"Cannot tell which column of {where} holds the {what}: {listing}; choose with --{what}-column."
            )

        chosen_text = find(text, USUAL_TEXTS, "text")
        chosen_label = find(label, USUAL_LABELS, "label")
        # A column named "query" beside one named "review" may be anything, unless a query is known to be there.
        usual_queries = tuple(QUERY_BESIDE.values()) if needs_query else (QUERY_BESIDE.get(chosen_text, ""),)
        if needs_query or query is not None or usual_queries[0] in there:
            query = find(query, usual_queries, "query")
        return cls(chosen_text, chosen_label, query)

    @property
    def task(self) -> Task:
        """A question makes it question answering, another second text makes it a pair."""
        if self.query is None:
            return "classification"
        return "qa" if self.query == "question" else "pair"


@dataclass
class RawSplit:
    """Columns as they are read, before labels have numbers. Texts are kept here and nowhere else."""

    where: str
    texts: list[str] = field(default_factory=list)
    spellings: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    evidence: list[list[Span]] = field(default_factory=list)
    candidates: list[list[str]] = field(default_factory=list)
    skipped: int = 0

    def number(self, numbers: Mapping[str, int], names: Sequence[str]) -> Split:
        """Give labels and candidates their numbers. A candidate that is never an answer in train is not a class."""
        return Split(
            texts=self.texts,
            labels=class_numbers(self.spellings, numbers, names, rows=self.rows, where=self.where),
            queries=self.queries or None,
            evidence=self.evidence or None,
            candidates=[[numbers[c] for c in row if c in numbers] for row in self.candidates] or None,
        )

    def take(self, wanted: Iterable[int]) -> RawSplit:
        """Give the rows at these places."""
        places = list(wanted)

        def pick(column: list[Any]) -> list[Any]:
            return [column[i] for i in places] if column else []

        return RawSplit(
            self.where,
            pick(self.texts),
            pick(self.spellings),
            pick(self.rows),
            pick(self.queries),
            pick(self.evidence),
            pick(self.candidates),
            self.skipped,
        )


def read_split(
    rows: Iterable[tuple[int, RawRow]],
    *,
    where: str,
    text_column: str | None = None,
    query_column: str | None = None,
    label_column: str | None = None,
    needs_query: bool = False,
    skip_bad_rows: bool = False,
) -> tuple[RawSplit, Columns]:
    """Read the rows of one split, refusing or skipping those without a text or a label."""
    split = RawSplit(where)
    columns: Columns | None = None
    for number, row in rows:
        if columns is None:
            columns = Columns.choose(
                list(row),
                text=text_column,
                query=query_column,
                label=label_column,
                needs_query=needs_query,
                where=where,
            )
        tokens = _tokens(row, columns.text, number, where)
        _check_kinds(row, (columns.text, columns.query, columns.label), number, where)
        text, query, label = _text(row.get(columns.text), tokens), "", spell(row.get(columns.label))
        check_text(text, f"Row {number} of {where}")
        missing = [] if text else [columns.text]
        if columns.query is not None:
            query = _text(row.get(columns.query))
            check_text(query, f"Row {number} of {where}")
            missing += [] if query else [columns.query]
        missing += [] if label else [columns.label]
        if missing or label is None:
            if skip_bad_rows:
                split.skipped += 1
                continue
            raise BadInput(
                f"Row {number} of {where} has no {' and no '.join(missing)}: fix it, "
                f"or leave such rows out with --skip-bad-rows."
            )
        check_label(label, f"row {number} of {where}")
        split.texts.append(text)
        split.spellings.append(sys.intern(label))  # few labels, many rows
        split.rows.append(number)
        if columns.query is not None:
            split.queries.append(query)
        _read_evidence(split, row, number, tokens)
        _read_candidates(split, row, number)
    if columns is None:
        raise BadInput(f"There is no row in {where}: give a file with texts and labels.")
    if not split.texts:
        raise BadInput(f"No row of {where} has both text and label: check the columns and --skip-bad-rows.")
    return split, columns


def read_texts(file: Path, text_column: str, query_column: str | None, *, evidence: bool = False) -> RawSplit:
    """Read the texts of a file to classify; no labels are needed."""
    return texts_of(read_rows(file), text_column, query_column, where=str(file), evidence=evidence)


def texts_of(
    rows: Iterable[tuple[int, RawRow]],
    text_column: str,
    query_column: str | None,
    *,
    where: str,
    evidence: bool = False,
) -> RawSplit:
    """Read texts to classify, their queries if there is a column of them, and evidence if asked; no labels are needed.

    Where there is no column `text`, a column `tokens` serves for it.
    """
    split = RawSplit(where)
    for number, row in rows:
        if text_column == "text" and "text" not in row and TOKENS in row:
            text_column = TOKENS
        for column in filter(None, (text_column, query_column)):
            if column not in row:
                raise BadInput(
                    f"There is no column {column!r} in {where}: its columns are {', '.join(map(str, row))}."
                )
        tokens = _tokens(row, text_column, number, where)
        _check_kinds(row, (text_column, query_column), number, where)
        text = _text(row[text_column], tokens)
        query = _text(row[query_column]) if query_column is not None else ""
        for name, found in ((text_column, text), (query_column, query)):
            if name is not None and not found:
                raise BadInput(f"Row {number} of {where} has no {name}: fix it or take it out.")
            check_text(found, f"Row {number} of {where}")
        split.texts.append(text)
        if query_column is not None:
            split.queries.append(query)
        if evidence:
            _read_evidence(split, row, number, tokens)
    if not split.texts:
        raise BadInput(f"There is no row in {where}: give a file with texts.")
    return split


def _read_evidence(split: RawSplit, row: RawRow, number: int, tokens: list[str] | None) -> None:
    """Rationale or support of the text read last, where its row carries one."""
    text = split.texts[-1]
    if (rationale := marks(row.get("rationale"))) is not None:
        split.evidence.append(rationale_spans(text, rationale, row=number, tokens=tokens))
    elif (support := whole_numbers(row.get("support"))) is not None:
        split.evidence.append(support_spans(text, support, row=number))
    _in_all_or_none(split, "evidence", split.evidence, number)


def _read_candidates(split: RawSplit, row: RawRow, number: int) -> None:
    """Candidates of the answer read last, where its row carries them."""
    if isinstance(row.get("candidates"), list):
        candidates = [sys.intern(spell(candidate) or "") for candidate in row["candidates"]]
        if split.spellings[-1] not in candidates:
            raise BadInput(
                f"The answer in row {number} of {split.where} ({split.spellings[-1]}) is not among its candidates: "
                f"add it there."
            )
        split.candidates.append(candidates)
    _in_all_or_none(split, "candidates", split.candidates, number)


def _in_all_or_none(split: RawSplit, name: str, column: list[Any], number: int) -> None:
    if column and len(column) != len(split.texts):
        raise BadInput(
            f"Row {number} of {split.where} differs from others in having {name} or not: give it in all rows or in none."
        )


def _tokens(row: RawRow, column: str, number: int, where: str) -> list[str] | None:
    """Give the tokens of a row whose text is in the column of that name; None where a text is whole, or missing."""
    raw = row.get(column)
    if column != TOKENS or raw is None:
        return None
    if not isinstance(raw, list) or not all(isinstance(token, str) for token in raw):
        raise BadInput(
            f"Column {TOKENS!r} in row {number} of {where} does not hold a list of strings: "
            f"give one string for every token, or whole texts in a column of another name."
        )
    return raw


def _check_kinds(row: RawRow, columns: Iterable[str | None], number: int, where: str) -> None:
    for column in filter(None, columns):
        if column == TOKENS:
            continue
        if isinstance(row.get(column), list | dict | bytes):
            raise BadInput(
                f"Column {column!r} in row {number} of {where} holds a {type(row[column]).__name__}: "
                f"it must hold text or numbers."
            )


def _text(raw: Any, tokens: list[str] | None = None) -> str:
    """Give a text that can be used: a string with something in it besides white space, else ''."""
    if tokens is not None:
        raw = " ".join(tokens)
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return ""
    text = clean_text(str(raw))
    return text if text.strip() else ""
