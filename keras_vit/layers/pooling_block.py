"""The transformer block that begins a stage: it halves the map and changes the width."""

import keras

from keras_vit.layers.pooled_shortcut import PooledShortcut, halved
from keras_vit.layers.transformer_block import TransformerBlock


@keras.saving.register_keras_serializable(package="keras_vit")
class PoolingBlock(TransformerBlock):
    """A `TransformerBlock` whose attention sees a smaller map and gives another width.

    `project(pool(x)) + attention(pool(norm(x)))`, then the MLP as in any block. Attention is that
    of `RelativeAttention`.

    Args:
        num_heads: number of attention heads; divides `width`.
        mlp_dim: hidden width of the MLP.
        grid: (rows, columns) of the map that attention sees.
        width: number of output channels.
        halve: whether the map is halved before; else only its width changes.
        pool: one of `keras_vit.layers.POOLS`.
        dropout, attention_dropout, drop_path, activation, norm_epsilon, remat: as in
            `TransformerBlock`.

    Call arguments:
        images: maps `[b, h, w, c]`.
        training: whether the dropouts are on.

    Returns:
        `[b, *grid, width]`.

    Reference:
        Dai et al., *CoAtNet: Marrying Convolution and Attention for All Data Sizes*, 2021, arXiv
        2106.04803.
    """

    def __init__(
        self,
        num_heads,
        mlp_dim,
        grid,
        width,
        halve=True,
        pool="average",
        dropout=0.0,
        attention_dropout=0.0,
        drop_path=0.0,
        activation="gelu",
        norm_epsilon=1e-6,
        remat=False,
        **kwargs,
    ):
        super().__init__(
            num_heads,
            mlp_dim,
            dropout=dropout,
            attention_dropout=attention_dropout,
            drop_path=drop_path,
            activation=activation,
            norm_epsilon=norm_epsilon,
            attention="relative",
            attention_options={"grid": grid, "width": width},
            remat=remat,
            **kwargs,
        )
        self.shortcut = PooledShortcut(width, halve, pool, name="shortcut", dtype=self.dtype_policy)

    def build(self, input_shape):
        output_shape = self.compute_output_shape(input_shape)
        self.norm1.build(input_shape)
        self.shortcut.build(input_shape)
        self.attention.build((*output_shape[:-1], input_shape[-1]))
        self.norm2.build(output_shape)
        self.mlp.build(output_shape)

    def _seen(self, normed):
        return halved(normed, self.shortcut.pool) if self.shortcut.halve else normed

    def _kept(self, images):
        return self.shortcut(images)

    def compute_output_shape(self, input_shape):
        return self.shortcut.compute_output_shape(input_shape)
