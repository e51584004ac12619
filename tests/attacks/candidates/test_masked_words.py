from __future__ import annotations

from heedful.attacks.attack import Attack
from heedful.attacks.candidates.edits import Edit
from heedful.attacks.candidates.masked_words import MaskedEdits, MaskedWords
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice, ShareOfWords
from heedful.attacks.draft import Draft, Source
from heedful.attacks.driver import Driver
from heedful.attacks.language_model import Expected
from heedful.attacks.searches.greedy_edits import GreedyEdits
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import FunctionVictim


class Model:
    """Expects the same words everywhere, and remembers the texts it was asked about."""

    mask = "[MASK]"

    def __init__(self, **words):
        self.words, self.asked = [Expected(word, p) for word, p in words.items()], []

    def expected(self, texts, count):
        self.asked += texts
        return [self.words[:count] for _ in texts]


def test_words_expected_in_a_words_place_without_itself():
    model = Model(good=0.5, Fine=0.2, dull=0.1, slow=0.01)
    draft = Draft(Source.cut("A Fine film"))
    assert MaskedWords(model, count=2).propose([(draft, 1), (draft, 2)]) == [
        ["Good", "Dull"],
        ["good", "fine"],
    ]
    assert model.asked == ["A [MASK] film", "A Fine [MASK]"]


def test_three_kinds_of_edits_each_with_its_own_threshold():
    model = Model(good=0.5, dull=1e-3, slow=1e-4)
    draft = Draft(Source.cut("a fine film ."))
    (edits,) = MaskedEdits(model).propose_edits([(draft, 1)], lambda draft, position: True)
    words = {
        kind: [edit.word for edit in edits if edit.kind == kind] for kind in ("replace", "insert", "merge")
    }
    assert words == {"replace": ["good", "dull"], "insert": ["good", "dull", "slow"], "merge": ["good"]}
    assert model.asked == ["a [MASK] film .", "a fine [MASK] film .", "a [MASK] ."]


def test_stop_words_words_already_replaced_and_bounds_are_not_merged():
    draft = Draft(Source.cut("very fine film")).replaced(2, "story")
    for constraint in (NoWordTwice(), NoStopWords(frozenset({"film", "story"})), ShareOfWords(0.6)):
        attack = Attack(MaskedEdits(Model(good=0.5)), (constraint,), GreedyEdits())
        space = SearchSpace(attack)
        (edits,) = attack.candidates.propose_edits([(draft.with_words({}), 1)], space._allows)
        both = Edit("merge", "good") in edits
        assert both == (not isinstance(constraint, NoStopWords))
    (edits,) = attack.candidates.propose_edits(
        [(draft, 1)], SearchSpace(Attack(attack.candidates, (NoWordTwice(),), GreedyEdits()))._allows
    )
    assert Edit("merge", "good") not in edits


def attacked(text, victim, *constraints, **words):
    attack = Attack(MaskedEdits(Model(**words)), (NoWordTwice(), *constraints), GreedyEdits())
    done: list = []
    Driver(attack, FunctionVictim(victim), SearchSpace(attack)).run(
        [(0, Source.cut(text), 1)], done=done.append
    )
    return done[0]


def by_words(**strength):
    def victim(texts):
        found = []
        for text in texts:
            p = min(max(0.9 + sum(strength.get(word, 0.0) for word in text.split()), 0.0), 1.0)
            found.append([1 - p, p])
        return found

    return victim


def test_the_best_edit_of_all_is_made_until_the_goal_is_reached():
    text = attacked("a fine film", by_words(dull=-0.25), dull=0.5)
    # Two edits are enough; of equal ones the first: each word in turn, insertions before merges and replacements.
    assert text.status == "successful" and text.draft.text == "a dull fine dull film"
    assert [(c.old, c.new) for c in text.draft.changes()] == [("", " dull"), ("", " dull")]


def test_a_merge_wins_where_both_words_count():
    text = attacked("a fine warm day", by_words(fine=0.1, warm=0.1, a=-0.2, good=-0.3), good=0.5)
    assert text.draft.text == "a good day" and text.status == "successful"
    assert [(c.old, c.new) for c in text.draft.changes()] == [("fine warm", "good")]


def test_it_ends_when_nothing_helps():
    text = attacked("a fine film", by_words(good=0.05), good=0.5)
    assert (text.status, text.draft.text) == ("failed", "a fine film")
