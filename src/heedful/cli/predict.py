"""heedful predict"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.console import console
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput

if TYPE_CHECKING:
    from heedful.models.prediction import Prediction


def predict(
    run: Annotated[str, typer.Argument(help="A run's folder or name (heedful runs).")],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts to classify; without any, lines of standard input.")
    ] = None,
    query: Annotated[
        list[str] | None, typer.Option(help="Question or hypothesis, once for every text.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Classify the rows of a CSV, JSONL or Parquet file.")
    ] = None,
    text_column: Annotated[str, typer.Option(help="The file's column with the text.")] = "text",
    query_column: Annotated[
        str | None, typer.Option(help="The file's column with the question or hypothesis.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write JSON lines here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of heatmaps.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Classify texts and draw the attention over their words.

    [bold]Examples[/]

      heedful predict runs/sst2-bilstm-vanilla-seed0-1a2b3c4d "a warm , funny , engaging film ."

      heedful predict babi_1-bilstm-vanilla-seed0-5e6f7a8b "Mary went home." --query "Where is Mary?"

      heedful predict RUN --file reviews.csv --text-column body -o predictions.jsonl
    """
    from heedful.loading import load
    from heedful.storage import write_text

    classifier = load(run, runs=runs)
    chosen, queries = _inputs(texts, query, file, text_column, query_column)
    predictions = classifier.predict(chosen, queries)
    if output is not None:
        write_text(output, "".join(line + "\n" for line in _json_lines(predictions)))
        console().print(f"{len(predictions)} predictions written to [bold]{output}[/].", soft_wrap=True)
    elif as_json:
        for line in _json_lines(predictions):
            typer.echo(line)
    else:
        from heedful.cli.heatmap import show

        for number, prediction in enumerate(predictions):
            console().print(*([""] if number else []), show(prediction), sep="\n")


def _inputs(
    texts: list[str] | None,
    query: list[str] | None,
    file: Path | None,
    text_column: str,
    query_column: str | None,
) -> tuple[list[str], list[str] | None]:
    if file is not None:
        if texts:
            raise BadInput("Both texts and --file are given: choose one.")
        from heedful.data.reading import read_texts

        return read_texts(file, text_column, query_column)
    if not texts:
        if sys.stdin.isatty():
            raise BadInput("No text is given: write one in quotes after the run, or use --file.")
        texts = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            raise BadInput(f"Text {number} is empty: give some words.")
    if not texts:
        raise BadInput("Standard input held no text: give one a line.")
    return texts, query or None


def _json_lines(predictions: list[Prediction]) -> Iterator[str]:
    for p in predictions:
        items = [
            {"start": i.start, "end": i.end, "text": p.text[i.start : i.end], "weight": i.weight}
            for i in p.items
        ]
        row = {
            "text": p.text,
            "query": p.query,
            "label": p.label,
            "probabilities": p.probabilities,
            "items": items,
        }
        yield json.dumps(row, ensure_ascii=False)
