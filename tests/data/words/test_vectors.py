import gzip
import re

import numpy as np
import polars as pl
import pytest

from heedful.data.fetch import assets
from heedful.data.words.vectors import initial_embeddings, read_vectors
from heedful.errors import BadInput

WORDS = ["the", "cat", "Paris"]
VECTORS = np.array([[1.0, 2.0, 3.0], [0.5, -0.25, 1e-3], [7.0, 8.0, 9.0]], dtype=np.float32)
LINES = "the 1 2 3\ncat 0.5 -0.25 1e-3\nParis 7 8 9\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(
    params=["txt", "header", "trailing-space", "gz", "npz", "npy+txt", "npy+parquet", "npy+index"]
)
def source(request, tmp_path):
    """The same three vectors in every form that can be read."""
    form = request.param
    if form == "header":
        return write(tmp_path / "v.vec", "3 3\n" + LINES)
    if form == "trailing-space":
        return write(tmp_path / "v.vec", "3 3\n" + LINES.replace("\n", " \n"))
    if form == "gz":
        path = tmp_path / "v.vec.gz"
        path.write_bytes(gzip.compress(LINES.encode()))
        return str(path)
    if form == "npz":
        np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=VECTORS)
        return str(tmp_path / "v.npz")
    if form.startswith("npy"):
        np.save(tmp_path / "v.npy", VECTORS)
        if form == "npy+txt":
            write(tmp_path / "v.txt", "\n".join(WORDS) + "\n")
        else:
            name = "v.parquet" if form == "npy+parquet" else "words_index.parquet"
            pl.DataFrame({"index": WORDS}).write_parquet(tmp_path / name)
        return str(tmp_path / "v.npy")
    return write(tmp_path / "v.txt", LINES)


def test_every_form_gives_the_same_vectors(source):
    vectors, found = read_vectors(source, ["cat", "dog", "the"])
    assert vectors.dtype == np.float32
    assert found.tolist() == [True, False, True]
    np.testing.assert_array_equal(vectors, [VECTORS[1], [0, 0, 0], VECTORS[0]])


def test_a_word_is_tried_in_lower_case_only_when_it_is_not_there_as_written(source):
    vectors, found = read_vectors(source, ["The", "Paris", "paris"])
    assert found.tolist() == [True, True, False]
    np.testing.assert_array_equal(vectors[:2], [VECTORS[0], VECTORS[2]])


def test_words_with_spaces_and_other_scripts(tmp_path):
    source = write(tmp_path / "v.txt", "the 1 2\n. . . 3 4\nat name@domain.com 5 6\nмир 7 8\n\xa0 9 10\n\n")
    vectors, found = read_vectors(source, [". . .", "мир", "at", "at name@domain.com", "\xa0"])
    assert found.tolist() == [True, True, False, True, True]
    assert vectors[found].tolist() == [[3, 4], [7, 8], [5, 6], [9, 10]]


@pytest.mark.parametrize("form", ["text", "npz"])
def test_of_a_word_listed_twice_the_first_counts(tmp_path, form):
    if form == "text":
        source = write(tmp_path / "v.txt", "a 1 2\na 3 4\n")
    else:
        source = str(tmp_path / "v.npz")
        np.savez(source, words=np.array(["a", "a"]), vectors=np.array([[1.0, 2], [3, 4]]))
    assert read_vectors(source, ["a"])[0].tolist() == [[1, 2]]


def test_covered_words_keep_their_vectors_and_padding_is_zero(source):
    matrix, covered = initial_embeddings(["<pad>", "<unk>", "cat", "the"], source=source, size=99, seed=0)
    assert matrix.shape == (4, 3)
    assert matrix.dtype == np.float32
    assert covered == 2
    assert not matrix[0].any()
    np.testing.assert_array_equal(matrix[2:], VECTORS[[1, 0]])


def test_padding_is_zero_even_if_the_source_has_a_vector_for_it(tmp_path):
    source = write(tmp_path / "v.txt", "<pad> 1 2\na 3 4\n")
    matrix, covered = initial_embeddings(["<pad>", "a"], source=source, size=2, seed=0)
    assert matrix.tolist() == [[0, 0], [3, 4]]
    assert covered == 1


def test_words_not_covered_look_like_the_covered_ones(tmp_path):
    mean, deviation = np.array([5.0, -1.0, 0.0]), np.array([0.1, 2.0, 1.0])
    known = np.random.default_rng(3).normal(mean, deviation, size=(2000, 3))
    np.savez(tmp_path / "v.npz", words=np.array([f"k{i}" for i in range(2000)]), vectors=known)
    words = ["<pad>", *(f"k{i}" for i in range(2000)), *(f"new{i}" for i in range(4000))]
    matrix, covered = initial_embeddings(words, source=str(tmp_path / "v.npz"), size=3, seed=0)
    drawn = matrix[2001:]
    assert covered == 2000
    assert len(np.unique(drawn, axis=0)) == 4000
    np.testing.assert_allclose(drawn.mean(axis=0), known.mean(axis=0), atol=4 * deviation.max() / 4000**0.5)
    np.testing.assert_allclose(drawn.std(axis=0) / known.std(axis=0), 1, atol=0.06)


