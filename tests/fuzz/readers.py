"""Every reader of a user's file, by name, with a valid file to begin from: what both fuzzers feed.

A reader may return, or refuse with a `HeedfulError` of one line; anything else is a fault.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import torch

import heedful
from heedful.attacks.attack import Attack
from heedful.attacks.attack_result import ABOUT, ROWS, AttackResult
from heedful.attacks.candidates.listed import Listed
from heedful.attacks.candidates.sememes import read_sememe_file
from heedful.attacks.constraints.places import NoWordTwice
from heedful.attacks.constraints.sentence_encoder import SentenceEncoder
from heedful.attacks.run_attack import attack
from heedful.attacks.searches.greedy import Greedy
from heedful.audits.policy import POLICIES, read_policy
from heedful.audits.running.finished import FinishedAudits
from heedful.audits.running.result import RESULT, read_findings
from heedful.audits.subject.scores import read_scores
from heedful.checking import build, read_yaml
from heedful.config import TrainConfig
from heedful.data.attacked import AttackedTexts
from heedful.data.corpora.columns import read_split
from heedful.data.corpora.rows import read_rows
from heedful.data.corpora.sources import find_source
from heedful.data.words.synonym_files import read_synonym_file
from heedful.data.words.vector_files import read_vector_file
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import HeedfulError
from heedful.models.classifier import Classifier
from heedful.models.model import Architecture, AttentionModel
from heedful.models.sealed_weights import seal
from heedful.reports.finding import audits_of
from heedful.runs import Run, list_runs
from heedful.training.checkpoint import Progress, load_checkpoint
from heedful.training.twins import seconds_per_epoch


class Reader(NamedTuple):
    """A file's name, what a valid one holds, and what is done with it."""

    file: str
    valid: bytes
    read: Callable[[Path], object]


def fault(reader: Reader, folder: Path, content: bytes) -> BaseException | None:
    """Give the error that a content causes and that no user should see; None if it is read, or refused in one line."""
    path = folder / reader.file
    path.write_bytes(content)
    try:
        reader.read(path)
    except HeedfulError as error:
        said = str(error)
        return None if said and "\n" not in said and len(said) <= 2000 else AssertionError(said)
    except BaseException as error:
        return error
    return None


def _corpus(path: Path) -> object:
    split, _ = read_split(read_rows(path), where=str(path))
    json.dumps(split.spellings, ensure_ascii=False).encode()  # what a run writes of it
    return split


def _runs(path: Path) -> object:
    """Whatever lists runs meets all files of all of them."""
    folder = path.parent / "runs" / "one"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.yaml", "metrics.json", "log.jsonl"):
        (folder / name).write_bytes(path.read_bytes())
    (run,) = list_runs(folder.parent)
    seconds_per_epoch(folder)
    for read in (run.metrics, run.config):
        with contextlib.suppress(HeedfulError):
            read()
    return Run(folder).metrics()


def _audits(path: Path) -> object:
    folder = path.parent / "audits" / "one"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).write_bytes(path.read_bytes())
    audits_of(path.parent)
    FinishedAudits(folder)
    return read_findings(folder)


def _dataset(path: Path) -> object:
    (path.parent / "train.csv").write_text("text,label\na,1\n")
    return find_source(str(path.parent))


def _checkpoint(path: Path) -> object:
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    return load_checkpoint(path, model, torch.optim.Adam(model.parameters()))


def _config(path: Path) -> object:
    return build(TrainConfig, {"dataset": "x", **read_yaml(path)}, where=path.name)


def _sememes(path: Path) -> object:
    return list(read_sememe_file(path))


def _npz() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, words=np.array(["film", "fine"]), vectors=np.ones((2, 3), dtype=np.float32))
    return buffer.getvalue()


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones((2, 3), dtype=np.float32))
    return buffer.getvalue()


def _parquet() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"text": ["a film", "b"], "label": ["1", "0"], "rationale": [[0, 1], [1]]}).write_parquet(
        buffer
    )
    return buffer.getvalue()


def _npy_vectors(path: Path) -> object:
    path.with_suffix(".txt").write_text("film\nfine\n")
    return read_vector_file(path, None)


def _sealed() -> bytes:
    weights = {"model.weight": torch.ones(1, 2), "model.bias": torch.ones(1)}
    progress = json.dumps(Progress([{"epoch": 1}], 0, 0.5).__dict__)
    return seal(weights, {"run": "fuzz", "progress": progress})


_CSV = b'text,label,rationale\n"a, film",pos,0 1\nb film,neg,"[1, 0]"\n'
_JSONL = (
    b'{"text": "a film", "label": 1, "rationale": [0, 1], "candidates": [1, 2]}\n{"text": "b", "label": 2}\n'
)
_METRICS = b'{"epoch": 1, "dev": {"f1": 0.5}, "test": {"f1": 0.5, "accuracy": 0.5}, "history": [], "sizes": {"train": 9}}'


