"""A classifier of heedful's as a victim: it reads token ids, and only what is new of a draft is cut into tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from heedful.attacks.draft import Draft, Source
from heedful.attacks.in_place import InPlace
from heedful.attacks.pieces import Pieces
from heedful.attacks.victim import brought
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch
from heedful.data.tokens import FlatTokens
from heedful.errors import BadInput
from heedful.models.answers import checked
from heedful.models.shorter import read, reader
from heedful.models.stages import Auditable, probabilities

_ID = np.dtype(">u4")
"""Ids are written with their highest byte first, so that bytes sort as ids do."""


class _Base(NamedTuple):
    """A draft that others are made of: the ids of all its pieces, and where those of each begin."""

    ids: bytes
    begins: list[int]


class ClassifierVictim:
    """A model with words and labels of its own; its attention, if it has any, does not matter here.

    What it reads of a text is the ids of its tokens, as bytes. Where every token is a word, a text is cut at its
    spaces and the ids of each piece are looked up: no token holds a space.
    """

    def __init__(self, classifier: Auditable, *, batch_size: int = 64, plain: bool = False) -> None:
        if classifier.task != "classification":
            raise BadInput(
                f"{classifier.name} reads a text for a question or hypothesis, and attacks know texts alone: "
                f"attack a model that classifies texts."
            )
        self._classifier, self._batch_size = classifier, batch_size
        self._model = classifier.model.eval()
        self._vocabulary = classifier.vocabulary
        self._by_word = self._vocabulary.unknown is not None and not self._vocabulary.sentences
        self._reader = None if plain or not self._by_word else reader(self._model)
        longest = self._vocabulary.longest
        self._longest = None if longest is None else longest * _ID.itemsize
        self._in_place = InPlace(self._vocabulary)
        self._ids: dict[str, bytes] = {}
        self._pieces: WeakKeyDictionary[Source, Pieces] = WeakKeyDictionary()
        self.labels: tuple[str, ...] | None = classifier.labels

    def keys(self, drafts: Sequence[Draft]) -> Sequence[bytes | str]:
        """Give the ids of each draft, or its text where tokens are not words."""
        if not self._by_word:
            return [draft.text for draft in drafts]
        bases: dict[int, _Base] = {}
        changed: list[tuple[_Base, int, str]] = []
        for draft in drafts:
            base = draft.base or draft
            if id(base) not in bases:
                bases[id(base)] = self._base(base)
            place = -1 if base is draft else self._pieces[draft.source].of_word[draft.position]
            text = "" if base is draft else self._pieces[draft.source].text(place, draft.new)
            changed.append((bases[id(base)], place, text))
        self._tokenise(text for _, _, text in changed)
        keys = [
            base.ids
            if place < 0
            else base.ids[: base.begins[place]] + self._ids[text] + base.ids[base.begins[place + 1] :]
            for base, place, text in changed
        ]
        return keys if self._longest is None else [key[: self._longest] for key in keys]

    def read(self, keys: Sequence[bytes | str]) -> NDArray[np.float64]:
        """Give probabilities, by a shorter way where the model knows one."""
        if not len(keys):
            return np.empty((0, len(self._classifier.labels)))
        with torch.inference_mode():
            if self._reader is None:
                logits = self._read_plainly(keys)
            else:
                logits = self._reader([np.frombuffer(key, _ID) for key in keys if isinstance(key, bytes)])
        # In double precision: 1 − p of a text that the model is sure of has few digits otherwise.
        return checked(probabilities(logits.double()), keys)

    def knows(self, words: Sequence[str]) -> list[bool] | None:
        """Whether no token of a word is unknown."""
        unknown = self._vocabulary.unknown
        if unknown is None:
            return None
        self._tokenise(words)
        return [unknown not in np.frombuffer(self._ids[word], _ID) for word in words]

    def knows_at(self, draft: Draft, position: int, words: Sequence[str]) -> list[bool] | None:
        """Whether no token of what each word brings to its place in a draft is unknown."""
        unknown = self._vocabulary.unknown
        if unknown is None:
            return None
        pieces = self._pieces.get(draft.source) or self._pieces.setdefault(draft.source, Pieces(draft.source))
        placed = [pieces.placed(position, {**draft.new, position: word}) for word in words]
        self._in_place.cut(text for text, _ in placed)
        known = []
        for word, (text, (_, end)) in zip(words, placed, strict=True):
            start = end - len(brought(draft, position, word))
            tokens = self._in_place.tokens(text)
            known.append(not any(number == unknown and a < end and start < b for number, a, b in tokens))
        return known

    def fingerprint(self) -> str:
        """That of the weights."""
        return self._classifier.fingerprint()

    def _base(self, draft: Draft) -> _Base:
        if draft.source not in self._pieces:
            self._pieces[draft.source] = Pieces(draft.source)
        pieces = self._pieces[draft.source]
        texts = list(pieces.texts)
        for position in draft.new:
            place = pieces.of_word[position]
            texts[place] = pieces.text(place, draft.new)
        self._tokenise(texts)
        ids = [self._ids[text] for text in texts]
        return _Base(b"".join(ids), np.cumsum([0, *map(len, ids)]).tolist())

    def _tokenise(self, texts: Iterable[str]) -> None:
        """Look up the ids of pieces that are new."""
        new = list(dict.fromkeys(text for text in texts if text not in self._ids))
        if new:
            tokens = self._vocabulary.encode(new)
            flat, rows = tokens.ids.astype(_ID), tokens.rows
            self._ids |= {text: flat[rows[row] : rows[row + 1]].tobytes() for row, text in enumerate(new)}

    def _read_plainly(self, keys: Sequence[bytes | str]) -> Float[Tensor, "keys outputs"]:
        """Run the four stages on padded batches."""
        if isinstance(keys[0], str):
            texts = [str(key) for key in keys]
            tokens = self._vocabulary.encode(texts)
        else:
            texts = [""] * len(keys)
            each = [np.frombuffer(key, _ID) for key in keys if isinstance(key, bytes)]
            rows = np.cumsum([0, *map(len, each)])
            tokens = FlatTokens(
                rows=rows.astype(np.int64),
                ids=np.concatenate(each).astype(np.int32),
                offsets=np.zeros((rows[-1], 2), dtype=np.int32),
            )
        found: list[Tensor] = [torch.empty(0)] * len(keys)
        for rows in inference_batches(tokens.lengths, self._batch_size):
            padded = tokens.pad(rows, [texts[row] for row in rows])
            batch = Batch(
                padded, labels=torch.zeros(len(rows), dtype=torch.long), rows=torch.from_numpy(rows)
            )
            for row, logits in zip(rows, read(self._model, batch).logits, strict=True):
                found[row] = logits
        return torch.stack(found)
