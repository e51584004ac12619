"""What an audit gives back: frames that join, files that come back, and a page that any text may stand in."""

from __future__ import annotations

import io
import json
import math
import re

import polars as pl
import pytest
import torch
from rich.console import Console

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.running.result import AuditResult
from heedful.audits.subject.scores import padded
from heedful.errors import BadInput
from heedful.explainers.explain import explain

NAMES = (
    "sharpness",
    "agreement",
    "certificate",
    "counterfactual",
    "embedding_stability",
    "flip_set",
    "infidelity",
    "permutation",
    "rationale",
    "reach",
    "single_erasure",
)
HOSTILE = "[bold]fine[/] film [/] [red] \x1b[2J plot"


@pytest.fixture
def result(model, many_texts):
    return heedful.audit(model(encoder="average"), many_texts, progress=False, permutations=10)


def shown(result) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=False, color_system=None)
    result.show(console)
    return console.file.getvalue()


def test_all_audits_stand_side_by_side(result):
    whole = result.to_frame()
    assert len(whole) == 37 == result.about.texts
    assert result.about.counted == "37 texts"
    assert result.about.model_copy(update={"texts": 1}).counted == "1 text"
    assert whole["row"].is_sorted()
    assert whole["row"].is_unique().all()
    for name in NAMES:
        own = result.to_frame(name)
        assert own["row"].to_list() == whole["row"].to_list()
        for column in set(own.columns) - {"row", "predicted", "items"}:
            assert own[column].equals(whole[f"{name}.{column}"], check_names=False)
    with pytest.raises(BadInput, match="imitation was not run"):
        result.to_frame("imitation")


def test_predictions_say_what_was_read(result, many_texts):
    rows = result.to_frame("predictions")
    texts = pl.read_csv(many_texts)
    for row in rows.iter_rows(named=True):
        text = texts["text"][row["row"]]
        assert row["text"] == text
        assert row["label"] == texts["label"][row["row"]]
        assert [text[a:b] for a, b in zip(row["starts"], row["ends"], strict=True)] == text.split()
        assert row["items"] == len(row["weights"]) == len(text.split())
        assert sum(row["weights"]) == pytest.approx(1, abs=1e-5)
        assert row["probability"] == max(row["probabilities"])
    assert "3 texts have one word only" in " ".join(result.about.notes)


def test_sentences_have_spans(model, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('text\nA fine film. It holds up well!\n"Dull. Great, great. Old"\nOne only\n')
    found = heedful.audit(model(encoder="bigru", hierarchical=True), path, progress=False)
    rows = found.to_frame("predictions").to_dicts()
    spans = [[r["text"][a:b] for a, b in zip(r["starts"], r["ends"], strict=True)] for r in rows]
    assert spans[0] == ["A fine film.", "It holds up well!"]
    assert len(rows) == 2
    assert "1 texts have one sentence only" in " ".join(found.about.notes)
    assert set(found.summaries) == set(NAMES)


def test_a_saved_audit_comes_back(result, tmp_path):
    folder = result.save(tmp_path / "kept")
    again = AuditResult.load(folder)
    assert (again.about, again.verdict, again.summaries) == (result.about, result.verdict, result.summaries)
    assert again.to_frame().equals(result.to_frame())
    assert again.to_json() == result.to_json() == json.loads((folder / "audit.json").read_text())
    assert shown(again) == shown(result)


def test_numbers_are_means_with_intervals(result):
    for name, summary in result.summaries.items():
        assert summary.question == AUDITS.get(name).question
        assert summary.finding.endswith(".")
        assert summary.caveats
        for number in summary.numbers:
            if number.estimate is not None:
                assert number.low - 1e-12 <= number.estimate <= number.high + 1e-12
                about = AUDITS.get(name).measures[number.name]
                assert about.low - 1e-9 <= number.estimate <= about.high + 1e-9
    frame = result.to_frame("counterfactual")
    overall = result.summaries["counterfactual"].number("eps_max_jsd")
    assert overall.estimate == pytest.approx(frame["eps_max_jsd"].mean())
    for label in frame["predicted"].unique():
        by_class = result.summaries["counterfactual"].number("eps_max_jsd", f"class {label}")
        assert by_class.estimate == pytest.approx(
            frame.filter(pl.col("predicted") == label)["eps_max_jsd"].mean()
        )
    bins = [n for n in result.summaries["permutation"].numbers if n.group.startswith("largest weight")]
    assert len(bins) == 4
    assert sum(n.count for n in bins) == len(frame)


DAMAGE = {
    "cut off": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "audits as a list": lambda text: json.dumps(json.loads(text) | {"audits": []}),
    "no verdict": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "verdict"}),
    "unknown verdict": lambda text: re.sub(r'"verdict": "[a-z ]+"', '"verdict": "perhaps"', text),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_result_is_one_sentence(result, tmp_path, damage):
    folder = result.save(tmp_path / "kept")
    path = folder / "audit.json"
    path.write_text(damage(path.read_text()))
    with pytest.raises(BadInput, match=r"audit\.json is damaged") as refused:
        AuditResult.load(folder)
    assert "\n" not in str(refused.value)


