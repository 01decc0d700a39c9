import unicodedata

import numpy as np
import pytest

from keras_vit.data.naming import classes, distinct, listed_names, tags


def test_the_classes_are_the_values_in_their_order():
    found = classes(["dog", "cat", "dog"], "x.csv")
    assert found.class_names == ("cat", "dog") and found.labels.tolist() == [1, 0, 1]
    numbers = classes([10, "9", 10], "x.csv")  # by value, not by letter
    assert numbers.class_names == ("9", "10") and numbers.labels.tolist() == [1, 0, 1]


def test_a_list_sets_names_and_order():
    known = ("dog", "cat", "eel")
    found = classes(["cat", "0", 2], "x.csv", known)
    assert found.class_names == known and found.labels.tolist() == [1, 0, 2]
    several = tags([["cat", 0], []], "x.csv", known)
    np.testing.assert_array_equal(several.labels, [[1, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize("label", ["3", "-1", "horse"])
def test_a_label_that_is_not_listed(label):
    with pytest.raises(ValueError, match=f"x.csv has the label '{label}', .* 2 classes .*'dog' is"):
        classes(["cat", label], "x.csv", ("dog", "cat"))


@pytest.mark.parametrize(
    "pair",
    [
        ("cat", "Cat"),
        ("STRASSE", "straße"),
        (unicodedata.normalize("NFC", "Zürich"), unicodedata.normalize("NFD", "Zürich")),
    ],
    ids=["case", "sharp s", "Unicode form"],
)
def test_two_classes_of_one_name(pair):
    with pytest.raises(ValueError, match="here has two classes of one name, .*merge them"):
        distinct(("dog", *pair), "here")
    assert distinct(("dog", pair[0]), "here") == ("dog", pair[0])


def test_listed_names(tmp_path):
    assert listed_names(tmp_path) is None
    (tmp_path / "labels.txt").write_text("dog\nlap cat\n", "utf-8")
    assert listed_names(tmp_path) == ("dog", "lap cat")
    (tmp_path / "labels.txt").write_text("")
    with pytest.raises(ValueError, match="labels.txt is empty: write one class name a line"):
        listed_names(tmp_path)
