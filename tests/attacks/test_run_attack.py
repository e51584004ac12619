from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import heedful
from heedful.attacks import attacked_part
from heedful.attacks import run_attack as running
from heedful.attacks.attack_result import SCHEMA, AttackResult
from heedful.attacks.victim import knows_at
from heedful.errors import BadInput

TEXTS = ["A fine film.", "fine and good film", "a dull , slow film", "good", "a dull film"]
LABELS = [1, 1, 0, 1, 1]
BARE = {"recipe": "textfooler", "similarity": False, "same_part_of_speech": False, "progress": False}


@pytest.fixture
def attack(synonyms_file, votes):
    def attack(model=votes, texts=TEXTS, labels=LABELS, **options):
        return heedful.attack(model, texts, labels, **(BARE | {"synonyms": str(synonyms_file)} | options))

    return attack


def test_a_row_for_every_text_in_their_order(attack):
    frame = attack().to_frame()
    assert dict(frame.schema) == SCHEMA
    assert frame["original"].to_list() == TEXTS and frame["row"].to_list() == [0, 1, 2, 3, 4]
    assert frame["status"].to_list() == ["failed", "failed", "successful", "failed", "skipped"]
    for row in frame.iter_rows(named=True):
        for change in row["changed"]:
            assert row["original"][change["start"] : change["end"]] == change["old"]
            assert row["attacked"][change["new_start"] : change["new_end"]] == change["new"]
        assert abs(sum(row["probabilities_after"]) - 1) < 1e-9
        assert (row["attacked"] == row["original"]) == (not row["changed"])


def test_numbers_are_those_of_the_rows(attack):
    numbers = attack().numbers
    assert (numbers.texts, numbers.successful, numbers.failed, numbers.skipped) == (5, 1, 3, 1)
    assert (numbers.accuracy, numbers.after_attack_accuracy) == (0.8, 0.6)
    assert numbers.words_changed == 0.5  # two of four words, in the one that succeeds


def test_without_labels_the_model_is_right(attack):
    frame = attack(labels=None).to_frame()
    assert frame["label"].to_list() == frame["predicted"].to_list() and "skipped" not in frame["status"]


def test_without_labels_no_accuracy_is_claimed(attack, tmp_path):
    from heedful.output.terminal import as_text

    result = attack(labels=None, folder=tmp_path / "kept")
    assert np.isnan(result.numbers.accuracy) and result.numbers.after_attack_accuracy == 0.6
    said = as_text(result.show)
    assert "there are no labels" in said and "answers kept" in said and "after-attack accuracy" not in said
    assert "accuracy" not in repr(result) and "60.0 %" in repr(result)
    assert "the label is" not in result.report(tmp_path / "attack.html").read_text()
    assert np.isnan(AttackResult.load(tmp_path / "kept").numbers.accuracy)
    told = attack(
        labels=result.frame["label"].to_list()
    )  # the same classes, now as labels: another statement
    assert told.numbers.accuracy == 1 and told.about.identity != result.about.identity


def test_a_classifier_is_attacked_by_the_names_of_its_classes(attack, toy_classifier):
    model = toy_classifier(encoder="lstm", pooling="max")
    names = [found.label for found in model.predict(TEXTS)]
    result = attack(model, labels=names)
    assert result.about.labels == model.labels and result.numbers.skipped == 0
    with pytest.raises(BadInput, match="There is no class 'good'"):
        attack(model, labels=["good"] * 5)


def test_known_words_only(attack, toy_classifier):
    model = toy_classifier(encoder="lstm", pooling="max", seed=3)
    frame = attack(model, labels=None, known_words=True).to_frame()
    words = set(model.vocabulary.words)
    assert all(change["new"].lower() in words for row in frame["changed"] for change in row)
    assert not frame["unknown"].drop_nulls().any()


