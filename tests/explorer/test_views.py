"""Every view in a real browser: wide and narrow, light and dark, with a mouse and with keys."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.patience import soon

TEXT = "film 3 was lovely and great ."
VIEWS = ["try", "try-words", "attack", "look", "look-text", "compare", "papers", "paper"]


def opened(visit: Callable[..., Any], site: Any, runs: Any, view: str, **how: Any) -> Any:
    """Open a view with something in it."""
    name, _, more = view.partition("-")
    paths = {
        "try": f"/try?model={runs.plain}&text={quote(TEXT)}" + ("&word=3:dull" if more else ""),
        "attack": f"/attack?model={runs.plain}&text={quote(TEXT)}",
        "look": f"/look?model={runs.plain}",
        "compare": f"/compare?model={runs.plain}&text={quote(TEXT)}",
        "papers": "/papers",
        "paper": "/papers/seat?dataset=mr&encoder=bilstm",
    }
    page = visit(site, paths[name], **how)
    wait = {
        "try": ".word",
        "attack": "#recipe option",
        "look": "#table tbody tr",
        "compare": ".side .heat",
        "papers": ".paper",
        "paper": ".part",
    }
    page.locator(wait[name]).first.wait_for(state="attached")
    if view == "look-text":
        page.locator("#table td.text button").first.click()
        page.locator("#one h2").wait_for()
    page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (380, "light"), (380, "dark")]
)
def test_every_view_fits_and_has_no_serious_fault(
    visit: Any, site: Any, runs: Any, view: str, width: int, scheme: str
) -> None:
    page = opened(visit, site, runs, view, width=width, scheme=scheme)
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths == [width, width]
    assert page.locator("#fault").is_hidden()
    where = find_spec("axe_playwright_python")
    if where is None or where.origin is None:
        pytest.skip("axe-core is not here: pip install axe-playwright-python")
    page.evaluate(Path(where.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    faults = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((done) => done.violations)")
    serious = [
        (f["id"], f["nodes"][0]["html"][:200]) for f in faults if f["impact"] in ("serious", "critical")
    ]
    assert serious == []


def numbers(page: Any) -> list[float]:
    return [float(one) for one in page.locator("#answer .class p span:last-child").all_inner_texts()]


def test_a_weight_is_dragged_and_the_answer_follows(visit: Any, site: Any, runs: Any) -> None:
    page = opened(visit, site, runs, "try")
    before = numbers(page)
    page.locator(".word .column").nth(3).scroll_into_view_if_needed()
    box = page.locator(".word .column").nth(3).bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] - 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] - 20, steps=4)
    page.mouse.up()
    page.locator("#facts div").first.wait_for()
    page.wait_for_load_state("networkidle")
    sliders = page.locator(".word")
    values = [float(one.get_attribute("aria-valuenow")) for one in sliders.all()]
    assert values[3] == 1
    assert sum(values) == 1
    page.wait_for_url("**how=given**")
    again = visit(site, page.url.replace(site.address, ""))  # the address alone brings it back
    again.locator("#facts div").first.wait_for()
    after = numbers(again)
    assert after != before
    assert soon(lambda: numbers(page) == after)  # the last of several answers may still be on its way


def test_weights_are_moved_with_keys(visit: Any, site: Any, runs: Any) -> None:
    page = opened(visit, site, runs, "try")
    words = page.locator(".word")
    words.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert words.nth(1).evaluate("word => word === document.activeElement")
    before = float(words.nth(1).get_attribute("aria-valuenow"))
    page.keyboard.press("PageUp")
    assert float(words.nth(1).get_attribute("aria-valuenow")) > before
    page.locator("#facts div").first.wait_for()


def test_buttons_words_and_the_way_back(visit: Any, site: Any, runs: Any) -> None:
    page = opened(visit, site, runs, "try")
    own = numbers(page)
    page.get_by_role("button", name="All alike").click()
    page.get_by_text("has the same weight").wait_for()
    assert page.get_by_role("button", name="All alike").get_attribute("aria-pressed") == "true"
    page.locator(".word .name").nth(3).click()
    page.locator("#word-delete").click()
    page.locator("#effects").wait_for()
    assert "“lovely” deleted" in page.locator("#effects-says").inner_text()
    assert "lovely" not in page.locator("#effect-real .heat").inner_text()
    assert "lovely" in page.locator("#effect-attention .heat").inner_text()
    page.go_back()
    page.locator("#effects").wait_for(state="hidden")
    page.get_by_role("button", name="The model’s own").click()
    page.get_by_text("The model’s own weights.").wait_for()
    assert numbers(page) == own


def test_a_text_is_picked(visit: Any, site: Any, runs: Any) -> None:
    page = visit(site, f"/try?model={runs.plain}")
    page.locator("#pick").click()
    page.locator("#words").fill("grim")
    page.wait_for_function(
        "() => document.querySelectorAll('#picker-texts li').length && [...document.querySelectorAll('#picker-texts li')].every(li => li.textContent.includes('grim'))"
    )
    page.locator("#picker-texts button").first.click()
    page.locator(".word", has_text="grim").first.wait_for()
    assert "grim" in page.locator("#board").inner_text()
    assert "text=" in page.url


def test_brushing_a_figure_filters_the_table_and_stands_in_the_address(
    visit: Any, site: Any, runs: Any
) -> None:
    page = opened(visit, site, runs, "look")
    every = page.locator("#count").inner_text()
    chart = page.locator(".chart svg").first
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30, steps=3)
    page.mouse.up()
    page.wait_for_function("before => document.getElementById('count').textContent !== before", arg=every)
    page.wait_for_load_state("networkidle")
    some = page.locator("#count").inner_text()
    assert " of " in some
    assert "where=" in page.url
    page.locator("#table thead button").nth(3).click()
    page.locator("#table th[aria-sort]").wait_for()
    page.wait_for_load_state("networkidle")
    rows = page.locator("#table tbody tr").all_inner_texts()
    again = visit(site, page.url.replace(site.address, ""))
    again.locator("#table th[aria-sort]").wait_for()
    assert again.locator("#count").inner_text() == some
    assert again.locator("#table tbody tr").all_inner_texts() == rows


def test_whoever_comes_without_a_text_finds_one_to_move(visit: Any, site: Any, runs: Any) -> None:
    page = visit(site, f"/try?model={runs.plain}")
    page.locator(".word").first.wait_for()
    words = page.locator(".word .name").all_inner_texts()
    assert " ".join(words) == page.locator("#text").input_value()
    assert page.get_by_role("slider").count() == len(words)


def test_words_without_a_score_are_no_top_words(visit: Any, site: Any, runs: Any) -> None:
    page = opened(visit, site, runs, "compare")

    def without_scores(route: Any) -> None:
        answer = route.fetch()
        heat = answer.json()
        if runs.heads in route.request.url:
            heat["weights"] = [0 for _ in heat["weights"]]
        elif runs.mean in route.request.url:
            heat["weights"] = [float(place == 0) for place, _ in enumerate(heat["weights"])]
        route.fulfill(response=answer, json=heat)

    page.route("**/read", without_scores)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("Every word has a score of zero.").wait_for()
    sides = {side.locator("h2").inner_text(): side for side in page.locator(".side").all()}
    assert sides[runs.plain].locator(".marked").count() == 3
    assert sides[runs.heads].locator(".marked").count() == 0
    assert sides[runs.mean].locator(".marked").all_inner_texts() == ["film"]
    assert "Of its top word, underlined," in sides[runs.mean].inner_text()


def test_work_is_stopped_however_slow_the_click(visit: Any, site: Any, runs: Any) -> None:
    """Its progress is drawn anew several times between press and release, and the button stays."""
    page = visit(site, f"/look?model={runs.plain}")
    asked: list[str] = []
    record = {"id": "20260101000000-00000000", "state": "running", "error": "", "begun": 0, "seconds": 1}
    record |= {"asked": {"kind": "audit", "model": runs.plain, "quick": True, "limit": None, "only": None}}
    record |= {"progress": {"doing": "Asking", "done": 1, "total": 9, "unit": "texts", "said": []}}

    def work(route: Any) -> None:
        asked.append(route.request.method)
        state = {"state": "stopped", "error": "Stopped."} if "DELETE" in asked else {}
        found = record | state
        many = route.request.method == "GET" and route.request.url.endswith("/work")
        one = found if route.request.method in ("POST", "DELETE") else {"work": found, "result": None}
        route.fulfill(json=[] if many else one)

    page.route("**/api/work**", work)
    page.route("**/api/work/**", work)
    page.get_by_role("button", name="Audit it").click()
    page.get_by_role("button", name="Begin the audit").click()
    page.get_by_role("button", name="Stop").hover()
    page.mouse.down()
    before = len(asked)
    page.wait_for_function("() => document.querySelector('#work progress').value === 1")
    while len(asked) < before + 3:
        page.wait_for_timeout(100)
    page.mouse.up()
    page.locator("#work strong", has_text="Stopped").wait_for()
    assert "DELETE" in asked


def test_a_button_that_answers_late_moves_nothing_any_more(visit: Any, site: Any, runs: Any) -> None:
    page = opened(visit, site, runs, "try")
    held: list[Any] = []
    page.route("**/button", lambda route: route.continue_() if held else held.append(route))
    page.get_by_role("button", name="Shuffle").click()
    page.get_by_role("button", name="All alike").click()
    page.get_by_text("has the same weight").wait_for()
    with page.expect_response("**/button"):
        held[0].continue_()
    page.evaluate("fetch('/api/models').then((answer) => answer.json())")  # by now the late one was taken in
    assert "has the same weight" in page.locator("#found").inner_text()
    assert page.get_by_role("button", name="Shuffle").get_attribute("aria-pressed") == "false"


def test_files_of_an_attack_are_named_in_the_page_and_stand_in_the_address(
    visit: Any, site: Any, runs: Any
) -> None:
    page = opened(visit, site, runs, "attack")
    asked: list[Any] = []

    def refuse(route: Any) -> None:
        if route.request.method == "POST":
            asked.append(route.request.post_data_json)
        record = {"id": "1", "asked": {"kind": "attack"}, "state": "stopped", "error": "", "seconds": 0}
        record["progress"] = {"doing": "", "done": 0, "total": 0, "unit": "", "said": []}
        whole = {"work": record, "result": None}
        route.fulfill(
            json=record if route.request.method == "POST" else whole if "/work/" in route.request.url else []
        )

    page.route("**/api/work**", refuse)
    page.route("**/api/work/**", refuse)
    page.locator("#recipe").select_option("bae")
    page.locator("#files summary").click()
    page.locator("#language_model").fill(" models/of mine ")
    page.get_by_role("button", name="Attack it").click()
    page.locator("#work strong", has_text="Stopped").wait_for()
    assert [one["language_model"] for one in asked] == ["models/of mine"]
    assert asked[0]["vectors"] is None
    again = visit(site, page.url.replace(site.address, "").replace("&work=1", ""))
    assert again.locator("#language_model").input_value() == "models/of mine"
    assert again.locator("#language_model").is_visible()


def test_a_page_behind_the_last_is_the_last(visit: Any, site: Any, runs: Any) -> None:
    page = visit(site, f"/look?model={runs.plain}&page=99")
    page.locator("#table tbody tr").first.wait_for()
    assert page.locator("#page").inner_text() == "Page 2 of 2"


def test_work_of_another_model_is_followed_no_longer(visit: Any, site: Any, runs: Any) -> None:
    page = visit(site, f"/look?model={runs.heads}")
    record = {"id": "1", "state": "running", "error": "", "begun": 0, "seconds": 1}
    record |= {"asked": {"kind": "audit", "model": runs.plain, "quick": True, "limit": None, "only": None}}
    record |= {"progress": {"doing": "Asking", "done": 1, "total": 9, "unit": "texts", "said": []}}
    page.route("**/api/work", lambda route: route.fulfill(json=[record]))
    page.route("**/api/work/1", lambda route: route.fulfill(json={"work": record, "result": None}))
    page.locator("#model").select_option(runs.plain)
    page.locator("#work strong", has_text="Asking").wait_for()
    page.locator("#model").select_option(runs.heads)
    page.locator("#work").wait_for(state="hidden")
    with page.expect_response("**/api/models"):
        page.evaluate("fetch('/api/models')")
    assert page.locator("#work").is_hidden()


def test_two_tabs_do_not_mind_each_other(visit: Any, site: Any, runs: Any) -> None:
    one, two = opened(visit, site, runs, "try"), opened(visit, site, runs, "try")
    one.get_by_role("button", name="All alike").click()
    one.get_by_text("has the same weight").wait_for()
    two.get_by_role("button", name="Shuffle").click()
    two.get_by_text("in another order").wait_for()
    weights = [
        [word.get_attribute("aria-valuenow") for word in page.locator(".word").all()] for page in (one, two)
    ]
    assert len(set(weights[0])) == 1
    assert len(set(weights[1])) > 1


def test_the_token_is_not_left_in_the_address(visit: Any, site: Any, runs: Any) -> None:
    page = visit(site, "/compare")
    assert site.token not in page.url
    page.reload()
    page.wait_for_load_state("networkidle")
    assert page.locator("#asking").is_visible()
