import pytest

from keras_vit.layers.choices import check_choice


def test_a_choice_passes():
    check_choice("pool", "max", {"max": 1, "average": 2})


@pytest.mark.parametrize("choices", [("max", "average"), {"max": 1, "average": 2}])
def test_another_value_is_told_the_choices(choices):
    message = r"^`pool` must be one of \['average', 'max'\]. Received: 'min'.$"
    with pytest.raises(ValueError, match=message):
        check_choice("pool", "min", choices)
