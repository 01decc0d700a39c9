"""The block of TimeSformer: attention over time, then over space, then the MLP."""

import keras
from keras import ops

from keras_vit.layers.attention import Attention
from keras_vit.layers.layer_norm import LayerNorm
from keras_vit.layers.transformer_block import TransformerBlock


@keras.saving.register_keras_serializable(package="keras_vit")
class SpaceTimeBlock(TransformerBlock):
    """A `TransformerBlock` that looks along time before it looks across the picture.

    Over time, each place of the grid sees itself in all frames; the class token takes no part. What
    comes of it passes one more projection, which starts at zero, so that a new block does what the
    block of an image model does. Over space, each frame sees itself and a copy of the class token,
    whose news are averaged over the frames. (The paper's formula lets the class token join the
    attention over time; the released code and its weights do not.)

    Args:
        num_heads: heads of both attentions; divides the width.
        mlp_dim: hidden width of the MLP.
        frames: frames of a clip.
        dropout, attention_dropout, drop_path, layer_scale, activation, norm_epsilon, remat: as in
            `TransformerBlock`. A path is dropped for a place of the grid over time, for a frame
            over space and for a clip in the MLP; LayerScale is that of space and MLP.

    Call arguments:
        tokens: `[b, 1 + frames * n, width]`: class token, then the patches frame by frame.
        training: whether the dropouts are on.

    Returns:
        The same shape.

    Reference:
        Bertasius et al., *Is Space-Time Attention All You Need for Video Understanding?*, 2021,
        arXiv 2102.05095.

    Example:

    >>> SpaceTimeBlock(num_heads=2, mlp_dim=32, frames=3)(keras.ops.ones((1, 16, 8))).shape
    TensorShape([1, 16, 8])
    """

    def __init__(
        self,
        num_heads,
        mlp_dim,
        frames,
        dropout=0.0,
        attention_dropout=0.0,
        drop_path=0.0,
        layer_scale=None,
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
            layer_scale=layer_scale,
            activation=activation,
            norm_epsilon=norm_epsilon,
            remat=remat,
            **kwargs,
        )
        self.frames = frames
        dtype = self.dtype_policy
        self.temporal_norm = LayerNorm(norm_epsilon, name="temporal_norm", dtype=dtype)
        self.temporal_attention = Attention(
            num_heads, attention_dropout, name="temporal_attention", dtype=dtype
        )

    def build(self, input_shape):
        _, count, width = input_shape
        if count % self.frames != 1 % self.frames or count <= 1:
            raise ValueError(
                "`tokens` must be a class token and the patches of each of the `frames`. "
                f"Received: {count} tokens, frames={self.frames}."
            )
        super().build(input_shape)
        self.temporal_norm.build(input_shape)
        self.temporal_attention.build((None, self.frames, width))
        self.temporal_projection = keras.layers.Dense(
            width,
            kernel_initializer="zeros",
            name="temporal_projection",
            dtype=self.dtype_policy,
        )
        self.temporal_projection.build((None, width))

    def attention_probabilities(self, tokens):
        """Returns what each frame attends to in itself, given the block's input.

        Args:
            tokens: the block's input, `[b, 1 + frames * n, width]`.

        Returns:
            `[b * frames, num_heads, 1 + n, 1 + n]`; rows sum to one.
        """
        return self.attention.probabilities(self.norm1(self._in_frames(self._over_time(tokens))))

    def _call(self, tokens, training):
        tokens = self._over_space(self._over_time(tokens, training), training)
        processed = self.mlp(self.norm2(tokens), training=training)
        return tokens + self._branch(processed, self.scale2, training)

    def _over_time(self, tokens, training=False):
        token, patches = tokens[:, :1], tokens[:, 1:]
        clips = ops.reshape(patches, (-1, self.frames, *self._frame(tokens)))
        places = ops.reshape(
            ops.transpose(clips, (0, 2, 1, 3)), (-1, self.frames, tokens.shape[-1])
        )
        seen = self.temporal_attention(self.temporal_norm(places), training=training)
        # The projection comes after the dropping, as in the original code.
        seen = self.drop_path(self.drop(seen, training=training), training=training)
        places = places + self.temporal_projection(seen)
        count, width = self._frame(tokens)
        clips = ops.reshape(places, (-1, count, self.frames, width))
        patches = ops.reshape(ops.transpose(clips, (0, 2, 1, 3)), (-1, *patches.shape[1:]))
        return ops.concatenate([token, patches], axis=1)

    def _over_space(self, tokens, training):
        count, width = self._frame(tokens)
        seen = self.attention(self.norm1(self._in_frames(tokens)), training=training)
        seen = self._branch(self.drop(seen, training=training), self.scale1, training)
        clips = ops.reshape(seen, (-1, self.frames, 1 + count, width))
        token = ops.mean(clips[:, :, :1], axis=1)
        patches = ops.reshape(clips[:, :, 1:], (-1, self.frames * count, width))
        return tokens + ops.concatenate([token, patches], axis=1)

    def _in_frames(self, tokens):
        """`[b * frames, 1 + n, width]`: each frame with a copy of its clip's class token."""
        shape = (-1, self.frames, *self._frame(tokens))
        clips = ops.reshape(tokens[:, 1:], shape)
        copies = ops.repeat(tokens[:, None, :1], self.frames, axis=1)
        joined = ops.concatenate([copies, clips], axis=2)
        return ops.reshape(joined, (-1, *joined.shape[2:]))

    def _frame(self, tokens):
        """(patches of a frame, width)."""
        return (tokens.shape[1] - 1) // self.frames, tokens.shape[2]
