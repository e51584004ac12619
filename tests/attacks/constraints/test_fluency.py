from __future__ import annotations

from heedful.attacks.constraints.fluency import MostProbable, NotLessProbable, context
from heedful.attacks.draft import Draft, Source

DRAFT = Draft(Source.cut("a fine film , and a long one"))


class Table:
    """Log probabilities from a table; what was asked is kept."""

    def __init__(self, values):
        self.values, self.contexts = values, []

    def log_probabilities(self, contexts, words):
        self.contexts += contexts
        return [[self.values[word] for word in some] for some in words]


VALUES = {"b": -5.0, "c": -1.0, "d": -9.0, "e": -2.0, "f": -1.5, "fine": -3.0, "film": -1.0}


def test_the_most_probable_are_kept_and_not_the_first():
    kept = MostProbable(Table(VALUES), count=2).keep_each([(DRAFT, 1), (DRAFT, 2)], [list("bdcef"), ["d"]])
    assert kept == [["c", "f"], ["d"]]


def test_of_equally_probable_ones_the_first_are_kept():
    table = Table(dict.fromkeys("abc", -1.0))
    assert MostProbable(table, count=2).keep_each([(DRAFT, 1)], [list("abc")]) == [["a", "b"]]


def test_nothing_stands_before_the_first_word():
    assert context(DRAFT, 0, 6)[0] == ""
    assert context(DRAFT, len(DRAFT.source) - 1, 3) == ("and a long", "")


def test_the_context_is_that_of_the_draft_or_of_the_original():
    draft = DRAFT.replaced(2, "story")
    table = Table(VALUES)
    MostProbable(table, count=1, window=2).keep_each([(draft, 1)], [["b", "c"]])
    NotLessProbable(table, drop=1, window=2).keep_each([(draft, 1)], [["b", "c"]])
    assert table.contexts == [("a", "story ,"), ("a", "film ,")]


def test_a_drop_of_five_is_the_most():
    # Of the original word, -3: not of what stands there now.
    draft = DRAFT.replaced(1, "d")
    assert NotLessProbable(Table(VALUES), drop=2.0).keep_each(
        [(draft, 1), (draft, 2)], [list("bcd"), []]
    ) == [
        ["b", "c"],
        [],
    ]
