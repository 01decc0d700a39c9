import keras
import numpy as np

from keras_vit.export.rewrite import PASSES
from keras_vit.export.rewrite.channels import observed
from keras_vit.export.rewrite.fold_norms import put
from keras_vit.export.rewrite.norms import ScaledRms
from tests.export.rewrite.passes import PIXELS, assert_unchanged, folded, looking, outputs


def test_channels_of_a_stream_are_as_large_as_each_other():
    model, streams = folded()
    before = outputs(model)
    for norm in streams[0].norms:
        assert not isinstance(norm.layer, ScaledRms)
    model, changed = PASSES["scale_streams"](model, streams, looking(model))
    assert changed == 5 * 2 + 2 + 9  # writers; class token and positions; readers' kernels
    assert_unchanged(outputs(model), before)
    norms = [norm.layer for norm in streams[0].norms]
    reached = np.max([one.largest for one in observed(model, norms, PIXELS, True)], axis=0)
    np.testing.assert_allclose(reached, np.median(reached), rtol=1e-4)


def test_a_stream_that_something_else_reads_is_left():
    model, streams = folded()
    put(model, streams[0].norms[0], keras.layers.Identity(name="norm1"))
    assert PASSES["scale_streams"](model, streams, looking(model))[1] == 0
