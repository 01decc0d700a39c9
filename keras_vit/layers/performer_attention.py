"""Self-attention whose cost grows linearly with the number of tokens."""

import keras
import numpy as np

from keras_vit.layers.attention import Attention, head_dim
from keras_vit.layers.choices import check_choice
from keras_vit.layers.random_features import (
    KERNELS,
    default_count,
    linear_attention,
    orthogonal_directions,
)


@keras.saving.register_keras_serializable(package="keras_vit")
class PerformerAttention(Attention):
    """`Attention` by random features, as in Performer: no matrix of scores is ever formed.

    The weights are those of `Attention`, with one more that is not trained: the random directions,
    saved with the others. It is worth it from some `2 * random_features` tokens on; in place of a
    trained softmax it wants some fine-tuning.

    Args:
        num_heads: number of heads; divides the width.
        dropout: must be 0: there are no probabilities to drop.
        random_features: number of features, `d * ln(d)` for heads of size `d` by default.
        kernel: one of `KERNELS`: `"exponential"` approaches the softmax, `"relu"` does not, and
            often trains more smoothly.
        seed: integer seed of the directions, or None for a random one.

    Call arguments:
        tokens: `[b, n, width]`.
        training: without effect.

    Returns:
        `[b, n, width]`.

    Raises:
        ValueError: for another `dropout`, an unknown `kernel`, or if `num_heads` does not divide
            the width.

    Reference:
        Choromanski et al., *Rethinking Attention with Performers*, 2020, arXiv 2009.14794.

    Example:

    >>> PerformerAttention(num_heads=2)(keras.ops.ones((1, 5, 8))).shape
    TensorShape([1, 5, 8])
    """

    def __init__(
        self,
        num_heads,
        dropout=0.0,
        random_features=None,
        kernel="exponential",
        seed=None,
        **kwargs,
    ):
        super().__init__(num_heads, dropout, **kwargs)
        if dropout:
            raise ValueError(
                "`dropout` of attention must be 0 in a Performer, which never forms the "
                f"probabilities. Received: {dropout}."
            )
        check_choice("kernel", kernel, KERNELS)
        self.random_features = random_features
        self.kernel = kernel
        self.seed = seed

    def build(self, input_shape):
        super().build(input_shape)
        size = head_dim(input_shape[-1], self.num_heads)
        count = self.random_features or default_count(size)
        # Numpy's own seed follows `keras.utils.set_random_seed`.
        seed = np.random.randint(2**31) if self.seed is None else self.seed
        directions = orthogonal_directions(np.random.default_rng(seed), count, size)
        self.directions = self.add_weight(
            name="directions",
            shape=directions.shape,
            initializer=lambda shape, dtype: keras.ops.convert_to_tensor(directions, dtype),
            trainable=False,
            autocast=False,  # in half precision they would be others than those that are saved
        )

    def redraw(self, generator):
        """Draws new directions; see `keras_vit.training.RedrawFeatures`.

        Args:
            generator: a `numpy.random.Generator`.
        """
        self.directions.assign(orthogonal_directions(generator, *self.directions.shape))

    def probabilities(self, tokens):
        """Refuses.

        Raises:
            ValueError: always: a Performer has no probabilities.
        """
        raise ValueError(
            f"{self.name!r} is a Performer's attention: it never forms the probabilities, so there "
            "is no attention to look at. Its features can be looked at (PCA, neighbours)."
        )

    def _attended(self, query, key, value, training):
        return linear_attention(query, key, value, self.directions, KERNELS[self.kernel])
