"""Synonyms from WordNet."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.attacks.cut import one_word
from heedful.attacks.draft import Draft
from heedful.data.words.tagger import tagger, universal
from heedful.data.words.wordnet import PartOfSpeech, wordnet

_PARTS: dict[str, tuple[PartOfSpeech, ...]] = {"NOUN": ("n",), "VERB": ("v",), "ADJ": ("a",), "ADV": ("r",)}


class WordNetSynonyms:
    """All one-word lemmas of all meanings of a word; or of the meanings of its part of speech in the text.

    A word that is no noun, verb, adjective or adverb then has none.
    """

    by_word = True

    def __init__(self, *, same_part_of_speech: bool = False) -> None:
        self._wordnet, self._same = wordnet(), same_part_of_speech
        self._found: dict[tuple[str, tuple[PartOfSpeech, ...]], list[str]] = {}
        if same_part_of_speech:
            self._tagger = tagger()

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Look each word up."""
        return [
            self._synonyms(draft.word(position), self._parts(draft, position)) for draft, position in places
        ]

    def _parts(self, draft: Draft, position: int) -> tuple[PartOfSpeech, ...]:
        if not self._same:
            return ("n", "v", "a", "r")
        tags = self._tagger.tag(draft.source.words)
        return _PARTS.get(universal(tags[position]), ())

    def _synonyms(self, word: str, parts: tuple[PartOfSpeech, ...]) -> list[str]:
        found = self._found.get((word, parts))
        if found is None:
            lemmas = (lemma for synset in self._wordnet.synsets(word, parts) for lemma in synset)
            found = [
                lemma
                for lemma in dict.fromkeys(lemmas)
                if lemma != word and "_" not in lemma and one_word(lemma)
            ]
            self._found[word, parts] = found
        return found
