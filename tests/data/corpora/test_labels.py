"""Labels mean the same class in every split, however a file spells them."""

import pytest

from heedful.data.corpora.labels import check_names, class_names, class_numbers, numbering, spell
from heedful.errors import BadInput


def number(spellings, names):
    known = numbering(names, set(spellings))
    return class_numbers(spellings, known, names, rows=range(1, len(spellings) + 1), where="a.csv").tolist()


@pytest.mark.parametrize("raw", [1, 1.0, "1", " 1 ", "1.0", "1.00"])
def test_a_whole_number_is_spelt_the_same_from_every_format(raw):
    assert spell(raw) == "1"


@pytest.mark.parametrize("raw", [None, "", "  ", float("nan")])
def test_nothing_is_no_label(raw):
    assert spell(raw) is None


@pytest.mark.parametrize(("raw", "spelt"), [(True, "true"), (0.5, "0.5"), ("10.50", "10.50"), ("-1.0", "-1")])
def test_other_labels_stay_as_they_are(raw, spelt):
    assert spell(raw) == spelt


@pytest.mark.parametrize(
    ("spellings", "names"),
    [
        (["10", "9", "-1", "9"], ("-1", "9", "10")),
        (["pos", "neg"], ("neg", "pos")),
        (["10", "9", "x"], ("10", "9", "x")),
        (["01", "1", "001"], ("001", "01", "1")),
    ],
)
def test_classes_are_in_the_order_of_numbers_or_letters(spellings, names):
    assert class_names(spellings) == class_names(spellings[::-1]) == names


@pytest.mark.parametrize(
    ("spellings", "names", "numbers"),
    [
        (["pos", "neg"], ["neg", "pos"], [1, 0]),
        (["1", "0"], ["neg", "pos"], [1, 0]),
        (["positive", "Negative"], ["NEGATIVE", "POSITIVE"], [1, 0]),
        (["a", "A"], ["A", "a"], [1, 0]),  # names that differ in nothing else stay apart
        (["1", "10"], ["1", "2", "10"], [0, 2]),
        (["0", "4"], ["1", "2", "3", "4", "5"], [0, 4]),  # class numbers of one to five stars
        (["1", "5"], ["1", "2", "3", "4", "5"], [0, 4]),  # the stars themselves
    ],
)
def test_labels_are_names_or_positions(spellings, names, numbers):
    assert number(spellings, names) == numbers


@pytest.mark.parametrize(
    ("spellings", "names", "strange"),
    [
        (["pos", "neg", "mixed"], ["neg", "pos"], "'mixed' in row 3"),
        (["0", "1", "2"], ["neg", "pos"], "'2' in row 3"),
        (["neg", "pos", "0"], ["neg", "pos"], "'0' in row 3"),
        (["a", "b"], ["neg", "pos"], "'a' in row 1"),
    ],
)
def test_a_label_that_fits_no_class_is_named_with_its_row(spellings, names, strange):
    with pytest.raises(BadInput, match=rf"^Label {strange} of a\.csv .*neg, pos.*--label-names.*\.$"):
        number(spellings, names)


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], []])
def test_names_must_tell_classes_apart(names):
    with pytest.raises(BadInput, match=r"--label-names .* all different and none empty"):
        check_names(names, where="--label-names")
