import keras
import pytest

from keras_vit.export.qat.model import QuantizationAware
from keras_vit.export.qat.parts import rounded
from tests.export.rewrite.families import FAMILIES


@pytest.mark.parametrize(("family", "part"), [("dinov2", "SwiGLU"), ("swin", "LayerNorm")])
def test_a_part_without_a_rounded_form_is_named(family, part):
    with pytest.raises(ValueError, match=f"parts of a ViT or DeiT.*{part}"):
        QuantizationAware(FAMILIES[family]())


def test_a_dense_layer_with_an_activation_is_refused():
    with pytest.raises(ValueError, match="'dense', a Dense"):
        rounded(keras.layers.Dense(3, activation="tanh", name="dense"))


def test_what_passes_values_on_stays():
    layer = keras.layers.Dropout(0.1)
    assert rounded(layer) is layer
