import keras
import numpy as np

from keras_vit.training.tpu.objective import compiled


def test_kernels_decay_and_logits_are_taken():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    assert compiled(model) is model and model.compiled
    kernel, bias = model.trainable_variables
    optimizer = model.optimizer
    assert optimizer.weight_decay == 0.05
    assert optimizer._use_weight_decay(kernel) and not optimizer._use_weight_decay(bias)
    # Of two equal logits, ln 2; as probabilities, they would be another loss.
    assert abs(float(model.loss(np.array([0]), np.array([[5.0, 5.0]]))) - 0.6931472) < 1e-6
