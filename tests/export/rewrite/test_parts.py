import keras
import numpy as np

from keras_vit.export.rewrite.parts import Wrapped, exchange, parts, replaced
from keras_vit.layers import LayerNorm, TransformerBlock

X = np.random.default_rng(3).normal(size=(2, 5, 6)).astype("float32")


def model_of_two():
    tokens = keras.Input(X.shape[1:])
    first = TransformerBlock(2, 7, name="block_0")(tokens)
    return keras.Model(tokens, TransformerBlock(2, 7, name="block_1")(first))


def test_parts_come_in_order_with_their_owners():
    model = model_of_two()
    found = [(owner.name, name) for owner, name, _ in parts(model, LayerNorm)]
    places = [(f"block_{index}", f"norm{n}") for index in (0, 1) for n in (1, 2)]
    assert [place for place in found if place[0].startswith("block")] == places


def test_a_part_is_exchanged_in_place():
    model = model_of_two()
    block = model.get_layer("block_1")
    before, old = model(X).numpy(), block.mlp

    class Nothing(Wrapped):
        def call(self, tokens, training=False):
            return keras.ops.zeros_like(tokens)

    exchange(block, "mlp", Nothing(old))
    assert block.mlp.name == old.name and block.mlp.inner is old
    assert np.abs(model(X).numpy() - before).max() > 1e-3
    exchange(block, "mlp", old)
    np.testing.assert_array_equal(model(X), before)


def test_a_layer_of_the_graph_is_replaced_and_the_rest_is_shared():
    model = model_of_two()
    other = TransformerBlock(2, 7, name="block_1")
    other.build((None, *X.shape[1:]))
    copy = replaced(model, {"block_1": other})
    assert copy.get_layer("block_0") is model.get_layer("block_0")
    assert copy.get_layer("block_1") is other
    np.testing.assert_allclose(copy(X), other(model.get_layer("block_0")(X)), rtol=1e-5)
