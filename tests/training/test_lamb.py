import keras
import numpy as np

from keras_vit.training.lamb import Lamb


def test_three_steps_equal_float64_numpy():
    """One weight decays and is adapted, one is not, and one is zero: nothing to adapt to."""
    rng = np.random.default_rng(3)
    start = [rng.normal(size=(5, 3)), rng.normal(size=7), np.zeros((3, 2))]
    decayed = [True, False, True]
    weights = [keras.Variable(value.astype("float32")) for value in start]
    optimizer = Lamb(0.01, epsilon=1e-8, weight_decay=0.3)
    optimizer.exclude_from_weight_decay(var_list=[weights[1]])
    optimizer.build(weights)
    expected = [np.float64(np.float32(value)) for value in start]
    first, second = ([np.zeros_like(value) for value in start] for _ in range(2))
    for step in (1, 2, 3):
        gradients = [rng.normal(size=value.shape) for value in start]
        optimizer.apply([keras.ops.cast(gradient, "float32") for gradient in gradients])
        for i, gradient in enumerate(gradients):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            update = first[i] / (1 - 0.9**step) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
            if decayed[i]:
                update += 0.3 * expected[i]
                length = np.linalg.norm(expected[i])
                update *= length / np.linalg.norm(update) if length else 1.0
            expected[i] = expected[i] - 0.01 * update
    for ours, theirs in zip(weights, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=2e-6)


def test_it_survives_its_config():
    again = keras.optimizers.deserialize(keras.optimizers.serialize(Lamb(0.1, weight_decay=0.2)))
    assert isinstance(again, Lamb) and again.weight_decay == 0.2