def test_what_works_only_through_unknown_words_is_said(toy_classifier, synonyms_file):
    from heedful.attacks.draft import Draft, Source
    from heedful.attacks.driver import Attacked

    model = toy_classifier(encoder="lstm", pooling="max")
    victim, _ = running.victim_of(model)
    text = Attacked(0, Source.cut("a fine film"), 0)
    text.status, text.draft = "successful", Draft(text.source, {1: "zzz"})
    probabilities = victim.read(victim.keys([Draft(text.source)]))
    text.label = int(probabilities.argmax())  # put back, the text is right again
    attack = running.ATTACKS.get("textfooler")(
        running.AttackOptions(synonyms=str(synonyms_file), similarity=False, same_part_of_speech=False)
    )
    assert attacked_part._unknown(victim, attack, [text]) == {0: (True, True)}
    text.draft = Draft(text.source, {1: "warm"})
    assert attacked_part._unknown(victim, attack, [text]) == {0: (False, False)}


def test_what_was_put_in_after_an_unknown_word_is_judged_by_itself(toy_classifier, synonyms_file):
    from heedful.attacks.draft import Draft, Source
    from heedful.attacks.driver import Attacked

    victim, _ = running.victim_of(toy_classifier(encoder="lstm", pooling="max"))
    attack = running.ATTACKS.get("textfooler")(
        running.AttackOptions(synonyms=str(synonyms_file), similarity=False, same_part_of_speech=False)
    )
    for word, unknown in (("zzyx warm", False), ("zzyx yyy", True), ("", False)):
        text = Attacked(0, Source.cut("a zzyx film"), 0)
        text.status, text.draft = "successful", Draft(text.source, {1: word})
        assert attacked_part._unknown(victim, attack, [text])[0][0] == unknown


def test_a_substitute_is_known_by_what_is_read_in_its_place(toy_classifier):
    from heedful.attacks.draft import Draft, Source

    victim, _ = running.victim_of(toy_classifier(encoder="lstm", pooling="max"))
    draft = Draft(Source.cut("zzyx/film. fine old."))
    known = knows_at(victim)
    assert known(draft, 3, ["warm", "warm."]) == [True, False]  # two dots are no word that it knows
    assert known(draft, 2, ["warm", "warm.", "yyy"]) == [True, True, False]


def test_an_attack_goes_on_where_it_was_stopped(attack, votes, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "TOGETHER", 2)
    whole = attack().to_frame()
    read = 0

    def stops(texts):
        nonlocal read
        read += 1
        if read > 8 + len(TEXTS):  # each is asked for twice at first
            raise KeyboardInterrupt
        return votes(texts)

    stops.__module__, stops.__qualname__ = votes.__module__, votes.__qualname__
    with pytest.raises(KeyboardInterrupt):
        attack(stops, folder=tmp_path / "kept")
    parts = list((tmp_path / "kept" / "parts").glob("*.parquet"))
    assert parts and not (tmp_path / "kept" / "rows.parquet").exists()
    asked = []

    def counts(texts):
        asked.extend(texts)
        return votes(texts)

    counts.__module__, counts.__qualname__ = votes.__module__, votes.__qualname__
    again = attack(counts, folder=tmp_path / "kept")
    assert again.to_frame().equals(whole)
    assert not any("good movie" in text for text in asked)  # texts that were done are not attacked again
    assert AttackResult.load(tmp_path / "kept").to_frame().equals(whole)
    assert not (tmp_path / "kept" / "parts").exists()


def test_texts_that_are_done_are_kept_while_others_of_their_batch_go_on(attack, votes, tmp_path, monkeypatch):
    monkeypatch.setattr(attacked_part, "_SECONDS", 0.0)
    whole = attack().to_frame()
    read = 0

    def stops(texts):
        nonlocal read
        read += 1
        if read > 5 + len(TEXTS):  # in the middle of the only batch
            raise KeyboardInterrupt
        return votes(texts)

    stops.__module__, stops.__qualname__ = votes.__module__, votes.__qualname__
    with pytest.raises(KeyboardInterrupt):
        attack(stops, folder=tmp_path / "kept")
    parts = sorted((tmp_path / "kept" / "parts").glob("*.parquet"))
    rows = [row for part in parts for row in pl.read_parquet(part)["row"]]
    assert 0 < len(rows) == len(set(rows)) < len(TEXTS)
    parts[0].write_bytes(b"PAR1")  # damaged: these texts are attacked again
    assert attack(folder=tmp_path / "kept").to_frame().equals(whole)


