"""Turn a dataset inside a wheel into the folder form: train.jsonl.gz and meta.json."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from heedful.data.fetch.asset_table import Asset
from heedful.storage import write_bytes, write_json

_Row = tuple[str, int]


def write_dataset(asset: Asset, archive: zipfile.ZipFile, members: Mapping[str, str], folder: Path) -> None:
    """Write the dataset that `members` (path below the root → name in the wheel) hold into `folder`."""
    read = _csv_rows if asset.rows is not None else _folder_rows
    rows = [(_clean(text), label) for text, label in read(asset, archive, members)]
    # The sources list one class after the other; whoever takes the first rows should get all classes.
    random.Random(0).shuffle(rows)
    lines = (json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
    raw = "".join(lines).encode("utf-8")
    packed = gzip.compress(raw, mtime=0)
    write_bytes(folder / "train.jsonl.gz", packed)

    per_class = Counter(label for _, label in rows)
    repeated = len(rows) - len({text for text, _ in rows})
    done = "Rows shuffled with seed 0, '<br />' replaced by a space, white space collapsed"
    origin = {"wheel": asset.wheel, "version": asset.version, "sha256": asset.sha256, "path": asset.root}
    meta = {
        "dataset": asset.name,
        "task": "classification",
        "labels": asset.labels,
        "source": [origin],
        "licence": asset.licence,
        "notes": f"{asset.notes} {done}; {repeated} texts repeat an earlier one.",
        "splits": {
            "train": {
                "rows": len(rows),
                "bytes_gz": len(packed),
                "bytes_raw": len(raw),
                "avg_tokens": round(sum(len(text.split()) for text, _ in rows) / len(rows), 1),
                "per_class": {str(label): per_class[label] for label in range(len(asset.labels))},
            }
        },
    }
    write_json(folder / "meta.json", meta)


def _clean(text: str) -> str:
    return " ".join(text.replace("<br />", " ").split())


def _csv_rows(asset: Asset, archive: zipfile.ZipFile, members: Mapping[str, str]) -> Iterator[_Row]:
    for name in members.values():
        with archive.open(name) as file:
            for row in csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline="")):
                if row["source"] == asset.rows:
                    yield row["text"], int(row["label"])


def _folder_rows(asset: Asset, archive: zipfile.ZipFile, members: Mapping[str, str]) -> Iterator[_Row]:
    for path, name in sorted(members.items()):
        content = archive.read(name)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = content.decode("latin-1")  # as one article of bbc_news is
        yield text, asset.labels.index(path.split("/")[0])
