"""Deciding in training which patch tokens stay, so that the decision can be learned."""

import keras
from keras import ops

from keras_vit.layers.base import Layer


def straight_through(log_probabilities, noise):
    """Returns a hard choice between the channels that has the gradient of a soft one.

    `y = softmax(log p + noise)`; the value is 1 for its largest channel and 0 for the others, the
    gradient that of `y`: the Gumbel-softmax at a temperature of 1.

    Args:
        log_probabilities: `[..., k]`.
        noise: `[..., k]`; of the Gumbel distribution, `-log(-log(u))`, it makes the choice one
            drawn by the probabilities.

    Reference:
        Jang, Gu, Poole, *Categorical Reparameterization with Gumbel-Softmax*, 2016, arXiv
        1611.01144.
    """
    soft = ops.softmax(log_probabilities + noise, axis=-1)
    hard = ops.one_hot(ops.argmax(soft, axis=-1), soft.shape[-1], dtype=soft.dtype)
    return ops.stop_gradient(hard - soft) + soft


def kept_by_rank(scores, kept, count):
    """Returns 1 for the `count` tokens with the highest scores among those still kept, else 0.

    Args:
        scores: `[b, n]`.
        kept: `[b, n]`, 1 or 0; at least `count` are 1.
        count: how many stay.
    """
    alive = ops.where(kept > 0, scores, -float("inf"))
    places = ops.top_k(alive, count)[1]
    return ops.sum(ops.one_hot(places, scores.shape[1], dtype=kept.dtype), axis=1)


@keras.saving.register_keras_serializable(package="keras_vit")
class TokenDecision(Layer):
    """Marks the patch tokens that are kept from here on; one that is dropped stays dropped.

    In training each token is kept or dropped at random, by its probabilities, with the gradient of
    `straight_through`. Otherwise the `count` best stay, as `TopTokens` keeps them; the gradient is
    that of the probability to be kept.

    Args:
        count: number of tokens that stay where it is not training.
        seed: seed of the randomness, or None.

    Call arguments:
        scores: `[b, n, 2]`, as `TokenScorer` gives them.
        kept: `[b, n, 1]`, what is kept so far; all where it is left out.
        training: whether the decision is drawn.

    Returns:
        `[b, n, 1]`, 1 for keep and 0 for drop, in the dtype of the weights.

    Reference:
        Rao et al., *DynamicViT*, 2021, arXiv 2106.02034.
    """

    def __init__(self, count, seed=None, **kwargs):
        # Scores stay as exact as they come.
        super().__init__(autocast=False, **kwargs)
        self.count = count
        self.seed = seed
        self._seeds = keras.random.SeedGenerator(seed)

    def call(self, scores, kept=None, training=False):
        scores = ops.cast(scores, self.variable_dtype)
        before = ops.ones_like(scores[..., :1]) if kept is None else kept
        before = ops.cast(before, self.variable_dtype)
        if not training:
            best = kept_by_rank(scores[..., 0], before[..., 0], self.count)[..., None]
            likely = ops.exp(scores[..., :1])
            return before * (ops.stop_gradient(best - likely) + likely)
        uniform = keras.random.uniform(
            ops.shape(scores), minval=1e-7, maxval=1.0, dtype=scores.dtype, seed=self._seeds
        )
        return before * straight_through(scores, -ops.log(-ops.log(uniform)))[..., :1]

    def compute_output_spec(self, scores, kept=None, training=False):
        return keras.KerasTensor((*scores.shape[:2], 1), self.variable_dtype)
