"""The layers alone in a user's own models, in the style of keras.io's ViT example."""

import keras
import numpy as np
import pytest

from keras_vit.layers import LayerNorm, MeanPooling, PatchEncoder, Patches, TransformerBlock


def functional():
    inputs = keras.Input((6, 15, 3))
    patches = Patches((2, 3))
    x = PatchEncoder(14, patches.grid((6, 15)), class_token=False)(patches(inputs))
    x = TransformerBlock(num_heads=2, mlp_dim=11, dropout=0.1)(x)
    x = keras.layers.GlobalAveragePooling1D()(LayerNorm()(x))
    return keras.Model(inputs, keras.layers.Dense(5)(x))


@keras.saving.register_keras_serializable(package="a_user")
class Subclassed(keras.Model):
    def __init__(self, width=14, **kwargs):
        super().__init__(**kwargs)
        self.patches = Patches((2, 3))
        self.encoder = PatchEncoder(width, self.patches.grid((6, 15)), registers=2)
        self.block = TransformerBlock(2, 11, drop_path=0.2, layer_scale=0.1)
        self.norm = LayerNorm()
        self.pool = MeanPooling(prefix=3)
        self.classify = keras.layers.Dense(5)

    def call(self, images, training=False):
        tokens = self.encoder(self.patches(images))
        tokens = self.norm(self.block(tokens, training=training))
        return self.classify(self.pool(tokens))


def sequential():
    return keras.Sequential(
        [
            Patches((2, 3)),
            PatchEncoder(12, (3, 5), position="sincos2d", class_token=False),
            TransformerBlock(2, 11),
            MeanPooling(),
            keras.layers.Dense(5),
        ]
    )


@pytest.mark.parametrize("make", [functional, Subclassed, sequential])
def test_it_trains_and_saves(make, tmp_path):
    generator = np.random.default_rng(3)
    images = generator.normal(size=(7, 6, 15, 3)).astype("float32")
    labels = generator.integers(0, 5, 7)
    model = make()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=False)
    model(images)
    before = model.get_weights()
    model.fit(images, labels, batch_size=7, verbose=0)
    for weight, old in zip(model.weights, before, strict=True):
        assert not np.array_equal(keras.ops.convert_to_numpy(weight), old), weight.path

    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(images), model(images))
