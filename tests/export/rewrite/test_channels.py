import keras
import numpy as np

from keras_vit.export.rewrite.channels import observed
from tests.export.rewrite.passes import PIXELS, prepared


def test_observed_is_what_the_layers_gave():
    model, _ = prepared("vit")
    layer = model.get_layer("block_0")
    (found,) = observed(model, [layer], PIXELS)
    values = np.asarray(keras.Model(model.inputs[0], layer.output)(PIXELS)).reshape(-1, 24)
    np.testing.assert_allclose(found.largest, np.abs(values).max(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-4, atol=1e-6)
    assert "call" not in vars(layer)
