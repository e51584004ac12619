"""Pairs of texts as one sequence: what a classifier of pairs reads, with the words of both as items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from heedful.data.corpus import Split
from heedful.data.instances import Instances
from heedful.data.tokens import FlatTokens
from heedful.data.words.vocabulary import Vocabulary, within_words, without_space

BETWEEN = " | "
"""Stands between the two texts where they are shown; the model reads its own separator instead."""
_CHUNK = 1024


def pair_instances(split: Split, vocabulary: Vocabulary, *, classes: int, typed: bool) -> Instances:
    """Tokenise the two texts of every row together, and let them stand in one text from then on."""
    assert split.queries is not None
    tokens = encode_pairs(split.texts, split.queries, vocabulary, typed=typed)
    shown = [first + BETWEEN + second for first, second in zip(split.texts, split.queries, strict=True)]
    return Instances(replace(split, texts=shown, queries=None), tokens, None, classes, paired=True)


def encode_pairs(
    firsts: Sequence[str], seconds: Sequence[str], vocabulary: Vocabulary, *, typed: bool
) -> FlatTokens:
    """Turn pairs into flat tokens whose offsets count in the text that shows both.

    Pairs that are too long lose words at the end of the longer text first, as with transformers' `truncation=True`.
    """
    counts: list[int] = []
    columns = ids, offsets, word_of, type_of = [list[np.ndarray]() for _ in range(4)]
    cut = 0
    for begin in range(0, len(firsts), _CHUNK):
        pairs = list(zip(firsts[begin : begin + _CHUNK], seconds[begin : begin + _CHUNK], strict=True))
        for (first, second), encoding in zip(pairs, vocabulary.tokenizer.encode_batch(pairs), strict=True):
            of_second = np.array([number == 1 for number in encoding.sequence_ids], dtype=bool)
            spans = np.fromiter(chain.from_iterable(encoding.offsets), np.int32).reshape(-1, 2)
            spans[of_second] += len(first) + len(BETWEEN)
            spans = without_space(first + BETWEEN + second, spans)
            counts.append(len(encoding))
            ids.append(np.array(encoding.ids, np.int32))
            word_of.append(vocabulary.number_words(first + BETWEEN + second, encoding, spans, of_second))
            offsets.append(within_words(spans, word_of[-1]))
            type_of.append(np.array(encoding.type_ids, np.int32))
            cut += vocabulary.tokenizer.truncation is not None and bool(encoding.overflowing)
    whole = [np.concatenate(column) if column else np.empty(0, np.int32) for column in columns]
    return FlatTokens(
        rows=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        ids=whole[0],
        offsets=whole[1].reshape(-1, 2),
        word_of=whole[2],
        cut=cut,
        type_of=whole[3] if typed else None,
    )
