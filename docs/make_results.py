"""Measure the table of docs/results.md: run each command, then write the page from the runs.

    HEEDFUL_DATA=… python docs/make_results.py [name …]

Runs that are complete are not done again, and interrupted ones go on, so the script may be stopped at any
time. Without names it does all rows; in any case the page shows every row, and says which are missing.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from heedful.cli.app import main as heedful
from heedful.runs import Run, list_runs

HERE = Path(__file__).parent
RUNS = Path("runs")

# name, metric, at least, command
ROWS = [
    ("sst2", "f1", 0.80, "sst2 --vectors glove-840b-300d"),
    ("mr", "f1", 0.75, "mr --vectors glove-840b-300d"),
    ("20news_sports", "f1", 0.88, "20news_sports --vectors glove-840b-300d"),
    ("ag_news_binary", "f1", 0.94, "ag_news_binary --vectors glove-840b-300d"),
    ("trec", "accuracy", 0.85, "trec --vectors glove-840b-300d"),
    ("babi_1", "accuracy", 0.99, "babi_1 --preset jain-wallace"),
    ("snli", "accuracy", 0.60, "snli --vectors glove-840b-300d"),
    ("tweeteval_emotion_binary", "f1", 0.70, "tweeteval_emotion_binary --vectors glove-840b-300d"),
    ("sst2 minilm-l6", "f1", 0.88, "sst2 --encoder hf:minilm-l6"),
    ("imdb", "f1", 0.86, "imdb --vectors glove-840b-300d --max-length 250 --min-count 5 --epochs 3"),
]  # fmt: skip


def measure(name: str, command: str) -> None:
    """Run one row's command as a user would."""
    print(f"== {name}", flush=True)
    try:
        heedful(["train", *shlex.split(command), "--runs", str(RUNS)])
    except SystemExit as done:
        if done.code:
            print(f"{name} failed with exit code {done.code}", flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1:] or [row[0] for row in ROWS]
    for name, _, _, command in ROWS:
        if name in chosen:
            measure(name, command)