def _toy() -> Classifier:
    torch.manual_seed(0)
    words = Vocabulary.learn(["a fine film", "a dull film"])
    shape = complete(Architecture)(
        encoder="none", embedding_size=3, attention_size=2, vocabulary_size=len(words), classes=2
    )
    return Classifier(AttentionModel(shape).eval(), words, ("neg", "pos"))


@lru_cache(maxsize=1)
def _model() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        _toy().save_pretrained(folder)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _load(path: Path) -> object:
    for name, content in _model().items():
        if name != path.name:
            path.with_name(name).write_bytes(content)
    return Classifier.from_pretrained(path.parent).predict(["a fine day"])


def _audit() -> bytes:
    found = heedful.audit(_toy(), ["a fine film", "a dull day"], only=["sharpness"], progress=False)
    return json.dumps(found.to_json()).encode()


@lru_cache(maxsize=1)
def _attack() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        synonyms = Path(folder) / "synonyms.tsv"
        synonyms.write_text("fine good dull\nfilm movie\n")
        ready = Attack(Listed(synonyms), (NoWordTwice(),), Greedy("deletion"))
        saved = attack(_toy(), ["a fine film", "a dull film"], ["pos", "neg"], assembled=ready).save(folder)
        return {name: (saved / name).read_bytes() for name in (ABOUT, ROWS)}


def _kept_attack(path: Path) -> object:
    """Whatever shows an attack meets both of its files."""
    for name, content in _attack().items():
        if name != path.name:
            path.with_name(name).write_bytes(content)
    found = AttackResult.load(path.parent)
    found.report(path.parent / "attack.html")
    return found.numbers


def _similar(path: Path) -> object:
    """The folder holds no model, so that it is refused in any case."""
    return SentenceEncoder(path.parent)


@lru_cache(maxsize=1)
def readers() -> dict[str, Reader]:
    """Give all of them."""
    return {
        "csv": Reader("x.csv", _CSV, _corpus),
        "tsv": Reader("x.tsv", _CSV.replace(b",", b"\t"), _corpus),
        "jsonl": Reader("x.jsonl", _JSONL, _corpus),
        "packed csv": Reader("x.csv.gz", gzip.compress(_CSV, mtime=0), _corpus),
        "parquet": Reader("x.parquet", _parquet(), _corpus),
        "meta": Reader("meta.json", b'{"labels": ["neg", "pos"], "task": "classification"}', _dataset),
        "scores": Reader("x.jsonl", b'{"scores": [1, 0.5]}\n{"items": [{"weight": 1}]}\n', read_scores),
        "scores in csv": Reader("x.csv", b'scores\n"[1, 2.5]"\n', read_scores),
        "vectors": Reader(
            "x.txt", b"2 3\nfilm 1 2 3\nfine 4 5 6\n", lambda path: read_vector_file(path, None)
        ),
        "packed vectors": Reader(
            "x.txt.gz", gzip.compress(b"film 1 2 3\n", mtime=0), lambda path: read_vector_file(path, None)
        ),
        "npz": Reader("x.npz", _npz(), lambda path: read_vector_file(path, None)),
        "npy": Reader("x.npy", _npy(), _npy_vectors),
        "synonyms": Reader("x.tsv", b"film movie picture\nfine good # remark\n", read_synonym_file),
        "json synonyms": Reader("x.json", b'{"film": ["movie"], "fine": []}', read_synonym_file),
        "sememes": Reader("x.txt", b"film\tnoun\tshows,work\nfine\tadj\tgood\n", _sememes),
        "json sememes": Reader(
            "x.json", b'{"film": [["noun", ["shows"]]], "fine": [["adj", ["good"]]]}', _sememes
        ),
        "packed sememes": Reader("x.txt.gz", gzip.compress(b"film\tnoun\tshows\n", mtime=0), _sememes),
        "sentence encoder": Reader(
            "modules.json", b'[{"type": "sentence_transformers.models.Transformer"}]', _similar
        ),
        "attack": Reader(ABOUT, _attack()[ABOUT], _kept_attack),
        "attack rows": Reader(ROWS, _attack()[ROWS], _kept_attack),
        "config": Reader("x.yaml", b"encoder: cnn\nwidths: [1, 3]\nepochs: 2\nlowercase: true\n", _config),
        "policy": Reader("x.yaml", POLICIES["version-1"].read_bytes(), read_policy),
        "runs": Reader("metrics.json", _METRICS, _runs),
        "audit": Reader("audit.json", _audit(), _audits),
        "model": Reader("model.json", _model()["model.json"], _load),
        "vocabulary": Reader("vocabulary.json", _model()["vocabulary.json"], _load),
        "attacked": Reader("attacked.parquet", _parquet(), AttackedTexts.read),
        "checkpoint": Reader("fuzz.safetensors", _sealed(), _checkpoint),
    }
