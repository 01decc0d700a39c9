"""Turns the numbers of a text's pieces into tokens."""

import keras
from keras import ops

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenEncoder(Layer):
    """Looks up a vector for each piece of a text, and adds that of its place.

    Both tables are weights of this layer, not an `Embedding`, as in `PatchEncoder`.

    Args:
        width: size of a token.
        vocabulary_size: how many pieces there are.

    Call arguments:
        text: int `[b, n]`, values from 0 to `vocabulary_size - 1`; `n` is fixed.

    Returns:
        `[b, n, width]`.

    Reference:
        Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*,
        2021, arXiv 2103.00020.

    Example:

    >>> TokenEncoder(width=8, vocabulary_size=11)(keras.ops.ones((1, 5), "int32")).shape
    TensorShape([1, 5, 8])
    """

    def __init__(self, width, vocabulary_size, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.vocabulary_size = vocabulary_size

    def build(self, input_shape):
        # The start values of OpenAI's code.
        self.embedding = self._table("embedding", (self.vocabulary_size, self.width), 0.02)
        self.position = self._table("position", (1, input_shape[1], self.width), 0.01)

    def call(self, text):
        # Cast after the look-up: 49,408 rows are not copied to half precision.
        found = ops.take(self.embedding, ops.cast(text, "int32"), axis=0)
        return ops.cast(found, self.compute_dtype) + ops.cast(self.position, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.width)

    def _table(self, name, shape, stddev):
        normal = keras.initializers.RandomNormal(stddev=stddev)
        return self.add_weight(name=name, shape=shape, initializer=normal, autocast=False)
