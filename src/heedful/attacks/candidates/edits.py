"""Edits: a word replaced, another put in after it, or two merged into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from heedful.attacks.draft import Draft

Kind = Literal["insert", "merge", "replace"]


class Edit(NamedTuple):
    """A kind of edit and the word it brings.

    >>> from heedful.attacks.draft import Source
    >>> draft = Draft(Source.cut("a very fine film"))
    >>> [Edit(kind, "good").apply(draft, 1).text for kind in ("replace", "insert", "merge")]
    ['a good fine film', 'a very good fine film', 'a good film']
    """

    kind: Kind
    word: str

    def apply(self, draft: Draft, position: int) -> Draft:
        """Make the edit at a word."""
        if self.kind == "merge":
            return draft.merged(position, self.word)
        word = self.word if self.kind == "replace" else f"{draft.word(position)} {self.word}"
        return draft.replaced(position, word)


def mergeable(draft: Draft, position: int) -> bool:
    """Whether a word and the next may become one: a space parts them, and another, or nothing, follows.

    >>> from heedful.attacks.draft import Source
    >>> draft = Draft(Source.cut("so slow , so very slow."))
    >>> [mergeable(draft, position) for position in range(5)]
    [True, False, True, False, False]
    """
    text, spans = draft.source.text, draft.source.spans
    if position + 1 >= len(spans):
        return False
    (_, end), (start, after) = spans[position : position + 2]
    return text[end:start] == " " and text[after : after + 1] in ("", " ")


@runtime_checkable
class Edits(Protocol):
    """A source of candidates that gives more than substitutes."""

    def propose_edits(
        self, places: Sequence[tuple[Draft, int]], allows: Callable[[Draft, int], bool]
    ) -> list[list[Edit]]:
        """Give edits at each word, named by a draft and its position; `allows` says whether another word may go."""
