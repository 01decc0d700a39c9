"""Which versions are chosen."""

from keras_vit.export.server.rules import All, Latest, Specific


def test_versions_are_numbers_newest_first():
    assert Latest()([9, 10, 2]) == [10]
    assert Latest(2)([9, 10, 2]) == [10, 9]
    assert All()([9, 10, 2]) == [10, 9, 2]
    assert Specific((2, 9, 77))([9, 10, 2]) == [9, 2]
    assert Latest()([]) == All()([]) == Specific((1,))([]) == []
