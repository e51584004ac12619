"""From a config and a corpus to what training needs: vocabulary, instances, an untrained classifier."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from heedful.config import ModelOptions, TrainConfig
from heedful.data.corpus import Corpus
from heedful.data.fetch import assets
from heedful.data.instances import Instances
from heedful.data.words.groups import similar_words
from heedful.data.words.vectors import initial_embeddings, read_vectors
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.models.encoders.encoder import ENCODERS
from heedful.models.encoders.transformer import load_transformer, transformer_config
from heedful.models.model import Architecture, AttentionModel
from heedful.models.room import check_room
from heedful.models.word_mask import GroupMask
from heedful.progress import QUIET, Watcher
from heedful.registry import member_of
from heedful.training.objectives.objective import OBJECTIVES


class Prepared(NamedTuple):
    """An untrained classifier, its splits as tokens, and notes for readers of its numbers."""

    classifier: Classifier
    splits: dict[str, Instances]
    notes: tuple[str, ...]


def check_registered(config: TrainConfig) -> None:
    """Fail on a misspelt name before any work is done."""
    OBJECTIVES.get(config.objective)
    for encoder in (config.encoder, config.sentence_encoder):
        if encoder is None:
            continue
        if encoder not in ENCODERS and encoder in _transformers():
            raise BadInput(f"There is no encoder named {encoder!r}: did you mean hf:{encoder}?")
        ENCODERS.get(encoder)


def prepare(config: TrainConfig, corpus: Corpus, *, watcher: Watcher = QUIET) -> Prepared:
    """Tokenise all splits and build the model, everything random from the seed."""
    pretrained = _pretrained_path(config, watcher)
    with watcher.status("Splitting texts into words"):
        vocabulary = _vocabulary(config, corpus, pretrained)
        splits, notes = encode_splits(config, corpus, vocabulary)
    shape = {name: getattr(config, name) for name in complete(ModelOptions).model_fields}
    decided = {
        "vocabulary_size": len(vocabulary),
        "classes": len(corpus.labels),
        "query": corpus.task != "classification",
    }
    if pretrained is None:
        check_room(complete(Architecture)(**shape, **decided))
    torch.manual_seed(config.seed)
    transformer, embeddings = None, None
    if pretrained is not None:
        with watcher.status("Loading the pretrained model"):
            transformer = load_transformer(pretrained)
        shape["transformer"] = transformer_config(transformer)
    else:
        embeddings = initial_embeddings(
            vocabulary.words,
            source=config.vectors,
            size=config.embedding_size,
            seed=config.seed,
            watcher=watcher,
        )
        shape["embedding_size"] = embeddings.matrix.shape[1]
        if config.vectors:
            known = len(vocabulary) - 2
            notes.append(
                f"{Path(config.vectors).name} covers {embeddings.covered} of {known} words; others are drawn from its distribution."
            )
    architecture = complete(Architecture)(**shape, **decided)
    model = AttentionModel(architecture, transformer)
    if embeddings is not None and model.embedding is not None:
        model.embedding.weight.data.copy_(torch.from_numpy(embeddings.matrix))
        model.embedding.weight.requires_grad_(config.train_embeddings)
    if config.mask_vectors is not None and isinstance(model.word_mask, GroupMask):
        with watcher.status("Grouping similar words"):
            groups, covered = similar_words(
                vocabulary.words, source=config.mask_vectors, groups=config.mask_groups, seed=config.seed
            )
        model.word_mask.groups[: len(groups)] = torch.from_numpy(groups)
        notes.append(
            f"{Path(config.mask_vectors).name} puts {covered} of {len(groups)} words into {config.mask_groups} groups; others share one mask."
        )
    return Prepared(Classifier(model, vocabulary, corpus.labels, corpus.task), splits, tuple(notes))


def read_words(config: TrainConfig, corpus: Corpus) -> tuple[Vocabulary, dict[str, Instances]]:
    """Cut all splits into the words of train, as training does; nothing is built or fetched."""
    vocabulary = _learn(config, corpus, ["train"])
    return vocabulary, encode_splits(config, corpus, vocabulary)[0]


def encode_splits(
    config: TrainConfig, corpus: Corpus, vocabulary: Vocabulary
) -> tuple[dict[str, Instances], list[str]]:
    """Tokenise all splits, without the texts that are too short, and note what a reader should know of it."""
    splits: dict[str, Instances] = {}
    notes = list(corpus.notes)
    for name, split in corpus.splits.items():
        instances = Instances.encode(split, vocabulary, classes=len(corpus.labels))
        long_enough = np.flatnonzero(instances.tokens.items >= config.min_words)
        if len(long_enough) < len(instances):
            notes.append(
                f"{len(instances) - len(long_enough)} texts of {name} have fewer than {config.min_words} words and are left out."
            )
            if not len(long_enough):
                raise BadInput(f"No text of {name} has {config.min_words} words: lower --min-words.")
            instances = Instances.encode(split.take(long_enough), vocabulary, classes=len(corpus.labels))
        if instances.tokens.cut:
            limit = int(instances.lengths.max())
            notes.append(f"{instances.tokens.cut} texts of {name} are cut after {limit} tokens.")
        splits[name] = instances
    return splits, notes


def _pretrained_path(config: TrainConfig, watcher: Watcher) -> str | None:
    """Find a pretrained transformer: an asset that is fetched on demand, a folder, or a hub name."""
    name = member_of("hf", config.encoder)
    if name is None:
        return None
    return assets.find_transformer(name, watcher=watcher)


def _transformers() -> list[str]:
    return [name for name, asset in assets.assets().items() if asset.kind == "transformer"]


def _vocabulary(config: TrainConfig, corpus: Corpus, pretrained: str | None) -> Vocabulary:
    if pretrained is not None:
        return Vocabulary.from_transformer(pretrained, max_length=config.max_length)
    objective = OBJECTIVES.get(config.objective)
    if config.base is not None and objective.shares_vocabulary and "base" in objective.options:
        return Classifier.from_pretrained(config.base).vocabulary  # two models are compared item by item
    learnt = _learn(config, corpus, ["train"])
    if not config.open_vocabulary or config.vectors is None:
        return learnt
    new = sorted({*_learn(config, corpus, corpus.splits).words} - {*learnt.words})
    # Pretrained vectors say nothing about labels: a word that only test contains may be known by its vector.
    found = read_vectors(config.vectors, new)[1] if new else ()
    return learnt.extended(word for word, known in zip(new, found, strict=True) if known)


def _learn(config: TrainConfig, corpus: Corpus, splits: Iterable[str]) -> Vocabulary:
    columns = [
        column for name in splits for column in (corpus.splits[name].texts, corpus.splits[name].queries or [])
    ]
    return Vocabulary.learn(
        (text for column in columns for text in column),
        min_count=config.min_count,
        max_length=config.max_length,
        sentences=config.hierarchical,
        lowercase=config.lowercase,
        punctuation=config.punctuation,
        numbers=config.numbers,
    )