def test_another_attack_is_refused_in_the_same_folder(attack, tmp_path):
    attack(folder=tmp_path / "kept")
    with pytest.raises(BadInput, match="holds another attack"):
        attack(folder=tmp_path / "kept", max_changed=0.5)
    damaged = tmp_path / "kept" / "rows.parquet"
    damaged.write_bytes(b"PAR1")
    with pytest.raises(BadInput, match="damaged"):
        attack(folder=tmp_path / "kept")


@pytest.mark.parametrize("option", ["language_model", "sentence_encoder"])
def test_a_kept_attack_goes_by_what_models_hold(attack, tmp_path, option):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    found = attack(folder=tmp_path / "kept", **{option: str(tmp_path / "here")})
    again = attack(folder=tmp_path / "kept", **{option: str(tmp_path / "there")})
    assert again.about.identity == found.about.identity
    (tmp_path / "here" / "config.json").write_text('{"layers": 2}')
    with pytest.raises(BadInput, match="holds another attack"):
        attack(folder=tmp_path / "kept", **{option: str(tmp_path / "here")})


def test_neither_batches_nor_order_nor_hashes_change_rows(attack, monkeypatch):
    whole = attack().to_frame()
    monkeypatch.setattr(running, "TOGETHER", 2)
    assert attack().to_frame().equals(whole)
    turned = attack(texts=TEXTS[::-1], labels=LABELS[::-1]).to_frame().drop("row")
    assert turned.reverse().equals(whole.drop("row"))


CODE = """
import heedful
from pathlib import Path
votes = lambda texts: [[.1, .9] if len(t) % 3 else [.8, .2] for t in texts]
Path("s.txt").write_text("fine good okay fair\\nfilm movie picture\\n")
frame = heedful.attack(votes, ["a fine film", "the film is fine"], recipe="textfooler", similarity=False,
    same_part_of_speech=False, synonyms="s.txt", progress=False).to_frame()
print(frame["attacked"].to_list(), frame["queries"].to_list())
"""


def test_the_hash_seed_changes_nothing(tmp_path):
    said = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            cwd=tmp_path,
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2)
    }
    assert len(said) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"texts": [], "labels": []}, "no text"),
        ({"texts": ["fine", " .,! "]}, "Text 2 has no word"),
        ({"texts": "a fine film"}, "list of texts"),
        ({"labels": [1]}, "1 labels were given for 5 texts"),
        ({"labels": [7] * 5}, "There is no class 7"),
        ({"recipe": "textfoler"}, "did you mean textfooler"),
        ({"min_cosine": 2}, "min_cosine must be at most 1"),
        ({"min_similarity": -0.1}, "min_similarity must be at least 0"),
        ({"max_changed": 0}, "max_changed must be more than 0"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"neighbors": 3}, "did you mean neighbours"),
        ({"known_words": True}, "vocabulary of words"),
        ({"synonyms": None}, "heedful data make counterfitted"),
        ({"synonyms": "nowhere.txt"}, "no file nowhere.txt"),
        ({"synonyms": None, "vectors": "nowhere.npz"}, "no file nowhere.npz"),
        ({"similarity": True}, "heedful data get minilm-l6"),
        ({"same_part_of_speech": True}, "heedful data get wordnet"),
        ({"recipe": "pwws"}, "heedful data get wordnet"),
        ({"model": lambda texts: [[float("nan")] * 2] * len(texts)}, "NaN"),
        ({"model": 3}, "A model is"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_a_sentence_and_writes_nothing(attack, tmp_path, given, says):
    with pytest.raises(BadInput, match=says) as raised:
        attack(folder=tmp_path / "kept", **given)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "kept").exists()


def test_no_candidates_at_all(attack, tmp_path):
    nothing = tmp_path / "none.txt"
    nothing.write_text("elephant mammoth\n")
    with pytest.raises(BadInput, match="no candidate"):
        attack(synonyms=str(nothing), folder=tmp_path / "runs" / "kept")
    assert not (tmp_path / "runs").exists()


