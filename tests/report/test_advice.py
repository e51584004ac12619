"""What to do: what was measured to help against a failure, or that nothing is known to; never steady for anything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.conftest import CAVEAT, FAILS, HELPED, PASSES, policy_of

from heedful.audits.policy import Rule
from heedful.reports.advice import Step, neighbours, steps
from heedful.reports.material import Material

UNSTABLE = Rule(measure="embedding_stability.relative_jsd", show=0.01, reason="it moves")


def advised(material: Material) -> list[Step]:
    return steps(material, neighbours(material))


def commands(found: list[Step]) -> str:
    return "\n".join(step.command for step in found)


def test_what_helped_against_a_failure_is_named_with_its_command(result, tmp_path) -> None:
    folder = result(policy=policy_of(PASSES, HELPED)).save(tmp_path / "runs" / "mine" / "audits" / "one")
    found = advised(Material.read(folder))
    (step,) = [step for step in found if step.title == "Train another model"]
    assert step.text.endswith("leave-one-out's”: It helped 9 of 12 models.")
    assert (
        step.command
        == f"heedful train --config {tmp_path / 'runs' / 'mine' / 'config.yaml'} --encoder pointer"
    )
    assert not any(step.title == "Nothing known helps" for step in found)


def test_a_run_of_this_folder_is_named_from_here(result, tmp_path, monkeypatch) -> None:
    """A report is passed on: where its run lies on this machine is nobody else's business."""
    monkeypatch.chdir(tmp_path)
    folder = result(policy=policy_of(PASSES, HELPED)).save(tmp_path / "runs" / "mine" / "audits" / "one")
    material = Material.read(folder)
    assert material.called == "runs/mine"
    told = commands(advised(material))
    assert "--config runs/mine/config.yaml" in told and str(tmp_path) not in told


def test_another_model_than_one_that_heedful_did_not_train_is_trained_on_the_same_data(result) -> None:
    """It has no config to begin from."""
    found = result(policy=policy_of(PASSES, HELPED))
    scope = replace(found.about.scope, trained=False)
    found.about = found.about.model_copy(update={"scope": scope, "data": "sst2 test"})
    (step,) = [step for step in advised(Material.of(found)) if step.title == "Train another model"]
    assert step.command == "heedful train sst2 --encoder pointer"


def test_where_nothing_helps_it_is_said(result) -> None:
    found = advised(Material.of(result(policy=policy_of(PASSES, FAILS, CAVEAT))))
    (step,) = [step for step in found if step.title == "Nothing known helps"]
    assert FAILS.about.description in step.text
    assert CAVEAT.about.description not in step.text  # it cannot forbid
    assert "heedful train" not in commands(found)


@pytest.mark.parametrize(("rule", "offered"), [(UNSTABLE, True), (FAILS, False), (CAVEAT, False)])
def test_steady_is_offered_against_an_unstable_heatmap_alone(result, rule, offered) -> None:
    found = result(names=("sharpness", rule.audit), policy=policy_of(PASSES, rule))
    assert ("--objective steady" in commands(advised(Material.of(found)))) == offered


def test_a_heatmap_that_may_be_shown_needs_no_remedy(result) -> None:
    assert [step.title for step in advised(Material.of(result(policy=policy_of(PASSES))))][:1] == ["Show it"]
    assert "train" not in commands(advised(Material.of(result(policy=policy_of(PASSES)))))


def test_not_enough_evidence_asks_for_more_texts(result) -> None:
    found = result(policy=policy_of(PASSES, least_texts=75))
    first = advised(Material.of(found))[0]
    assert (first.title, first.command) == ("Audit more texts", "heedful audit toy-run FILE")
    assert "About 15 more texts would tell" in first.text
    found.about = found.about.model_copy(update={"options": found.about.options | {"limit": 60}})
    first = advised(Material.of(found))[0]
    assert "Leave out --limit" in first.text
    assert first.command == "heedful audit toy-run"
    # Neither left out a text: there were fewer.
    found.about = found.about.model_copy(
        update={"options": found.about.options | {"limit": 61, "quick": True}}
    )
    assert advised(Material.of(found))[0].command == "heedful audit toy-run FILE"
    more = found.about.model_copy(update={"texts": 500})
    found.about = more
    assert "Leave out --limit and --quick" in advised(Material.of(found))[0].text


def test_what_decides_and_was_not_asked_is_asked_for(result) -> None:
    first = advised(Material.of(result(names=["sharpness"], policy=policy_of(PASSES, FAILS))))[0]
    assert first.command == "heedful audit toy-run --only agreement"


def test_only_runs_with_a_better_verdict_are_called_better(result, tmp_path) -> None:
    """Findings of some questions are no verdict, whatever they say."""
    runs = tmp_path / "runs"
    folder = result(policy=policy_of(PASSES, FAILS)).save(runs / "mine" / "audits" / "one")
    result(policy=policy_of(PASSES), model="good").save(runs / "good" / "audits" / "one")
    result(policy=policy_of(PASSES), model="part", partial=True).save(runs / "part" / "audits" / "one")
    result(policy=policy_of(PASSES, FAILS), model="bad").save(runs / "bad" / "audits" / "one")
    (step,) = [s for s in advised(Material.read(folder)) if s.title == "Show another model's"]
    assert "good (" in step.text
    assert "part (" not in step.text
    assert "bad (" not in step.text
