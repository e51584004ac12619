"""What `predict` and `explain` share: where their texts come from, and how their results are delivered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heedful.cli.console import console
from heedful.cli.former_words import formerly, renamed
from heedful.errors import BadInput
from heedful.output.terminal import plain

if TYPE_CHECKING:
    from heedful.models.prediction import Item, Prediction

_DATA, _OUTPUT = "Data", "Output"

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's folder, its name (heedful runs) or the beginning of it, a sequence classifier of transformers (its folder, or hf:NAME), or "
        "predict:MODULE:FUNCTION.",
    ),
]
Adapter = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="An adapter of a classifier of transformers, as peft saved it."),
]
TextArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help="Texts to classify, or a CSV, JSONL or Parquet file of them; without any, lines of standard input.",
    ),
]
Queries = Annotated[
    list[str] | None,
    typer.Option(
        "--query", metavar="TEXT", help="Question or hypothesis, once for every text.", rich_help_panel=_DATA
    ),
]
File = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="Classify the rows of a CSV, JSONL or Parquet file.",
        rich_help_panel=_DATA,
    ),
]
FormerFile = Annotated[Path | None, formerly("--file")]
TextColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The file's column with the text.", rich_help_panel=_DATA)
]
QueryColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The file's column with the question or hypothesis.", rich_help_panel=_DATA
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write JSON lines here.", rich_help_panel=_OUTPUT),
]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.", rich_help_panel=_OUTPUT)]
Format = Annotated[
    Literal["text", "json"],
    typer.Option(
        "--format",
        help="For people, or for programs: one of text, json.",
        rich_help_panel=_OUTPUT,
        metavar="NAME",
    ),
]


def deliver(predictions: list[Prediction], output: Path | None, *, as_json: bool) -> None:
    """Write predictions to a file, print them as JSON lines, or draw them."""
    from heedful.storage import write_text

    if output is not None:
        write_text(output, "".join(line + "\n" for line in _json_lines(predictions)))
        console().print(
            f"{len(predictions)} predictions written to [bold]{plain(output)}[/].", soft_wrap=True
        )
    elif as_json:
        for line in _json_lines(predictions):
            typer.echo(line)
    else:
        from heedful.cli.heatmap import render_prediction

        for number, prediction in enumerate(predictions):
            console().print(*([""] if number else []), render_prediction(prediction), sep="\n")


def read_inputs(
    texts: list[str] | None,
    query: list[str] | None,
    file: Path | None,
    text_column: str,
    query_column: str | None,
    *,
    former_file: Path | None = None,
) -> tuple[list[str], list[str] | None]:
    """Take texts from the command line, a file or standard input; a text that is the name of a file of texts is that file."""
    file = renamed(file, former_file, to="--data", was="--file")
    if file is None and texts and len(texts) == 1 and is_data_file(texts[0]):
        file, texts = Path(texts[0]).expanduser(), None
    if file is not None:
        if texts:
            raise BadInput("Both texts and --data are given: choose one.")
        if query:
            raise BadInput("Both --query and --data are given: name the file's column with --query-column.")
        from heedful.data.corpora.columns import read_texts

        raw = read_texts(file, text_column, query_column)
        return raw.texts, raw.queries or None
    if not texts:
        if sys.stdin.isatty():
            raise BadInput("No text is given: write one in quotes after the run, or use --data.")
        texts = _lines_of_standard_input()
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            raise BadInput(f"Text {number} is empty: give some words.")
    return texts, query or None


def is_data_file(text: str) -> bool:
    """Whether an argument names a file of texts."""
    from heedful.data.corpora.rows import has_known_suffix

    try:
        path = Path(text).expanduser()
        return has_known_suffix(path) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return False  # no text that could be a name


def _lines_of_standard_input() -> list[str]:
    try:
        texts = [line for line in sys.stdin.read().split("\n") if line.strip()]
    except UnicodeDecodeError:
        raise BadInput("Standard input is not UTF-8 text: convert it, for example with iconv.") from None
    if not texts:
        raise BadInput("Standard input held no text: give one per line.")
    return texts


def _json_lines(predictions: list[Prediction]) -> Iterator[str]:
    for p in predictions:
        row = {
            "text": p.text,
            "query": p.query,
            "label": p.label,
            "probabilities": p.probabilities,
            "items": _spans(p.text, p.items),
        }
        if p.words:  # if the items are sentences
            row["words"] = _spans(p.text, p.words)
        # Everything else that could end a line early or control a terminal is escaped like line breaks.
        yield "".join(
            c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(row, ensure_ascii=False)
        )


def _spans(text: str, items: tuple[Item, ...]) -> list[dict[str, Any]]:
    return [
        {"start": i.start, "end": i.end, "text": text[i.start : i.end], "weight": i.weight} for i in items
    ]
