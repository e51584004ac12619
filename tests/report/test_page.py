"""The file itself: whole, small, safe, honest about what was left out."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from heedful.audits.audit import AUDITS
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.output.shades import AGAINST_DARK, AGAINST_LIGHT, DARK, LIGHT, contrast, shades
from heedful.reports.exports import write
from heedful.reports.material import Material
from heedful.reports.page import render, write_report


def test_sections_come_in_the_order_of_reading(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    headings = [
        "What decided",
        "What to do",
        "See for yourself",
        "Every question and its evidence",
        "Provenance",
    ]
    places = [re.search(rf"<h2[^>]*>{heading}<", text).start() for heading in headings]  # type: ignore[union-attr]
    assert places == sorted(places)
    assert re.search(r"<h1[^>]*>[^<]*(show|Show)[^<]*explanation", text)


def test_only_its_own_script_and_style_may_run(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])  # type: ignore[index]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.S)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert not re.search(r'\s(style|on\w+)="', text)
    assert not re.search(r"<(img|iframe|object|embed|audio|video|form[^>]*action)", text)


@pytest.mark.parametrize("palette", [LIGHT, DARK, AGAINST_LIGHT, AGAINST_DARK])
def test_words_can_be_read_at_every_weight(palette) -> None:
    found = shades(palette)
    assert min(contrast(ground, text) for ground, text in found) >= 4.5
    lightness = [sum(ground) for ground, _ in found]
    assert lightness == sorted(
        lightness, reverse=palette in (LIGHT, AGAINST_LIGHT)
    )  # one way only, so that all read the same


@pytest.mark.parametrize("name", list(AUDITS))
def test_every_audit_brings_figures_that_say_what_they_show(result, name) -> None:
    found = result(names=[name])
    audit = AUDITS.get(name)(complete(AuditOptions)())
    charts = audit.charts(Material.of(found).numbers(name))
    assert charts
    for chart in charts:
        assert chart.title
        assert re.search(r"\d", chart.alt)
    assert audit.equation
    assert audit.method
    assert audit.order


def test_figures_of_many_texts_say_that_they_are_a_sample(result) -> None:
    texts = ["a b"] * 2001
    few, many = (render([Material.of(result(texts[:n], names=["single_erasure"]))]) for n in (2000, 2001))
    assert "random sample of 2,000 of 2,001 texts" in many
    assert "random sample" not in few


def test_a_hundred_thousand_texts_are_not_read(result, tmp_path, monkeypatch) -> None:
    """Of all texts only the chosen ones are taken from the disk, and the page stays small."""
    found = result(["a warm film that is long enough"] * 100, names=["sharpness", "counterfactual"])
    found.frames = {
        name: pl.concat([frame] * 1000).with_columns(row=pl.int_range(100_000))
        for name, frame in found.frames.items()
    }
    found.save(tmp_path / "audit")
    read = []
    collect = pl.LazyFrame.collect

    def spy(self, *arguments, **named):
        frame = collect(self, *arguments, **named)
        read.append(len(frame) if {"text", "weights", "counterfactual_weights"} & set(frame.columns) else 0)
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", spy)
    path = write_report([Material.read(tmp_path / "audit")], tmp_path / "audit.html")
    assert 0 < max(read) <= 200
    assert path.stat().st_size < 3_000_000
    assert "200 of 100,000 texts are here" in path.read_text(encoding="utf-8")


def test_the_default_audit_fits_into_a_mail(result, tmp_path) -> None:
    long = [" ".join(f"word{i}" for i in range(200))] * 2000
    assert result(long).report(tmp_path / "a.html").stat().st_size < 3_000_000


def test_what_was_not_run_is_said_and_how_to_run_it(result) -> None:
    text = render([Material.of(result(names=["sharpness", "permutation"]))])
    assert "Questions that were not asked" in text
    assert "heedful audit toy-run --only counterfactual" in text
    assert "Another heatmap, nearly the same answer" not in text
    assert "was not measured" in text


@pytest.mark.parametrize(
    ("source", "command", "unasked"),
    [
        ("gradient", "heedful audit toy-run --source gradient --only ", ("permutation", "certificate")),
        ("own scores", "heedful audit toy-run --source FILE --only ", ("permutation", "embedding_stability")),
    ],
)
def test_of_other_scores_only_what_can_be_asked_is_proposed(result, source, command, unasked) -> None:
    found = result(names=["sharpness"])
    found = replace(found, about=found.about.model_copy(update={"source": source}))
    (line,) = re.findall(f"{command}[a-z_,]+", render([Material.of(found)]))
    assert "flip_set" in line and not any(name in line for name in unasked)


def test_no_texts_at_all_is_no_crash(result) -> None:
    assert "no removal" not in render([Material.of(result(["a b"], names=["sharpness"]))])


def test_several_audits_stand_side_by_side(result) -> None:
    text = render([Material.of(result(model="one")), Material.of(result(model="two"))])
    assert text.count('class="audit"') == 2
    assert 'data-table="comparison"' in text
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_provenance_comes_from_the_folder(result, tmp_path) -> None:
    folder = tmp_path / "runs" / "mine" / "audits" / "toys"
    result().save(folder)
    command = ["heedful", "audit", "mine", "half \ud800 a character"]
    (folder / "environment.json").write_text(
        json.dumps({"command": command, "commit": "abc123", "versions": {"torch": "9"}})
    )
    (folder.parent.parent / "config.yaml").write_text("objective: vanilla\nhidden: 7\n")
    text = write_report([Material.read(folder)], tmp_path / "a.html").read_text(encoding="utf-8")
    for part in (
        "heedful audit mine",
        "abc123",
        "torch 9",
        "vanilla",
        "hidden: 7",
        "@inproceedings{jain-wallace",
    ):
        assert part in text


def test_neighbours_are_listed_and_damaged_ones_passed_over(result, tmp_path) -> None:
    audits = tmp_path / "runs" / "mine" / "audits"
    result().save(audits / "one")
    other = result(names=["sharpness"])
    other.about = other.about.model_copy(update={"source": "leave_one_out"})
    other.save(audits / "two")
    (audits / "three").mkdir()
    (audits / "three" / "audit.json").write_text("{")
    text = render([Material.read(audits / "one")])
    assert "Other audits nearby" in text
    assert "<td>leave-one-out</td>" in text
    assert "did better" not in text  # an audit of other rules and other texts says nothing of that


def test_damage_is_one_sentence_and_the_old_report_stays(result, tmp_path) -> None:
    folder = result().save(tmp_path / "audit")
    target = tmp_path / "audit.html"
    target.write_text("the old report")
    (folder / "instances" / "counterfactual.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(BadInput, match=r"counterfactual\.parquet is missing or damaged"):
        write_report([Material.read(folder)], target)
    (folder / "instances" / "predictions.parquet").unlink()
    with pytest.raises(BadInput, match=r"predictions\.parquet is missing or damaged"):
        write_report([Material.read(folder)], target)
    assert target.read_text() == "the old report"


def test_tables_for_papers_and_cards(result) -> None:
    material = Material.of(result(labels=("a|b", "c_d"), model="50% & more_"))
    markdown, latex, card = (write([material], form) for form in ("md", "latex", "card"))
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (6, 7) for row in rows)
    assert r"50\% \& more\_" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 7
    assert not re.search(r"[τεα≤≥]", latex)
    assert card.startswith("## Attention as explanation\n\n**")
    assert json.loads(write([material], "json"))[0]["about"]["model"] == "50% & more_"
    assert "Side by side" in write([material, material], "md")
