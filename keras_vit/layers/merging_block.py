"""A transformer block that merges some of its patch tokens between attention and MLP."""

import keras
from keras import ops

from keras_vit.layers.token_merging import merge, regroup, sizes_of, soft_matching
from keras_vit.layers.transformer_block import TransformerBlock


@keras.saving.register_keras_serializable(package="keras_vit")
class MergingBlock(TransformerBlock):
    """A `TransformerBlock` that merges the patch tokens that are most alike: ToMe.

    Its weights have the names of a `TransformerBlock`'s; nothing about merging is learned.

    Args:
        num_heads, mlp_dim, **kwargs: those of `TransformerBlock`; the attention is
            `"proportional"`.
        merged: number of patch tokens that are merged into others, at most half of them.
        prefix: number of tokens in front (class token, registers), which stay as they are.

    Call arguments:
        tokens: `[b, prefix + n, width]`.
        groups: int32 `[b, p]`, which of the patch tokens stands for each patch.
        training: whether the dropouts are on.

    Returns:
        The same two, with `n - merged` patch tokens.

    Reference:
        Bolya et al., *Token Merging: Your ViT But Faster*, 2022, arXiv 2210.09461.
    """

    def __init__(self, num_heads, mlp_dim, merged=0, prefix=1, attention="proportional", **kwargs):
        super().__init__(num_heads, mlp_dim, attention=attention, **kwargs)
        self.merged = merged
        self.prefix = prefix

    def build(self, tokens_shape, groups_shape=None):
        super().build(tokens_shape)

    def call(self, tokens, groups, training=False):
        patches = tokens.shape[1] - self.prefix
        sizes = sizes_of(groups, patches, keras.backend.result_type(tokens.dtype, "float32"))
        counts = ops.pad(sizes, ((0, 0), (self.prefix, 0)), constant_values=1)
        attended, keys = self.attention(self.norm1(tokens), counts, training=training)
        attended = self.drop(attended, training=training)
        tokens = tokens + self._branch(attended, self.scale1, training)
        if self.merged:
            matching = soft_matching(keys[:, self.prefix :], self.merged, self.prefix)
            groups = regroup(groups, patches, matching, self.prefix)
            merged = merge(tokens[:, self.prefix :], sizes, matching, self.prefix)
            tokens = ops.concatenate([tokens[:, : self.prefix], merged], axis=1)
        processed = self.mlp(self.norm2(tokens), training=training)
        return tokens + self._branch(processed, self.scale2, training), groups

    def compute_output_shape(self, tokens_shape, groups_shape):
        batch, count, width = tokens_shape
        return (batch, count - self.merged, width), groups_shape

    def compute_output_spec(self, tokens, groups, training=False):
        shape, _ = self.compute_output_shape(tokens.shape, groups.shape)
        return keras.KerasTensor(shape, tokens.dtype), keras.KerasTensor(groups.shape, groups.dtype)
