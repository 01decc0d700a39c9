"""Keeping the patch tokens with the highest scores, and leaving the others behind."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.gathering import gather_tokens


@keras.saving.register_keras_serializable(package="keras_vit")
class TopTokens(Layer):
    """Keeps a fixed number of patch tokens of each example: a real gather, of known shape.

    Args:
        count: number of patch tokens that are kept. Where it is that of all, they stay in place.
        prefix: number of tokens in front (class token, registers) that always stay.

    Call arguments:
        tokens: `[b, prefix + n, width]`.
        scores: `[b, n, 2]`, as `TokenScorer` gives them; the first channel counts.

    Returns:
        `[b, prefix + count, width]`: those in front, then the kept ones by falling score.

    Raises:
        ValueError: if there are fewer than `count` patch tokens.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.

    Example:

    >>> tokens = keras.ops.array([[[9.0], [1.0], [2.0], [3.0]]])
    >>> scores = keras.ops.array([[[-0.7, 0.0], [-0.1, 0.0], [-0.3, 0.0]]])
    >>> TopTokens(2)(tokens, scores)[0, :, 0].numpy().tolist()
    [9.0, 2.0, 3.0]
    """

    def __init__(self, count, prefix=1, **kwargs):
        # Scores stay as exact as they come.
        super().__init__(autocast=False, **kwargs)
        self.count = count
        self.prefix = prefix

    def build(self, tokens_shape, scores_shape):
        if scores_shape[1] < self.count:
            raise ValueError(
                "`count` must be at most the number of patch tokens. "
                f"Received: count={self.count}, {scores_shape[1]} tokens."
            )

    def chosen(self, scores):
        """Returns the places of the kept tokens among the patch tokens, `[b, count]`."""
        return ops.top_k(scores[..., 0], self.count)[1]

    def call(self, tokens, scores):
        if scores.shape[1] == self.count:
            return tokens
        kept = gather_tokens(tokens[:, self.prefix :], self.chosen(scores))
        if not self.prefix:
            return kept
        return ops.concatenate([tokens[:, : self.prefix], kept], axis=1)

    def compute_output_shape(self, tokens_shape, scores_shape):
        return tokens_shape[0], self.prefix + self.count, tokens_shape[2]
