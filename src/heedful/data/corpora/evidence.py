"""Annotated evidence → character spans, whatever form an annotation came in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Any

from heedful.data.corpus import Span
from heedful.errors import BadInput


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences of a text whose sentences end in '. ', as in bAbI.

    >>> sentence_spans("A b. C d.")
    [(0, 4), (5, 9)]
    """
    ends = [match.start() + 1 for match in re.finditer(r"\. ", text)] + [len(text)]
    return list(zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True))


def support_spans(text: str, support: Sequence[int], *, row: int) -> list[Span]:
    """Spans of the sentences that an annotator named, counted from 0.

    >>> support_spans("A b. C d.", [1], row=1)
    [(5, 9)]
    """
    sentences = sentence_spans(text)
    for number in support:
        if not 0 <= number < len(sentences):
            raise BadInput(
                f"The support in row {row} names sentence {number} and the text has {len(sentences)}: "
                f"count sentences from 0, each ending in a full stop and a space."
            )
    return [sentences[number] for number in sorted(set(support))]


_WRITTEN = re.compile(r"\s*(\[\s*[01]?([\s,]+[01])*\s*\]|[01]([\s,]+[01])+)\s*")


def marks(raw: Any) -> list[int] | None:
    """Read marks of tokens: a list of numbers, or zeros and ones in a string, as a CSV file holds them; else None.

    >>> marks([False, True]), marks([0.0, 1.0]), marks("[0, 1]"), marks("0 1"), marks("as good as gold")
    ([0, 1], [0, 1], [0, 1], [0, 1], None)
    """
    if isinstance(raw, str) and _WRITTEN.fullmatch(raw):
        return [int(mark) for mark in re.findall("[01]", raw)]
    return whole_numbers(raw)


def whole_numbers(raw: Any) -> list[int] | None:
    """Read a list of whole numbers; None for anything else, which is another dataset's column of the same name."""
    if not isinstance(raw, list) or not all(isinstance(n, int | float) and n == n // 1 for n in raw):
        return None
    return [int(n) for n in raw]


def token_spans(tokens: Sequence[str]) -> list[Span]:
    """Spans of tokens in the text that they make when a space is put between them, whatever they hold themselves.

    >>> token_spans(["New York", ",", "", "I"])
    [(0, 8), (9, 10), (11, 11), (12, 13)]
    """
    ends = accumulate(tokens, lambda end, token: end + 1 + len(token), initial=-1)
    return [(end - len(token), end) for token, end in zip(tokens, islice(ends, 1, None), strict=True)]


def rationale_spans(
    text: str, rationale: Sequence[int], *, row: int, tokens: Sequence[str] | None = None
) -> list[Span]:
    """Spans of the tokens that an annotator marked, those given or else those between white space; neighbours are joined.

    >>> rationale_spans("a very good film", [0, 1, 1, 0], row=1)
    [(2, 11)]
    >>> rationale_spans("New York is big", [1, 0, 0], row=1, tokens=["New York", "is", "big"])
    [(0, 8)]
    """
    if tokens is not None:
        places, whose, kind = token_spans(tokens), "its column tokens", "token of that column"
    else:
        places, whose, kind = [m.span() for m in re.finditer(r"\S+", text)], "the text", "white-space token"
    if len(places) != len(rationale):
        raise BadInput(
            f"The rationale in row {row} marks {len(rationale)} tokens and {whose} has {len(places)}: "
            f"give one 0 or 1 for every {kind}."
        )
    other = next((mark for mark in rationale if mark not in (0, 1)), None)
    if other is not None:
        raise BadInput(f"The rationale in row {row} has a mark of {other}: give one 0 or 1 for every {kind}.")
    spans: list[Span] = []
    previous = 0
    for (start, end), marked in zip(places, rationale, strict=True):
        if marked and previous:
            spans[-1] = (spans[-1][0], end)
        elif marked:
            spans.append((start, end))
        previous = marked
    return spans
