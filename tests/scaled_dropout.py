"""A layer whose gradient shows the mask that it drew, for scripts under several strategies."""

import keras


class Scaled(keras.layers.Layer):
    """Dropout of the inputs, times a weight for each feature."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")
        self.drop = keras.layers.Dropout(0.5, seed=11)

    def call(self, inputs, training=False):
        return self.drop(inputs, training=training) * self.scale
