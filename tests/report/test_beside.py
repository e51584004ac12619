"""Attention beside other explainers: one table, the best of them drawn, and all of it from what is kept."""

from __future__ import annotations

import json
import re

import pytest
from tests.report.conftest import FAILS, PASSES, compared, policy_of
from tests.report.test_shapes import data_of

from heedful.audits.policy import Rule
from heedful.reports.beside import beside
from heedful.reports.exports import write
from heedful.reports.material import Material
from heedful.reports.page import render

RULES = (PASSES, Rule(measure="rationale.sufficiency_share", show=0.7, forbid=0.35, reason="enough"))
POLICY = policy_of(*RULES, FAILS)
BETTER = {
    "attention": (0.3, 0.2),
    "gradient": (0.2, 0.5),
    "leave_one_out": (0.15, 0.8),
    "integrated_gradients": (0.14, 0.9),
}
WORSE = BETTER | {"attention": (0.16, 0.97)}
TWO = ("sharpness", "agreement", "rationale", "counterfactual")


@pytest.fixture
def kept(result, tmp_path):
    """Give a function that keeps an audit with a comparison and gives its folder."""

    def keep(reached, **options):
        found = result(names=TWO, **{"policy": POLICY, **options})
        folder = found.save(tmp_path / "runs" / "mine" / "audits" / "one")
        compared(found, RULES, reached)
        return folder

    return keep


def table_of(page: str) -> list[list[str]]:
    table = re.search(r'<table class="versus".*?</table>', page, re.S)[0]  # type: ignore[index]
    return [
        [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr.*?</tr>", table, re.S)
    ]


def test_every_column_has_every_rule(kept) -> None:
    heads, *rows = table_of(render([Material.read(kept(BETTER))]))
    assert heads[1:] == ["attention", "gradient", "leave-one-out", "integrated gradients"]
    assert {len(row) for row in rows} == {5}
    sharp, enough, gain, alone = rows
    assert [re.search(r"passes|fails|caveat|undecided", cell)[0] for cell in enough[1:]] == ["fails", "caveat", "passes", "passes"]  # type: ignore[index] # fmt: skip
    assert ["best" in cell for cell in enough[1:]] == [False, False, False, True]
    assert not any("best" in cell for cell in sharp)  # a sharper heatmap is no better one
    assert "0.88 to 0.92" in enough[4]
    assert gain[1] == ""
    assert gain[4].startswith("+0.70")
    assert alone[1:] == ["show with caveat"] * 4


def test_the_best_is_drawn_beside_attention_for_the_texts_it_was_compared_on(kept) -> None:
    data = data_of(render([Material.read(kept(BETTER))]))
    assert data["maps"][:2] == ["The model's attention", "Integrated gradients"]
    assert data["beside"] == "integrated gradients"
    texts = {text["row"]: text for text in data["texts"]}
    assert len(texts) == 60
    for row, text in texts.items():
        assert (text["weights"][1] is None) == (row >= 10)
        assert text["probabilities"][1] is None
    # 1, −2, 3 of six: shares of all that is said, and what speaks against stays below zero.
    assert texts[0]["weights"][1] == [16667, -33333, 50000]


def test_texts_that_have_both_are_taken_first(kept, result, tmp_path) -> None:
    found = result(["a warm film that is long"] * 2000, names=TWO, policy=POLICY)
    folder = found.save(tmp_path / "runs" / "many" / "audits" / "one")
    compared(found, RULES, BETTER)
    page = render([Material.read(folder)])
    shown = {text["row"] for text in data_of(page)["texts"]}
    assert len(shown) == 200
    assert set(range(10)) <= shown
    assert "10 of them are among those on which integrated gradients was compared with attention" in page


def test_where_none_is_better_it_is_said_and_nothing_drawn(kept) -> None:
    page = render([Material.read(kept(WORSE))])
    assert "None of gradient, leave-one-out and integrated gradients did better than attention here" in page
    assert data_of(page)["beside"] is None
    assert "Integrated gradients" not in data_of(page)["maps"]
    assert "heedful explain" not in page


def test_a_difference_that_may_be_chance_makes_none_better(kept) -> None:
    """Where as many rules are passed, the interval of the mean difference must lie above zero."""
    level = {
        "attention": (0.3, 0.80),
        "gradient": (0.2, 0.5),
        "leave_one_out": (0.2, 0.5),
        "integrated_gradients": (0.2, 0.81),
    }
    assert not Material.read(kept(level)).alternatives.better  # type: ignore[union-attr]
    clear = level | {"integrated_gradients": (0.2, 0.83)}
    assert Material.read(kept(clear)).alternatives.better  # type: ignore[union-attr]


def test_too_few_texts_tell_nothing_of_others_either(result, tmp_path) -> None:
    """What the policy does not count against attention, it does not count for an explainer."""
    found = result(names=TWO, policy=policy_of(*RULES, least_texts=61))
    folder = found.save(tmp_path / "few")
    made = compared(found, RULES, BETTER, least_texts=61)
    assert made.best.gain.low > 0  # type: ignore[union-attr,operator]
    assert not made.better
    page = render([Material.read(folder)])
    assert "Compare on more texts." in page
    assert "Nothing else to show" not in page
    assert (
        "So few texts do not tell whether gradient, leave-one-out and integrated gradients would do better"
        in page
    )
    assert data_of(page)["beside"] is None


def test_what_was_left_out_is_named_with_the_reason(kept) -> None:
    found = Material.read(kept(BETTER)).alternatives
    assert found is not None
    notes = " ".join(beside(found).notes)
    assert "sample of 10 of 60 texts, drawn with seed 0" in notes
    assert re.search(r"Not compared: .*JSD.*; it asks about attention itself\.", notes)


def test_advice_follows_the_comparison(kept) -> None:
    page = render([Material.read(kept(BETTER))])
    assert "Integrated gradients did better than attention here, by the same rules" in page
    assert "--explainer integrated_gradients TEXT" in page


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(PASSES),  # shown: nothing is needed in its place
        policy_of(
            RULES[0], RULES[1].model_copy(update={"forbid": 0.3}), FAILS
        ),  # other thresholds than compared by
    ],
)
def test_a_comparison_of_another_verdict_is_not_shown(kept, policy) -> None:
    material = Material.read(kept(BETTER, policy=policy))
    assert material.alternatives is None
    page = render([material])
    assert "What could be shown instead" not in page
    assert data_of(page)["beside"] is None


