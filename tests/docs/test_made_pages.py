"""The pages of the panel and of models for show, and what every verdict says of its errors, follow from the numbers kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.audits.audit import ALL
from heedful.audits.policy import read_policy
from heedful.audits.verdict import KINDS
from heedful.panel import cost_frontier
from heedful.panel.case import sound
from heedful.panel.learn import LEARNT, held_out, learn
from heedful.panel.panel_page import page
from heedful.panel.table import read_table
from heedful.panel.verdicts import error_rates, errors

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def cases():
    return read_table()


@pytest.fixture(scope="module")
def attention(cases):
    return sound([case for case in cases if case.source == "attention"])


def test_the_page_of_the_panel_is_what_its_cases_make(cases):
    assert (DOCS / "panel.md").read_text(encoding="utf-8") == page(cases, read_policy())


def test_the_policy_holds_the_lines_and_the_error_rates_of_the_panel(attention):
    policy = read_policy()
    lines = {rule.measure: rule.forbid for rule in learn(attention, policy).rules if rule.measure in LEARNT}
    assert lines == {rule.measure: rule.forbid for rule in policy.rules if rule.measure in LEARNT}
    judged = held_out(attention, policy)
    assert policy.errors[ALL] == error_rates(errors(judged))
    for kind in set(policy.errors) - {ALL}:
        of_kind = [pair for pair in judged if KINDS.get(pair[0].encoder) == kind]
        assert policy.errors[kind] == error_rates(errors(of_kind))


def test_the_policy_errs_as_seldom_as_is_asked(attention):
    found = errors(held_out(attention, read_policy()))
    assert found.shown.share <= 0.05 and found.forbidden.share <= 0.10
    assert min(found.shown.of, found.forbidden.of) >= 60 and len({c.corpus for c in attention}) >= 6


def test_the_page_of_models_for_show_is_what_its_numbers_make():
    kept = json.loads((DOCS / "measured" / "for-show.json").read_text(encoding="utf-8"))
    assert (DOCS / "for-show.md").read_text(encoding="utf-8") == cost_frontier.page(kept)


def test_readme_says_what_the_panel_says(attention):
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    found = errors(held_out(attention, read_policy()))
    assert f"tried on {len(attention)} small models on {len({c.corpus for c in attention})} corpora" in readme
    assert f"of {found.shown.of} unfaithful heatmaps" in readme
    assert f"of {found.forbidden.of} faithful ones" in readme
