"""The token that stands for a whole text."""

import keras
from keras import ops

from keras_vit.layers.base import Layer


@keras.saving.register_keras_serializable(package="keras_vit")
class EndOfTextPooling(Layer):
    """Takes the token at the first end mark of each text: under causal attention it saw it all.

    Args:
        end_token: number of the piece that marks the end.

    Call arguments:
        tokens: `[b, n, width]`.
        text: int `[b, n]`, the pieces. A text without an end mark gives its first token.

    Returns:
        `[b, width]`.

    Reference:
        Radford et al., *Learning Transferable Visual Models From Natural Language Supervision*,
        2021, arXiv 2103.00020.

    Example:

    >>> tokens = keras.ops.reshape(keras.ops.arange(6.0), (1, 3, 2))
    >>> EndOfTextPooling(9)(tokens, keras.ops.array([[4, 9, 9]])).numpy().tolist()
    [[2.0, 3.0]]
    """

    def __init__(self, end_token, **kwargs):
        super().__init__(**kwargs)
        self.end_token = end_token

    def build(self, tokens_shape, text_shape):
        """Nothing is to be made: the layer has no weights."""

    def call(self, tokens, text):
        ends = ops.cast(ops.equal(ops.cast(text, "int32"), self.end_token), "int32")
        # A product instead of a gather: the same for every backend and converter.
        first = ops.one_hot(ops.argmax(ends, axis=1), tokens.shape[1], dtype=tokens.dtype)
        return ops.squeeze(ops.matmul(first[:, None], tokens), axis=1)

    def compute_output_shape(self, tokens_shape, text_shape):
        return tokens_shape[0], tokens_shape[2]