def test_one_covered_word_still_gives_distinct_neighbours(tmp_path):
    source = write(tmp_path / "v.txt", "a 3 4\n")
    matrix, _ = initial_embeddings(["<pad>", "a", "b", "c"], source=source, size=2, seed=0)
    assert len(np.unique(matrix, axis=0)) == 4


def test_without_a_source_everything_but_padding_is_drawn_at_one_length():
    matrix, covered = initial_embeddings(["<pad>", *map(str, range(5000))], source=None, size=8, seed=0)
    assert covered == 0
    assert matrix.shape == (5001, 8)
    assert not matrix[0].any()
    assert np.sqrt((matrix[1:] ** 2).sum(1).mean()) == pytest.approx(2.0, rel=0.03)
    assert matrix[1:].mean() == pytest.approx(0.0, abs=0.02)


def test_draws_depend_on_seed_and_position_alone(source):
    words = ["<pad>", "x", "cat", "y", "the"]
    first = initial_embeddings(words, source=source, size=3, seed=1).matrix
    np.testing.assert_array_equal(first, initial_embeddings(words, source=source, size=3, seed=1).matrix)
    other = initial_embeddings(words, source=source, size=3, seed=2).matrix
    assert (first[[1, 3]] != other[[1, 3]]).all()
    # Another word in the same place, and more words after it, change nothing.
    renamed = initial_embeddings(["<pad>", "z", *words[2:], "w"], source=source, size=3, seed=1).matrix
    np.testing.assert_array_equal(first, renamed[:5])


def test_vectors_that_can_be_fetched_go_by_name(tmp_path, monkeypatch):
    write(tmp_path / "glove.840B.300d_filtered.txt", LINES)
    monkeypatch.setattr(assets, "get", lambda name, watcher: tmp_path)
    vectors, _ = read_vectors("glove-840b-300d", ["cat"])
    np.testing.assert_array_equal(vectors, VECTORS[[1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 3\n", "Line 2 of .* is not a word and 2 numbers"),
        ("2 2\na 1 2\nb 3 4 5\n", "Line 3 of .* is not a word and 2 numbers"),
        ("a\n", "Line 1 of .* is not a word and its numbers"),
        ("a 1 2\n\ncat 3 x\n", "Line 3 of .* not a number"),
        ("cat 1 nan\n", "not finite"),
        ("dog 1 2\n", "cover none of the 1 words"),
        ("", "cover none of the 1 words"),
    ],
)
def test_bad_text_files(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read_vectors(write(tmp_path / "v.txt", text), ["cat"])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(["cat"])}, "`words` and `vectors`"),
        ({"words": np.array(["cat"], dtype=object), "vectors": VECTORS[:1]}, "strings, not objects"),
        ({"words": np.array([1]), "vectors": VECTORS[:1]}, "one row of strings, not int64"),
        ({"words": np.array(["cat"]), "vectors": VECTORS[0]}, re.escape("not float32 [3]")),
        ({"words": np.array(["cat"]), "vectors": np.array([[1, 2]])}, re.escape("not int64 [1, 2]")),
        ({"words": np.array(["cat"]), "vectors": VECTORS}, "3 vectors for 1 words"),
        ({"words": np.array(["cat"]), "vectors": VECTORS[:1] * np.inf}, "not finite"),
    ],
)
def test_bad_npz_files(tmp_path, arrays, message):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(BadInput, match=message):
        read_vectors(str(tmp_path / "v.npz"), ["cat"])


def test_npy_without_a_usable_word_list(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, VECTORS)
    with pytest.raises(BadInput, match=r"no word list beside it: write v\.txt"):
        read_vectors(str(path), ["cat"])
    pl.DataFrame({"index": [1, 2, 3]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(BadInput, match="no column of strings"):
        read_vectors(str(path), ["cat"])
    write(tmp_path / "v.parquet", "not parquet")
    with pytest.raises(BadInput, match="Cannot read the word list"):
        read_vectors(str(path), ["cat"])


def test_npy_of_objects_is_never_unpickled(tmp_path):
    np.save(tmp_path / "v.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match="plain numbers"):
        read_vectors(str(tmp_path / "v.npy"), ["cat"])


@pytest.mark.parametrize("name", ["v.npz", "v.npy", "v.txt.gz"])
def test_files_that_are_not_what_their_name_says(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(BadInput, match=re.escape(name)):
        read_vectors(str(tmp_path / name), ["cat"])


def test_a_truncated_gzip_file(tmp_path):
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(LINES.encode() * 100)[:-12])
    with pytest.raises(BadInput, match="Cannot read the vectors"):
        read_vectors(str(path), ["cat"])


def test_a_missing_file_and_a_mistyped_name(tmp_path):
    with pytest.raises(BadInput, match=r"no vector file .*gone\.txt"):
        read_vectors(str(tmp_path / "gone.txt"), ["cat"])
    with pytest.raises(BadInput, match="no vector file"):
        read_vectors(str(tmp_path), ["cat"])
    with pytest.raises(BadInput, match="did you mean glove-840b-300d"):
        read_vectors("glove-840b-300", ["cat"])