def test_a_model_that_fails_on_the_way_leaves_no_folder(attack, tmp_path):
    def late(texts):
        return [[float("nan")] * 2 if "calm" in text else [0.9, 0.1] for text in texts]

    (tmp_path / "before").mkdir()
    for folder in (tmp_path / "runs" / "kept", tmp_path / "before"):
        with pytest.raises(BadInput, match="NaN"):
            attack(model=late, texts=["a slow film"], labels=[0], folder=folder)
    assert not (tmp_path / "runs").exists()
    assert not list((tmp_path / "before").iterdir())


@pytest.mark.parametrize("content", ["fine\n", "{}", '{"fine": "good"}', "[1]"])
def test_candidate_files_with_wrong_columns(attack, tmp_path, content):
    path = tmp_path / ("wrong.json" if content[0] in "{[" else "wrong.txt")
    path.write_text(content)
    with pytest.raises(BadInput) as raised:
        attack(synonyms=str(path))
    assert str(path) in str(raised.value)


def test_it_is_shown_and_written_as_a_page(attack, tmp_path):
    from heedful.output.terminal import as_text

    result = attack(texts=["a <b>dull</b> , slow film", *TEXTS[1:]], labels=[0, *LABELS[1:]])
    said = as_text(result.show)
    assert "after-attack accuracy" in said and "slow → calm" in said
    page = result.report(tmp_path / "attack.html").read_text()
    assert "<del>slow</del>" in page and "<ins>calm</ins>" in page
    assert "&lt;b&gt;" in page and "<b>" not in page and "http" not in page.replace("http-equiv", "")
    assert isinstance(result.frame, pl.DataFrame)


def test_what_was_kept_of_a_function_that_changed_is_not_taken(attack, votes, tmp_path):
    first = attack(folder=tmp_path / "kept").to_frame()

    def turned(texts):
        return [[positive, negative] for negative, positive in votes(texts)]

    def slightly(texts):  # one word says something else, and the answers to the texts themselves are the same
        return [[0.5, 0.5] if "calm" in text else row for text, row in zip(texts, votes(texts), strict=True)]

    for other in (turned, slightly):
        other.__module__, other.__qualname__ = votes.__module__, votes.__qualname__
        kept = attack(other, folder=tmp_path / "kept").to_frame()
        assert kept.equals(attack(other).to_frame()) and not kept.equals(first)
    assert attack(folder=tmp_path / "kept").to_frame().equals(first)


def test_a_function_is_known_by_more_than_the_texts_that_were_kept(attack, tmp_path):
    def certain(texts):
        return [[0.9, 0.1]] * len(texts)

    def by_word(texts):
        return [[0.9, 0.1] if "fine" in text else [0.2, 0.8] for text in texts]

    by_word.__module__, by_word.__qualname__ = certain.__module__, certain.__qualname__
    given = {"texts": ["a fine film"], "labels": [0], "folder": tmp_path / "kept"}
    assert attack(certain, **given).to_frame()["status"].to_list() == ["failed"]  # and nothing was changed
    assert attack(by_word, **given).to_frame()["status"].to_list() == ["successful"]


def test_parts_of_a_function_that_changed_are_not_taken(attack, votes, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "TOGETHER", 2)
    calls = 0

    def stops(texts):
        nonlocal calls
        calls += 1
        if calls > 8 + len(TEXTS):
            raise KeyboardInterrupt
        return [[positive, negative] for negative, positive in votes(texts)]

    stops.__module__, stops.__qualname__ = votes.__module__, votes.__qualname__
    with pytest.raises(KeyboardInterrupt):
        attack(stops, labels=[0, 0, 1, 0, 0], folder=tmp_path / "kept")
    assert list((tmp_path / "kept" / "parts").glob("*.parquet"))
    labels = {"labels": [0, 0, 1, 0, 0]}
    assert attack(folder=tmp_path / "kept", **labels).to_frame().equals(attack(**labels).to_frame())


