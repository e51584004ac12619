from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest


@pytest.fixture
def standard_input(monkeypatch):
    def feed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return feed


def json_lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_plain_text_names_the_label_and_the_weights(run, trained):
    shown = run("predict", trained, "a great film")
    label, text, weights = shown.out.splitlines()
    (found,) = json_lines(run("predict", trained, "a great film", "--json").out)
    assert label.split()[0] == found["label"]
    assert text == "a great film"
    assert {word.split()[0] for word in weights.split("   ")} == {"a", "great", "film"}
    assert "\x1b" not in shown.out


def test_colour_where_it_is_asked_for(run, trained, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert "\x1b[38;2;255;255;255;48;2;8;48;97m" in run("predict", trained, "great").out


def test_a_run_by_name(run, trained):
    by_name = run("predict", trained.name, "a great film", "--runs", trained.parent)
    assert by_name == run("predict", trained, "a great film")


def test_json_lines_hold_every_word_with_its_place_and_weight(run, trained):
    shown = run("predict", trained, "a great film", "dull", "--json")
    first, second = json_lines(shown.out)
    assert [first["text"][item["start"] : item["end"]] for item in first["items"]] == ["a", "great", "film"]
    assert [item["text"] for item in first["items"]] == ["a", "great", "film"]
    assert sum(item["weight"] for item in first["items"]) == pytest.approx(1)
    assert sum(first["probabilities"].values()) == pytest.approx(1)
    assert first["label"] == max(first["probabilities"], key=first["probabilities"].get)
    assert second["text"] == "dull"
    assert "words" not in first


def test_rows_of_a_file_go_to_a_file(run, trained, reviews):
    result = run("predict", trained, "--data", reviews, "-o", "out/predictions.jsonl")
    assert result.out == "60 predictions written to out/predictions.jsonl.\n"
    assert len(json_lines(Path("out/predictions.jsonl").read_text())) == 60


def test_a_file_in_the_place_of_a_text_is_read(run, trained, reviews):
    named = run("predict", trained, "--data", reviews, "--json")
    assert run("predict", trained, reviews, "--json") == named
    (found,) = json_lines(run("predict", trained, "great.csv", "--json").out)
    assert found["text"] == "great.csv"  # there is no such file
    assert run("predict", trained, "great " * 2000 + ".csv", "--json").code == 0


def test_a_line_of_standard_input_is_a_text(run, trained, standard_input):
    # A form feed and a Unicode line separator stand inside a line.
    standard_input("great\x0cfilm\r\n\ndull \u2028 film\n".encode())
    assert [row["text"] for row in json_lines(run("predict", trained, "--json").out)] == [
        "great\x0cfilm",
        "dull \u2028 film",
    ]


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"\n \n", "held no text"), (b"\xff\xfe\n", "is not UTF-8")]
)
def test_standard_input_that_cannot_be_used(run, trained, standard_input, content, sentence):
    standard_input(content)
    refused = run("predict", trained)
    assert refused.code == 2
    assert sentence in refused.err


@pytest.mark.parametrize("text", ["", "  ", "\t"])
def test_an_empty_text_is_refused(run, trained, text):
    refused = run("predict", trained, "fine", text)
    assert refused.code == 2
    assert "Text 2 is empty" in refused.err


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J\x1b]0;title\x07 great",  # clears the screen, sets the title, rings
        "great\rdull\x08\x00",
        "\u202egreat\u202c \u2066film\u2069",  # turns the direction of what follows
        "\x9b31m great",  # the same as an escape sequence, in one character
    ],
)
def test_a_text_cannot_steer_the_terminal(run, trained, text):
    shown = run("predict", trained, text)
    assert shown.code == 0
    assert "great" in shown.out
    assert all(c.isprintable() or c == "\n" for c in shown.out)
    as_json = run("predict", trained, text, "--json").out
    assert all(c.isprintable() or c == "\n" for c in as_json)
    assert json.loads(as_json)["text"] == text


@pytest.mark.parametrize("text", ["שלום עולם great", "👨‍👩‍👧 great 👍🏽", "می‌خواهم great"])
def test_other_scripts_are_shown_as_they_are(run, trained, text):
    assert text in run("predict", trained, text).out


def test_a_lone_surrogate_from_the_command_line_is_no_crash(run, trained):
    assert "� great" in run("predict", trained, "\udcff great").out


def test_ten_thousand_words_are_cut_on_screen_and_whole_in_json(run, trained):
    text = " ".join(["great"] * 10_000)
    shown = run("predict", trained, text)
    assert len(shown.out) < 10_000
    assert "(cut here; the rest is in --json)" in shown.out
    assert "great 1.0e-04" in shown.out
    (row,) = json_lines(run("predict", trained, text, "--json").out)
    assert len(row["items"]) == 10_000


def test_a_question_is_shown_with_its_text(run, trained_qa):
    shown = run("predict", trained_qa, "Mary went home.", "--query", "Where is Mary?")
    assert "for: Where is Mary?" in shown.out
    assert "home" in shown.out


def test_questions_from_a_file(run, trained_qa):
    Path("q.csv").write_text("story,asked\nMary went home.,Where is Mary?\n")
    columns = ("--text-column", "story", "--query-column", "asked")
    (row,) = json_lines(run("predict", trained_qa, "--data", "q.csv", *columns, "--json").out)
    assert row["query"] == "Where is Mary?"


def test_a_hierarchical_model_weighs_sentences_and_shades_words(run, trained_hierarchical):
    text = "It was great. We left."
    shown = run("predict", trained_hierarchical, text).out
    assert "It was great. 0." in shown
    (row,) = json_lines(run("predict", trained_hierarchical, text, "--json").out)
    assert [item["text"] for item in row["items"]] == ["It was great.", "We left."]
    assert [item["text"] for item in row["words"]] == ["It", "was", "great", ".", "We", "left", "."]
    assert sum(word["weight"] for word in row["words"]) == pytest.approx(1)


def test_a_model_without_attention_says_so(run, trained_without_attention):
    assert (
        "This model has no attention: heedful explain scores its words."
        in run("predict", trained_without_attention, "great film").out
    )
    (row,) = json_lines(run("predict", trained_without_attention, "great film", "--json").out)
    assert row["items"] == []
