"""Toy models of every shape with the texts of a toy split, and an audit of them in one call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from heedful.audits.audit import AUDITS, Audit
from heedful.audits.subject.reading import Reading, read_batch
from heedful.config import AuditOptions
from heedful.data.corpus import Split
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.models.classifier import Classifier
from heedful.models.encoders.transformer import transformer_config
from heedful.models.model import Architecture, AttentionModel

TEXTS = [
    "a fine film. It holds up well!",
    "the plot is thin, the jokes are old. Nobody laughed. I left early",
    "wonderful acting and a warm, funny script",
    "zzz is old",
    "Great. Great film. Great.",
    "dull film",
    "a warm plot. A dull script, and nobody left.",
    "up. it. is",
]
QUERIES = ["is it good?", "who left early?", "what is warm", "eh", "how great", "is it?", "what", "who is it"]

SHAPES = {
    "binary": {"encoder": "bilstm"},
    "many": {"encoder": "bilstm", "classes": 3},
    "average": {"encoder": "average"},
    "cnn": {"encoder": "cnn", "classes": 4, "attention": "dot"},
    "sparse": {"encoder": "bigru", "normaliser": "sparsemax"},
    "mlp": {"encoder": "average", "decoder": "mlp"},
    "mlp-many": {"encoder": "cnn", "decoder": "mlp", "classes": 3},
    "heads": {"encoder": "bilstm", "heads": 2},
    "heads-many": {"encoder": "average", "heads": 2, "classes": 3},
    "pair": {"encoder": "bilstm", "query": True, "classes": 3},
    "pair-mlp": {"encoder": "average", "query": True, "decoder": "mlp"},
    "candidates": {"encoder": "average", "query": True, "classes": 5, "candidates": True},
    "hierarchical": {"encoder": "bigru", "hierarchical": True},
    "hierarchical-many": {"encoder": "average", "hierarchical": True, "classes": 3},
}
LINEAR = [name for name, shape in SHAPES.items() if "heads" not in shape and "decoder" not in shape]


class Case(NamedTuple):
    """A classifier, the texts it is asked about, and what it read of them in one batch."""

    classifier: Classifier
    split: Split
    reading: Reading

    def ask(self, name: str, **options: object) -> dict[str, object]:
        """Give an audit's rows of all the texts."""
        return dict(self.audit(name, **options).rows(self.reading))

    def audit(self, name: str, **options: object) -> Audit:
        """Make an audit with these options."""
        return AUDITS.get(name)(complete(AuditOptions)(**options), task=self.classifier.task)  # type: ignore[arg-type]

    def texts(self) -> range:
        """Number the texts."""
        return range(len(self.split))

    def items(self, row: int) -> int:
        """How many items a text has."""
        return int(self.reading.mask[row].sum())


@pytest.fixture
def make_case(toy_classifier: Callable[..., Classifier]) -> Callable[..., Case]:
    """Give a function that makes a case of a named shape; texts with one item are left out, as audits do."""

    def make(name: str, *, sharpen: float = 1.0, seed: int = 0, **more: object) -> Case:
        """Let attention differ between items, and the decoder hesitate, since an untrained model does neither."""
        shape = {**SHAPES[name], **more}
        candidates = shape.pop("candidates", False)
        classifier = toy_classifier(**{"classes": 2, "seed": seed, **shape})
        classes = len(classifier.labels)
        if classifier.model.architecture.attention == "additive":
            classifier.model.attention.similarity.vector.data *= 10
        split = Split(
            list(TEXTS),
            np.arange(len(TEXTS), dtype=np.int64) % classes,
            list(QUERIES) if shape.get("query") else None,
            candidates=[[row % 5, (row + 2) % 5, (row + 3) % 5] for row in range(len(TEXTS))]
            if candidates
            else None,
        )
        several = np.arange(len(TEXTS))
        if shape.get("hierarchical"):
            several = np.array([0, 1, 4, 6, 7])
        split = split.take(several)
        batch = classifier.instances(split).batch(np.arange(len(split)))
        output = classifier.model.decoder.output
        with torch.no_grad():
            logits = classifier.model(batch).logits
            output.bias -= logits.masked_fill(logits < -1e8, 0).mean(0)
        for parameter in output.parameters():
            parameter.data *= sharpen
        reading = read_batch(classifier.model, batch)
        return Case(classifier, split, reading)

    return make


@pytest.fixture(params=SHAPES)
def case(request: pytest.FixtureRequest, make_case: Callable[..., Case]) -> Case:
    """One of every shape, with a decoder decided enough to flip."""
    return make_case(request.param, sharpen=4.0)


WORDS = (
    "a",
    "fine",
    "film",
    "the",
    "plot",
    "is",
    "thin",
    "jokes",
    "nobody",
    "laughed",
    "warm",
    "dull",
    "zzz",
)


@pytest.fixture(scope="session")
def many_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of forty texts of 1 to 14 words, some twice in one text, with labels of a binary toy."""
    rng = np.random.default_rng(0)
    lines = ["text,label"]
    for row in range(40):
        words = rng.choice(WORDS, size=1 + row % 14)
        lines.append(f"{' '.join(words)},class {row % 2}")
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def model(toy_classifier: Callable[..., Classifier]) -> Callable[..., Classifier]:
    """Give a function that makes a toy classifier whose attention differs between items."""

    def make(**options: object) -> Classifier:
        classifier = toy_classifier(**options)
        classifier.model.attention.similarity.vector.data *= 10
        classifier.model.decoder.output.weight.data *= 4
        return classifier

    return make


PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "fine",
    "film",
    "##mak",
    "##er",
    "dull",
    "great",
    "made",
    ".",
]


@pytest.fixture
def pieces() -> Classifier:
    """A tiny BERT, whose tokeniser cuts "filmmaker" into three pieces."""
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(0)
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    bert = transformers.BertModel(
        transformers.BertConfig(vocab_size=len(PIECES), max_position_embeddings=40, **small)
    )
    shape = Architecture(
        encoder="hf:tiny",
        vocabulary_size=len(PIECES),
        classes=2,
        transformer=json.loads(json.dumps(transformer_config(bert))),
    )
    model = AttentionModel(shape).eval()
    model.attention.similarity.vector.data *= 10
    return Classifier(model, Vocabulary(tokenizer), ("no", "yes"))
