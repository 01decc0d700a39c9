import keras
import numpy as np

from keras_vit.models import CLIP, CLIPConfig
from keras_vit.objectives import ContrastiveLoss
from keras_vit.training.tpu.objective import batch_of, compiled
from tests.models.test_clip import TINY


def test_pairs_have_their_own_loss_and_no_labels():
    model = compiled(CLIP(CLIPConfig(**TINY)))
    assert isinstance(model.loss, ContrastiveLoss)
    (inputs,) = batch_of(model, 3)
    assert inputs["images"].shape == (3, 10, 21, 3) and inputs["texts"].dtype == "int32"


def test_classes_have_labels():
    inputs = keras.Input((3,))
    images, labels = batch_of(keras.Model(inputs, keras.layers.Dense(2)(inputs)), 5)
    assert images.shape == (5, 3) and (labels.shape, labels.dtype) == ((5,), "int32")


def test_kernels_decay_and_logits_are_taken():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    assert compiled(model) is model and model.compiled
    kernel, bias = model.trainable_variables
    optimizer = model.optimizer
    assert optimizer.weight_decay == 0.05
    assert optimizer._use_weight_decay(kernel) and not optimizer._use_weight_decay(bias)
    # Of two equal logits, ln 2; as probabilities, they would be another loss.
    assert abs(float(model.loss(np.array([0]), np.array([[5.0, 5.0]]))) - 0.6931472) < 1e-6
