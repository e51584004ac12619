"""heedful predict"""

from __future__ import annotations

from pathlib import Path

from heedful.cli.console import error_console
from heedful.cli.inputs import (
    Adapter,
    AsJson,
    File,
    Format,
    FormerFile,
    OutputFile,
    Queries,
    QueryColumn,
    RunName,
    TextArguments,
    TextColumn,
    deliver,
    read_inputs,
)
from heedful.cli.train import RunsFolder


def predict(
    run: RunName,
    texts: TextArguments = None,
    query: Queries = None,
    file: File = None,
    former_file: FormerFile = None,
    text_column: TextColumn = "text",
    query_column: QueryColumn = None,
    adapter: Adapter = None,
    output: OutputFile = None,
    form: Format = "text",
    as_json: AsJson = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Classify texts and draw the attention over their words.

    Examples

      heedful predict RUN "a warm , funny , engaging film ."

      heedful predict RUN "Mary went home." --query "Where is Mary?"

      heedful predict RUN --data reviews.csv --text-column body -o out.jsonl

      heedful predict my-classifier/ "a warm , funny , engaging film ."

      heedful predict predict:my_model:predict "a warm , funny , engaging film ."
    """
    chosen, queries = read_inputs(texts, query, file, text_column, query_column, former_file=former_file)
    with error_console().status(f"Classifying {len(chosen):,} texts"):
        import torch

        from heedful.loading import find_model

        torch.set_num_threads(1)  # as in training: on busy cores, two threads are slower than one
        predictions = find_model(run, runs=runs, adapter=adapter).predict(chosen, queries)
    deliver(predictions, output, as_json=as_json or form == "json")
