import keras
import numpy as np

from keras_vit.export.qat.ranges import (
    Rounded,
    RoundedKernel,
    RoundedSquares,
    RoundedTo,
    forms,
)


def test_a_range_is_the_calibrated_one_until_it_is_learned():
    layer = Rounded()
    layer.calibrated.assign([-1.0, 3.0])
    assert [float(end) for end in layer.range()] == [-1, 3]
    layer.spread.assign([0.0, np.log(2)])
    np.testing.assert_allclose([float(end) for end in layer.range()], [-1, 6], rtol=1e-6)
    assert [weight.name for weight in layer.trainable_weights] == ["spread"]


def test_squares_are_never_zero():
    layer = RoundedSquares()
    layer.calibrated.assign([0.0, 100.0])
    assert float(layer(keras.ops.zeros(()))) > 0


def test_a_form_is_exchanged_for_a_while():
    inputs = keras.Input((3,))
    pixels = RoundedTo((0.0, 255.0), name="pixels")
    model = keras.Model(inputs, Rounded(name="after")(pixels(inputs)))
    x = np.array([[0.2, 300.0, 7.0]], "float32")
    before = np.array(model(x))
    with forms(model, {Rounded: lambda layer, x: x, RoundedTo: lambda layer, x: x}) as layers:
        assert {layer.name for layer in layers} == {"pixels", "after"}
        np.testing.assert_array_equal(model(x), x)
    np.testing.assert_array_equal(model(x), before)


def test_a_kernel_has_no_weights_of_its_own():
    assert RoundedKernel().weights == []
