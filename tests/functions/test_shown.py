"""What a result says of itself: a short repr, and an output for notebooks in which nothing of others runs."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

import heedful
from heedful.errors import BadInput
from heedful.panel.for_show import ForShow

EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")
TEXTS = [
    f"{EVIL} {i} was {(BAD, GOOD)[i % 2][i % 4]} and {(BAD, GOOD)[i % 2][i // 4 % 4]} ." for i in range(60)
]
LABELS = ["<b>no</b>", "yes"] * 30
SMALL = {
    "embedding_size": 8,
    "hidden": 4,
    "epochs": 2,
    "progress": False,
    "encoder": "average",
    "learning_rate": 0.05,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("shown") / "runs"


@pytest.fixture(scope="module")
def model(runs):
    return heedful.train(TEXTS, LABELS, runs=runs, **SMALL)


@pytest.fixture(scope="module")
def shown(model, runs, tmp_path_factory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "synonyms.txt").write_text(
        "great dull\nwarm slow\nfunny grim\nlovely boring\n", encoding="utf-8"
    )
    other = heedful.train(TEXTS, LABELS, runs=runs, seed=1, **SMALL)
    audit = heedful.audit(model, TEXTS, LABELS, only=["sharpness", "permutation"], progress=False)
    asked = {
        "recipe": "textfooler",
        "similarity": False,
        "same_part_of_speech": False,
        "synonyms": folder / "synonyms.txt",
        "limit": 20,
        "progress": False,
    }
    return {
        "prediction": model(TEXTS)[0],
        "predictions": model(TEXTS),
        "explanations": heedful.explain(model, TEXTS[:3], "leave_one_out"),
        "audit": audit,
        "verdict": audit.verdict,
        "attack": heedful.attack(model, TEXTS, LABELS, **asked),
        "comparison": heedful.compare(
            [model.run, other.run], only=["sharpness"], by_method=False, progress=False
        ),
        "for show": ForShow(model, audit, model),
    }


KINDS = ["prediction", "predictions", "explanations", "audit", "verdict", "attack", "comparison", "for show"]


@pytest.mark.parametrize("kind", KINDS)
def test_its_repr_is_a_few_lines(shown, kind):
    said = repr(shown[kind])
    assert 10 < len(said) < 1500 and len(said.splitlines()) <= 7


@pytest.mark.parametrize("kind", KINDS)
def test_it_draws_itself_and_nothing_of_others_runs(shown, kind, read_html: Callable):
    html = shown[kind]._repr_html_()
    found = read_html(html)
    assert found.count("script") == found.count("img") == found.count("b") == 0
    assert html.startswith('<div class="heedful-output">') and "http" not in html


@pytest.fixture
def read_html():
    from html.parser import HTMLParser

    def tags(html: str) -> list[str]:
        seen: list[str] = []
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attrs: seen.append(tag)  # type: ignore[method-assign]
        parser.feed(html)
        return seen

    return tags


def test_classifiers_say_what_they_are(model):
    assert repr(model).startswith("Classifier(texts-") and "average, <b>no</b> / yes" in repr(model)
    assert len(repr(model)) < 150


def test_heatmaps_show_every_text_up_to_a_number_and_say_what_is_left_out(model):
    html = model(TEXTS)._repr_html_()
    assert html.count('class="h-text"') == 20 and "40 more texts are not drawn" in html
    assert "There are no predictions." in model([])._repr_html_()


def test_predictions_are_a_list_and_a_frame(model):
    found = model(TEXTS[:4])
    assert isinstance(found, list) and found == [*found] and found[:2] == model(TEXTS[:2])
    assert type(found[:2]) is type(found)
    frame = found.to_frame()
    assert frame["label"].to_list() == [p.label for p in found]
    assert frame["items"][0].struct.field("weight").sum() == pytest.approx(1)
    assert frame.schema["query"] == pl.String


def test_a_verdict_is_equal_to_its_word(shown):
    verdict = shown["verdict"]
    word = verdict.verdict
    assert verdict == word and word == verdict and verdict != "show" if word != "show" else verdict == "show"
    assert verdict == verdict.model_copy() and verdict != verdict.model_copy(update={"because": ()})
    assert verdict in {word} and {verdict: 1}[word] == 1 and verdict in ("show", word)
    assert type(verdict).__name__ == "Verdict" and verdict.judgements is not None


def test_a_report_is_a_function_whatever_was_imported(shown, tmp_path, monkeypatch):
    import heedful.reports.page

    monkeypatch.chdir(tmp_path)
    page = heedful.report(shown["audit"])
    assert page.name == "report.html" and "<script>alert(1)" not in page.read_text(encoding="utf-8")
    assert (
        heedful.report([shown["audit"], shown["audit"]], "both.tex")
        .read_text(encoding="utf-8")
        .startswith("%")
    )
    assert heedful.report(shown["audit"], format="json").name == "report.json"
    assert heedful.report(shown["audit"], "c.md", format="card", partial=True).is_file()
    with pytest.raises(BadInput, match="model card"):
        heedful.report(shown["audit"], format="card")
    with pytest.raises(BadInput, match="does not say its format"):
        heedful.report(shown["audit"], "a.pdf")
    with pytest.raises(BadInput, match="did you mean html"):
        heedful.report(shown["audit"], format="htm")
    with pytest.raises(BadInput, match="There is no run"):
        heedful.report("no-such-run")
