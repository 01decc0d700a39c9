"""SavedModels of ours and of others."""

import numpy as np
import pytest
import tensorflow as tf

from keras_vit.export.server.saved_model import SavedModel


def test_a_model_of_others(toy_model):
    served = SavedModel(toy_model, 1000)
    assert served.preprocessing is None and not served.pictures.can_read
    inputs = {"x": np.ones((1, 2), "float32")}
    assert served.prepare("serving_default", inputs)[:2] == ("serving_default", inputs)
    assert served.run("serving_default", inputs)["y"].tolist() == [[2, 2]]
    texts = {"text_bytes": np.array([b"ab"], object)}
    assert served.run("texts", texts)["back_bytes"].tolist() == [b"ab"]


@pytest.fixture
def compiled(tmp_path):
    """A model whose batches of 2 and 4 tell their size."""
    module = tf.Module()

    def signature(batch):
        def call(images):
            size = tf.shape(images)[0] if batch is None else tf.constant(batch)
            rows = tf.shape(images)[0]
            return {"size": tf.fill([rows], size), "sum": tf.reduce_sum(images, 1)}

        spec = tf.TensorSpec((batch, 3), tf.float32, "images")
        return tf.function(call, input_signature=[spec], autograph=False)

    calls = {f"serving_xla_{size}": signature(size) for size in (4, 2)}
    tf.saved_model.save(module, str(tmp_path), {"serving_default": signature(None), **calls})
    return SavedModel(tmp_path, 1000)


def test_batches_are_filled_up_to_what_was_compiled(compiled):
    for rows, size in ((1, 2), (2, 2), (3, 4), (4, 4), (5, 5)):
        images = np.arange(3 * rows, dtype="float32").reshape(rows, 3)
        found = compiled.run("serving_default", {"images": images})
        assert found["size"].tolist() == [size] * rows
        assert found["sum"].tolist() == images.sum(1).tolist()