def test_a_function_must_answer_the_same_twice(attack, tmp_path):
    calls = 0

    def drifts(texts):
        nonlocal calls
        calls += 1
        return [[calls / 100, 1 - calls / 100]] * len(texts)

    with pytest.raises(BadInput, match="changes its answer to the same text"):
        attack(drifts, folder=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"labels": [1, 1, 0, 1, 1, 0]}, "6 labels were given for 5 texts"),
        ({"labels": [0.7, 1, 0, 1, 1]}, "There is no class 0.7"),
        ({"labels": [float("nan"), 1, 0, 1, 1]}, "There is no class nan"),
        ({"labels": [None, 1, 0, 1, 1]}, "There is no class None"),
        ({"texts": None}, "A list of texts is needed"),
        ({"texts": ["fine film", None]}, "Text 2 is a NoneType: give a list of strings"),
    ],
)
def test_labels_and_texts_that_are_none_are_a_sentence(attack, tmp_path, given, says):
    with pytest.raises(BadInput, match=says):
        attack(folder=tmp_path / "kept", **given)
    assert not (tmp_path / "kept").exists()


def test_labels_and_texts_of_any_kind_of_list(attack):
    first = attack().to_frame()
    for labels in (np.array(LABELS), pl.Series(LABELS), [1.0, True, 0, np.int64(1), np.float64(1)]):
        assert attack(texts=np.array(TEXTS), labels=labels).to_frame().equals(first)


def test_labels_that_spell_numbers_are_those_of_a_function_without_names(synonyms_file):
    def function(texts):
        return [[0.1, 0.9] if "fine" in text else [0.8, 0.2] for text in texts]

    options = BARE | {"synonyms": str(synonyms_file)}
    by_words, by_numbers = (
        heedful.attack(function, TEXTS[:2], labels, **options).to_frame() for labels in (["1", "0"], [1, 0])
    )
    assert by_words.equals(by_numbers)
    with pytest.raises(BadInput, match="There is no class 'one': the model's are 0 to 1"):
        heedful.attack(function, TEXTS[:2], ["one", "0"], **options)


def test_paths_are_taken_for_what_they_spell(attack, synonyms_file):
    assert attack(synonyms=synonyms_file).to_frame().equals(attack().to_frame())


@pytest.mark.parametrize(
    "given", [{"known_words": True}, {"texts": ["xxxx yyyy"], "labels": [0]}, {"recipe": "pwws"}]
)
def test_bad_input_leaves_no_folder(attack, tmp_path, given):
    with pytest.raises(BadInput):
        attack(
            folder=tmp_path / "some" / "kept", **({"synonyms": None} | given if "recipe" in given else given)
        )
    assert not (tmp_path / "some").exists()


def test_files_of_the_other_kind_are_named(attack, tmp_path):
    vectors, words = tmp_path / "vectors.txt", tmp_path / "data.csv"
    vectors.write_text("fine 0.1 0.2\nfilm 0.3 0.4\n", encoding="utf-8")
    words.write_text("text,label\na fine film,1\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"vectors\.txt holds vectors and no synonyms: give it as vectors"):
        attack(synonyms=vectors)
    with pytest.raises(BadInput, match=r"data\.csv holds words and no vectors"):
        attack(synonyms=None, vectors=words)


def test_of_two_words_that_were_merged_both_are_changed():
    row = {"old": "very fine", "new": "good", "start": 0, "end": 9, "new_start": 0, "new_end": 4, "word": 0}
    frame = pl.DataFrame(
        [{"row": 0, "label": 1, "status": "successful", "original": "very fine old film", "attacked": "good old film",
          "queries": 1, "read": 1, "predicted": 1, "predicted_after": 0, "probabilities": [0.0, 1.0],
          "probabilities_after": [1.0, 0.0], "words": 4, "changed": [row], "unknown": None, "only_unknown": None}],
        schema=SCHEMA,
    )  # fmt: skip
    about = running.About(model="m", labels=None, data="d", recipe="clare", options={}, identity="i", texts=1)
    assert AttackResult(about, frame).numbers.words_changed == 0.5


def test_a_page_shows_what_a_text_says(attack, tmp_path):
    result = attack(texts=["a dull , \u202eslow film \u2066", *TEXTS[1:]], labels=[0, *LABELS[1:]])
    page = result.report(tmp_path / "attack.html").read_text(encoding="utf-8")
    assert "\u202e" not in page and "\u2066" not in page and "\ufffd" in page