def test_missing_and_damaged_parts_are_one_sentence(result, tmp_path):
    with pytest.raises(BadInput, match="There is no finished audit in"):
        AuditResult.load(tmp_path)
    folder = result.save(tmp_path / "kept")
    (folder / "instances" / "flip_set.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match=r"flip_set\.parquet is missing or damaged"):
        AuditResult.load(folder)
    (folder / "instances" / "flip_set.parquet").unlink()
    with pytest.raises(BadInput, match=r"flip_set\.parquet is missing or damaged"):
        AuditResult.load(folder)
    with pytest.raises(BadInput, match=r"audit\.json is damaged"):
        AuditResult.load(folder / "audit.json")


def test_show_tells_what_was_found_and_the_verdict_and_the_next_step_last(result):
    page = shown(result)
    assert result.verdict.verdict == "not enough evidence"
    last = page.index("Not enough evidence to show this model’s attention as an explanation.")
    assert page.index("too few texts: Does the heatmap point anywhere at all?") < last < page.index("Next: ")
    assert (
        page.startswith("untrained (average) on 37 texts of texts.csv, accuracy 0.")
        or "37 texts of texts.csv" in page.splitlines()[0]
    )
    assert len(page.splitlines()) <= 40


def test_hostile_names_and_texts_are_shown_as_they_stand(model, tmp_path):
    path = tmp_path / "[bold]x[red]\x1b[2J.csv"
    path.write_text("text,label\n" + "".join(f'"{HOSTILE} {k}","[/] \x1b]0;{k % 2}"\n' for k in range(6)))
    classifier = model(encoder="average")
    classifier.labels = ("[/] \x1b]0;0", "[/] \x1b]0;1")
    found = heedful.audit(classifier, path, progress=False, permutations=5)
    page = shown(found)
    assert "\x1b" not in page
    assert "[bold]x[red]" in page
    assert found.to_frame()["text"][0].startswith("[bold]fine[/] film")
    folder = found.save(tmp_path / "kept")
    assert AuditResult.load(folder).to_frame().equals(found.to_frame())


def test_unlabelled_texts_have_no_accuracy(model, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\na fine film\nthe plot is thin\n")
    found = heedful.audit(model(encoder="average"), path, progress=False, only=["sharpness"])
    assert found.about.performance == {}
    assert found.to_frame()["label"].is_null().all()
    assert "accuracy" not in shown(found).replace("accuracy is not measured", "")
    assert str(found.verdict) == "not enough evidence"  # two texts prove nothing


def test_own_scores_are_audited_in_the_place_of_attention(model, many_texts, tmp_path):
    classifier = model(encoder="average")
    texts = pl.read_csv(many_texts)["text"].to_list()
    gradients = [[item.weight for item in p.items] for p in explain(classifier, texts, "gradient")]
    own = heedful.audit(classifier, many_texts, scores=gradients, progress=False)
    named = heedful.audit(classifier, many_texts, source="gradient", progress=False)
    asked = {"sharpness", "agreement", "single_erasure", "flip_set", "rationale", "infidelity"}
    assert set(own.summaries) == asked  # nobody knows the user's scores of texts with noise
    assert set(named.summaries) == asked | {"embedding_stability"}
    for name in asked:
        a, b = own.to_frame(name), named.to_frame(name)
        for column in a.columns:
            if a[column].dtype.is_float():
                assert a[column].to_list() == pytest.approx(b[column].to_list(), abs=1e-5, nan_ok=True)
    taus = [t for t in own.to_frame("agreement")["tau_g"] if not math.isnan(t)]
    assert taus == pytest.approx([1.0] * len(taus))
    assert "the scores given" in own.summaries["agreement"].finding.lower()
    assert "own scores" in shown(own)
    with pytest.raises(BadInput, match="has scores for 39 texts, and there are 40"):
        heedful.audit(classifier, many_texts, scores=gradients[:-1], progress=False)
    with pytest.raises(BadInput, match="Text 3 has 3 items and the list of scores gives it 2"):
        heedful.audit(
            classifier, many_texts, scores=[*gradients[:2], [1.0, 2.0], *gradients[3:]], progress=False
        )


def test_own_scores_stand_where_the_items_are():
    """A transformer's first token is no item."""
    mask = torch.tensor([[False, True, True, False], [False, True, True, True]])
    laid = padded([[9.0], [1.0, 2.0], [3.0, 4.0, 5.0]], torch.tensor([1, 2]), mask)
    assert laid.tolist() == [[0, 1, 2, 0], [0, 3, 4, 5]]


def test_joined_emoji_and_newlines_are_shown_as_elsewhere(result):
    family = "👩\u200d👩\u200d👧"
    result.about = result.about.model_copy(update={"notes": (f"{family}\nand more",)})
    assert f"Note: {family} and more" in shown(result)
