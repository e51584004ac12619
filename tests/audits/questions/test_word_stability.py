"""Words replaced by synonyms: never by themselves or a form of themselves, compared word by word, whatever the batch."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from scipy.spatial.distance import jensenshannon

import heedful
from heedful.audits.questions import word_stability
from heedful.data.words.inflection import inflected
from heedful.errors import BadInput

NAME = "word_stability"
LISTED = "film films script plot\nwarm funny\nfunny warm\nplot script film\nthin old\njokes joke acting\nlaughed left\nthe and\nfine great\ndull thin\n"


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "synonyms.txt"
    path.write_text(LISTED)
    return str(path)


def run(classifier, texts, **options):
    return heedful.audit(classifier, texts, progress=False, only=[NAME], **options)


def pairs(rows):
    return [tuple(pair.split("→")) for row in rows["replaced"].to_list() for pair in row]


def write(tmp_path, *texts):
    path = tmp_path / "texts.csv"
    pl.DataFrame({"text": texts}).write_csv(path)
    return path


@pytest.fixture
def changes(monkeypatch):
    """Record every text that is changed, with the words that are put in."""
    made = []

    def spy(text, spans, new):
        made.append((text, dict(new)))
        return replace_words(text, spans, new)

    replace_words = word_stability.replace_words
    monkeypatch.setattr(word_stability, "replace_words", spy)
    return made


@pytest.mark.parametrize("source", ["listed", "own embeddings"])
def test_never_the_word_itself_nor_a_form_of_it(model, many_texts, listed, source):
    found = run(model(encoder="bilstm"), many_texts, synonyms=listed if source == "listed" else None)
    replaced = pairs(found.to_frame(NAME))
    assert replaced
    for old, new in replaced:
        assert not inflected(old, new)
    if source == "listed":
        assert set(replaced) <= {
            ("film", "script"),
            ("warm", "funny"),
            ("plot", "script"),
            ("thin", "old"),
            ("jokes", "acting"),
            ("laughed", "left"),
            ("the", "and"),
            ("fine", "great"),
            ("dull", "thin"),
        }
    else:
        assert "Synonyms are the nearest words by the model's own embeddings" in " ".join(
            found.summaries[NAME].notes
        )


def test_words_replaced_first_stay_replaced(model, many_texts, listed, changes):
    run(model(encoder="average"), many_texts, synonyms=listed, replaced="1,2,3", draws=2, batch_size=64)
    by_text = {}
    for text, new in changes:
        by_text.setdefault(text, []).append(new)
    grown = 0
    for new in by_text.values():
        for one, two, three in zip(new[::3], new[1::3], new[2::3], strict=True):
            assert one.items() <= two.items() <= three.items()
            assert [len(n) for n in (one, two, three)] == [min(k, len(three)) for k in (1, 2, 3)]
            grown += len(three) == 3
    assert grown > 10


@pytest.mark.parametrize("shape", [{}, {"classes": 3}, {"heads": 2}, {"encoder": "average"}], ids=str)
def test_by_brute_force(model, tmp_path, listed, changes, shape):
    classifier = model(**shape)
    texts = ["The warm film", "a thin plot, and dull jokes!", "Nobody laughed early"]
    found = run(classifier, write(tmp_path, *texts), synonyms=listed, replaced=(2,), draws=1).to_frame(NAME)
    changed = {}
    for text, new in changes:
        batch = classifier.batch([text])
        words = [text[a:b] for a, b in batch.tokens.offsets[0].tolist()]
        changed[text] = " ".join(new.get(place, word) for place, word in enumerate(words))
    assert changed[texts[0]] == "The funny script"
    for row, text in zip(found.iter_rows(named=True), texts, strict=True):
        one, two = (classifier.model(classifier.batch([t])) for t in (text, changed[text]))
        distance = [
            jensenshannon(p, q) ** 2
            for p, q in zip(one.weights[0].tolist(), two.weights[0].tolist(), strict=True)
        ]
        assert row["jsd"] == pytest.approx(np.mean(distance), rel=1e-3, abs=1e-7)
        p, q = (list(classifier.predict([t])[0].probabilities.values()) for t in (text, changed[text]))
        assert row["tvd"] == pytest.approx(np.abs(np.subtract(p, q)).sum() / 2, abs=1e-5)


def test_capitals_and_the_rest_of_the_text_stay(model, tmp_path, listed, changes):
    classifier = model(encoder="average")
    run(classifier, write(tmp_path, "WARM film!", "Fine, the Plot"), synonyms=listed, replaced=(2,), draws=1)
    new = dict(changes)
    assert sorted(new["WARM film!"].values()) == [
        "funny",
        "script",
    ]  # a lower-case vocabulary reads no capitals
    assert set(new["Fine, the Plot"].values()) == {"great", "script"}  # and not "the", while there are others


def test_function_words_are_last(model, tmp_path, listed):
    found = run(model(encoder="average"), write(tmp_path, "the film is the plot"), synonyms=listed, draws=4)
    assert sorted(old for old, _ in pairs(found.to_frame(NAME)))[:2] == ["film", "plot"]
    assert len(pairs(found.to_frame(NAME))) == 3


def test_texts_with_few_or_no_words_to_replace_are_counted(model, tmp_path, listed):
    path = write(tmp_path, "a film", "it is up", "the warm plot is thin", "zzz zzz")
    found = run(model(encoder="bilstm"), path, synonyms=listed, draws=1, replaced=(1, 3), batch_size=1)
    rows, notes = found.to_frame(NAME), " ".join(found.summaries[NAME].notes)
    assert rows["replaceable"].to_list() == [1, 0, 4, 0]
    assert [np.isnan(x) for x in rows["jsd_3"]] == [False, True, False, True]
    assert rows["jsd_1"][0] == rows["jsd_3"][0] > 0
    assert "2 texts have no word with a synonym; they are left out." in notes
    assert "1 texts have fewer than 3 words with a synonym" in notes
    number = found.summaries[NAME].number("jsd")
    assert (number.count, number.missing) == (2, 2)


@pytest.mark.parametrize("shape", [{"encoder": "bilstm"}, {"encoder": "average"}], ids=str)
def test_neither_batch_nor_companions_matter(model, many_texts, listed, shape):
    classifier = model(**shape)
    whole = run(classifier, many_texts, synonyms=listed, draws=2).to_frame(NAME)
    for options in ({"batch_size": 1}, {"batch_size": 2}, {"batch_size": 7}, {"limit": 9}):
        other = run(classifier, many_texts, synonyms=listed, draws=2, **options).to_frame(NAME)
        same = whole.filter(pl.col("row").is_in(other["row"].implode()))
        assert other["replaced"].to_list() == same["replaced"].to_list()
        for name, kind in whole.schema.items():
            if kind.is_float():
                wanted = pytest.approx(same[name].to_list(), abs=1e-6, rel=1e-4, nan_ok=True)
                assert other[name].to_list() == wanted, name


@pytest.mark.parametrize("source", ["gradient", "leave_one_out"])
def test_explainers(model, many_texts, listed, source):
    rows = run(model(encoder="average"), many_texts, synonyms=listed, source=source, draws=1).to_frame(NAME)
    assert rows["jsd"].drop_nans().max() > 0
    assert rows["relative_jsd"].drop_nans().is_between(0, 2).all()


def test_sentences_are_compared_with_sentences(model, tmp_path, listed):
    classifier = model(encoder="bigru", hierarchical=True)
    text = "A fine film. It is warm! Nobody laughed."
    found = run(classifier, write(tmp_path, text), synonyms=listed, replaced=(1,), draws=1).to_frame(NAME)
    ((old, new),) = pairs(found)
    one, two = (
        classifier.model(classifier.batch([t])).weights[0, 0].tolist() for t in (text, text.replace(old, new))
    )
    assert len(one) == len(two) == found["compared"][0] == 3
    assert found["jsd"][0] == pytest.approx(jensenshannon(one, two) ** 2, rel=1e-3, abs=1e-8)


def test_pieces_of_a_word_are_joined(pieces, tmp_path):
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("filmmaker great film\nfine great\n")
    path = write(tmp_path, "a Filmmaker made film.")
    found = run(pieces, path, synonyms=str(synonyms), replaced=(1,), draws=1, top_k=2).to_frame(NAME)
    assert pairs(found) == [("Filmmaker", "Great")]
    with torch.no_grad():
        before, after = (
            pieces.model(pieces.batch([t])).weights[0, 0].double().tolist()
            for t in ("a Filmmaker made film.", "a Great made film.")
        )
    joined = [before[1], sum(before[2:5]), *before[5:8]]
    assert (before[0], after[0], before[-1], after[-1]) == (0, 0, 0, 0)  # [CLS] and [SEP]
    assert found["jsd"][0] == pytest.approx(jensenshannon(joined, after[1:-1]) ** 2, rel=1e-4)
    assert found["compared"].to_list() == [5]
    sharp = jensenshannon(joined, [1 / 5] * 5) ** 2
    assert found["sharpness"][0] == pytest.approx(sharp, rel=1e-4)
    assert found["relative_jsd"][0] == pytest.approx(
        found["jsd"][0] / (sharp + jensenshannon(after[1:-1], [1 / 5] * 5) ** 2), rel=1e-4
    )


def test_a_text_that_is_cut_elsewhere_is_compared_as_far_as_both_go(pieces, tmp_path):
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("filmmaker great\n")
    pieces.vocabulary.tokenizer.enable_truncation(7)
    found = run(
        pieces, write(tmp_path, "a filmmaker made film."), synonyms=str(synonyms), replaced=(1,), draws=1
    )
    row = found.to_frame(NAME).row(0, named=True)
    assert (row["compared"], row["astray"]) == (3, False)
    with torch.no_grad():
        before, after = (
            pieces.model(pieces.batch([t])).weights[0, 0].double().tolist()
            for t in ("a filmmaker made film.", "a great made film.")
        )
    joined = [
        before[1],
        sum(before[2:5]),
        before[5],
        0,
        0,
    ]  # the last two words had no room beside the pieces
    assert row["jsd"] == pytest.approx(jensenshannon(joined, after[1:6]) ** 2, rel=1e-4)


def test_words_that_a_synonym_is_cut_into_are_compared_as_one(pieces, tmp_path, monkeypatch):
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("film great\n")
    monkeypatch.setattr(word_stability.WordStability, "_synonym", lambda self, word: "fine-made")
    path = write(tmp_path, "a film is great", "a great film")
    found = run(pieces, path, synonyms=str(synonyms), replaced=(1,), draws=1).to_frame(NAME)
    assert found["astray"].to_list() == [False, False]
    for row, text in zip(found.iter_rows(named=True), ["a film is great", "a great film"], strict=True):
        with torch.no_grad():
            before, after = (
                pieces.model(pieces.batch([t])).weights[0, 0].double()[1:-1].tolist()
                for t in (text, text.replace("film", "fine-made"))
            )
        place = text.split().index("film")
        joined = [*after[:place], sum(after[place : place + 3]), *after[place + 3 :]]
        assert row["jsd"] == pytest.approx(jensenshannon(before, joined) ** 2, rel=1e-4)


def test_a_word_that_is_cut_off_is_not_replaced(pieces, tmp_path):
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("film great\nfine great\n")
    pieces.vocabulary.tokenizer.enable_truncation(5)  # of "filmmaker" the model reads "film"
    found = run(pieces, write(tmp_path, "a fine filmmaker"), synonyms=str(synonyms), replaced=(2,), draws=1)
    assert pairs(found.to_frame(NAME)) == [("fine", "great")]


def test_without_any_source_a_transformer_asks_for_one(pieces, tmp_path):
    with pytest.raises(BadInput, match="There are no synonyms for word_stability") as refused:
        run(pieces, write(tmp_path, "a fine film"))
    assert "\n" not in str(refused.value)


def test_the_vectors_of_the_training_are_the_first_choice(model, tmp_path):
    classifier = model(encoder="average")
    vectors = tmp_path / "v.txt"
    vectors.write_text("film 1 0\nscript 0.9 0.1\nwarm 0 1\nfunny 0.1 1\n")
    classifier.run = tmp_path / "run"
    classifier.run.mkdir()
    (classifier.run / "config.yaml").write_text(f"dataset: films\nvectors: {vectors}\n")
    found = run(classifier, write(tmp_path, "a warm film", "the film is it"), draws=1)
    assert set(pairs(found.to_frame(NAME))) == {("warm", "funny"), ("film", "script")}
    assert f"Synonyms come from {vectors}." in found.summaries[NAME].notes


def test_another_file_of_synonyms_is_another_audit(model, tmp_path, many_texts, listed):
    classifier, folder = model(encoder="average"), tmp_path / "audit"
    run(classifier, many_texts, synonyms=listed, folder=folder)
    (tmp_path / "synonyms.txt").write_text("film script\n")
    with pytest.raises(BadInput, match="holds another audit \\(synonyms differ\\)"):
        run(classifier, many_texts, synonyms=listed, folder=folder)


def test_bad_files(model, tmp_path, many_texts):
    path = tmp_path / "bad.txt"
    for content, sentence in (
        ("film\n", "Line 1 of .* has no synonym"),
        ("haus heim\n", "has no synonym for any of the"),
    ):
        path.write_text(content)
        with pytest.raises(BadInput, match=sentence):
            run(model(encoder="average"), many_texts, synonyms=str(path))
    with pytest.raises(BadInput, match="There are no vectors named 'glov'"):
        run(model(encoder="average"), many_texts, synonyms="glov")


def test_flat_heatmaps_do_not_look_steady(model, many_texts, listed):
    classifier = model(encoder="bilstm")
    classifier.model.attention.similarity.vector.data.zero_()
    rows = run(classifier, many_texts, synonyms=listed, draws=1).to_frame(NAME)
    assert rows["jsd"].drop_nans().max() < 1e-12
    assert rows["relative_jsd"].is_nan().all()


def test_it_runs_only_when_it_is_named_and_the_report_shows_it(model, many_texts, listed, tmp_path):
    classifier = model(encoder="average")
    found = run(classifier, many_texts, synonyms=listed, draws=1)
    text = found.report(tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "How far synonyms move the heatmap" in text and "3 replaced" in text
    assert (
        NAME not in heedful.audit(classifier, many_texts, progress=False, permutations=2, draws=1).summaries
    )
