import keras
import numpy as np

from keras_vit.export.qat.calibrating import calibrate
from keras_vit.export.qat.model import QuantizationAware
from tests.small_vit import digit_images, small_vit


def test_ranges_are_those_of_the_float_model():
    model, pixels = small_vit(depth=1), digit_images()[0][:20]
    copy = QuantizationAware(model)
    calibrate(copy, pixels)
    head = copy.integers.get_layer("head").result
    logits = keras.ops.convert_to_numpy(model(model.preprocessing.normalize(pixels)))
    np.testing.assert_allclose(head.calibrated, [logits.min(), logits.max()], rtol=1e-3)
    head.spread.assign([1.0, 1.0])
    calibrate(copy, pixels)
    assert not np.any(head.spread.numpy())
