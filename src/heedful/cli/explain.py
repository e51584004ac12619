"""heedful explain"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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


def explain(
    run: RunName,
    texts: TextArguments = None,
    explainer: Annotated[
        str | None,
        typer.Option(
            "--explainer",
            "-e",
            metavar="NAME",
            help="What scores the items (heedful list explainers): attention if not given, or leave_one_out for a function.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of explainers that draw samples.")] = 0,
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
    """Score every word of texts by any explainer, and draw the scores over the words.

    Examples

      heedful explain RUN "a warm , funny , engaging film ." -e leave_one_out

      heedful explain RUN --data reviews.csv -e integrated_gradients -o out.jsonl

      heedful explain hf:NAME "a warm , funny , engaging film ." -e integrated_gradients

      heedful explain predict:my_model:predict "a warm , funny , engaging film ." -e lime
    """
    chosen, queries = read_inputs(texts, query, file, text_column, query_column, former_file=former_file)
    with error_console().status(f"Explaining {len(chosen):,} texts"):
        import torch

        from heedful.explainers.explain import explain as explain_texts
        from heedful.loading import find_model

        torch.set_num_threads(1)
        explained = explain_texts(
            find_model(run, runs=runs, adapter=adapter), chosen, explainer, queries=queries, seed=seed
        )
    deliver(explained, output, as_json=as_json or form == "json")