def test_a_damaged_comparison_is_left_out_and_damaged_scores_are_named(kept) -> None:
    from heedful.errors import BadInput

    folder = kept(BETTER)
    (folder / "alternatives" / "integrated_gradients.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"integrated_gradients\.parquet is missing or damaged"):
        render([Material.read(folder)])
    (folder / "alternatives.json").write_text("{")
    assert "What could be shown instead" not in render([Material.read(folder)])


def test_tables_cards_and_json_have_it_too(kept) -> None:
    material = Material.read(kept(BETTER))
    markdown, card = write([material], "md"), write([material], "card")
    assert "Attention and other explainers on the same 10 texts" in markdown
    assert re.search(r"\| 0\.90 \(0\.88 to 0\.92\), passes \\\* \|", markdown)
    assert "Other explainers, on 10 texts: Integrated gradients did better" in card
    (found,) = json.loads(write([material], "json"))
    assert [column["source"] for column in found["alternatives"]["columns"]] == list(BETTER)


def test_words_against_the_prediction_are_told_apart(visit, kept) -> None:
    from heedful.reports.page import write_report

    folder = kept(BETTER)
    page = visit(write_report([Material.read(folder)], folder / "a.html")).page
    assert page.locator("[data-choice=beside]").input_value() == "yes"
    assert "of 10 matching texts" in page.locator("[data-count]").inner_text()
    page.locator("[data-choice=order]").select_option(label="in the order of the data")
    own, other, _ = page.locator(".card").first.locator(".heat").all()
    assert other.locator("span").evaluate_all("all => all.map(w => w.className)") == [
        "w8",
        "against n12",
        "w14",
    ]
    assert own.locator(".against").count() == 0
    other.locator("span").nth(1).hover()
    assert "Integrated gradients: −0.333" in page.locator("#tip").inner_text()
    page.mouse.move(0, 0)
    page.locator(".filters > summary").click()
    page.locator("[data-choice=beside]").select_option(label="that or nothing")
    assert "of 60 matching texts" in page.locator("[data-count]").inner_text()
