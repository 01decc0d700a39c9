import pytest

from keras_vit.step import StepSettings


@pytest.mark.parametrize(
    "field, value", [("clip_norm", 0), ("accumulate", 0), ("accumulate", 1.5), ("ema", 1.0)]
)
def test_values_that_cannot_be(field, value):
    with pytest.raises(ValueError, match=f"`{field}` must be.*Received: {value}"):
        StepSettings(**{field: value})
