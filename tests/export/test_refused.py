import pytest

from keras_vit.export.refused import Refused


def test_it_is_an_error_of_values_with_or_without_a_verdict():
    with pytest.raises(ValueError, match="too bad") as caught:
        raise Refused("too bad")
    assert caught.value.verdict is None
    assert Refused("too bad", "verdict").verdict == "verdict"
