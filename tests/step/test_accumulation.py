import numpy as np
import pytest
import tensorflow as tf

from keras_vit.step.accumulation import in_pieces


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("examples, pieces", [(11, 4), (8, 4), (3, 5), (7, 1)])
def test_pieces_give_the_whole(examples, pieces, compiled):
    """Sums add up, states follow one another, outputs keep their order, None stays."""
    x = np.arange(2 * examples, dtype="float32").reshape(examples, 2)

    def work(batch, states):
        x, weights, nothing = batch
        assert nothing is None
        sums = {"sum": tf.reduce_sum(x * weights[:, None]), "none": None}
        return sums, {5: states[5] * 2 + 1}, (x + 1, [None])

    def whole(x):
        return in_pieces(work, (x, x[:, 0], None), pieces, {5: tf.constant(0)})

    sums, states, (outputs, masks) = tf.function(whole, jit_compile=compiled)(x)
    assert float(sums["sum"]) == (x * x[:, :1]).sum()
    assert sums["none"] is None and masks == [None]
    assert int(states[5]) == 2**pieces - 1
    np.testing.assert_array_equal(outputs, x + 1)


@pytest.mark.parametrize(
    "replicas, name",
    [
        (1, "accumulate"),
        (1, "clip_accumulate_compiled"),
        (2, "accumulate"),
        (2, "clip_accumulate_compiled"),
        (4, "accumulate"),
        (4, "clip_accumulate_compiled"),
    ],
)
def test_the_update_is_that_of_the_whole_batch(scenario, replicas, name):
    numbers = scenario(replicas, name)
    assert max(numbers.values()) < 1e-12, numbers
