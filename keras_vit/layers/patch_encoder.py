"""Turns patches into tokens: projection, positions, class token, registers."""

import keras
from keras import ops

from keras_vit.layers.base import Layer
from keras_vit.layers.positions import sincos2d
from keras_vit.layers.sizes import pair

POSITIONS = ("learned", "sincos2d", "relative", "none")


@keras.saving.register_keras_serializable(package="keras_vit")
class PatchEncoder(Layer):
    """Projects flattened patches and adds positions, a class token and registers.

    Tokens come out as `[class, registers, patches]`. The position table is a weight of this
    layer, not an `Embedding`: the sparse gradient of an `Embedding` gives Adam a wrong second
    moment on several replicas.

    Args:
        width: size of a token.
        grid: (rows, columns) of the patches, as `Patches(16).grid(image_size)` gives it.
        position: `"learned"`, `"sincos2d"` (fixed, no weight), `"relative"` or `"none"`. For
            `"relative"` nothing is added here: `TransformerBlock(attention="relative")` has it.
        class_token: whether a learned class token is put in front.
        registers: number of learned register tokens after the class token; they get no
            position.
        class_position: whether the class token has an entry in the learned table (original
            ViT, DeiT, DINOv2) or not (big_vision, DeiT-III). Without a class token it does
            not matter.
        use_bias: whether the projection has a bias; CLIP's has none.

    Call arguments:
        patches: `[b, rows * columns, p * p * c]`.

    Returns:
        `[b, class_token + registers + rows * columns, width]`.

    Raises:
        ValueError: for an unknown `position`, or if the number of patches is not that of the
            grid.

    References:
        - Dosovitskiy et al., *An Image is Worth 16x16 Words*, 2020, arXiv 2010.11929.
        - Darcet et al., *Vision Transformers Need Registers*, 2023, arXiv 2309.16588.

    Example:

    >>> PatchEncoder(width=8, grid=(2, 3))(keras.ops.ones((1, 6, 48))).shape
    TensorShape([1, 7, 8])
    """

    def __init__(
        self,
        width,
        grid,
        position="learned",
        class_token=True,
        registers=0,
        class_position=True,
        use_bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if position not in POSITIONS:
            raise ValueError(f"`position` must be one of {POSITIONS}. Received: {position!r}.")
        self.width = width
        self.grid = pair("grid", grid)
        self.position_kind = position
        self.has_class_token = class_token
        self.num_registers = registers
        self.class_position = class_position and class_token
        # The JAX code: lecun_normal over the whole patch, whose fan is p * p * c.
        self.projection = keras.layers.Dense(
            width,
            use_bias=use_bias,
            kernel_initializer="lecun_normal",
            name="projection",
            dtype=self.dtype_policy,
        )

    @property
    def num_prefix(self):
        """Number of tokens before the patches: class token and registers."""
        return int(self.has_class_token) + self.num_registers

    def build(self, input_shape):
        self._check_count(input_shape)
        self.projection.build(input_shape)
        count = self.grid[0] * self.grid[1]
        if self.has_class_token:
            self.class_token = self._token_weight("class_token", 1, "zeros")
        if self.num_registers:
            # N(0, 0.02): all-zero registers would stay copies of one another.
            normal = keras.initializers.RandomNormal(stddev=0.02)
            self.registers = self._token_weight("registers", self.num_registers, normal)
        if self.position_kind == "learned":
            # 0.02 in the original JAX code, 1 / sqrt(width) in big_vision.
            stddev = 0.02 if self.class_position else self.width**-0.5
            normal = keras.initializers.RandomNormal(stddev=stddev)
            self.position = self._token_weight("position", count + self.class_position, normal)
        elif self.position_kind == "sincos2d":
            self._table = sincos2d(self.grid, self.width)[None]

    def call(self, patches):
        self._check_count(patches.shape)
        return self._with_prefix(self._placed(self.projection(patches)))

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.num_prefix + self.grid[0] * self.grid[1], self.width

    def _placed(self, tokens):
        """The tokens of patches `[b, n, width]` with their positions."""
        if self.position_kind == "learned":
            return tokens + self.position[:, int(self.class_position) :]
        if self.position_kind == "sincos2d":
            return tokens + ops.cast(self._table, tokens.dtype)
        return tokens

    def _with_prefix(self, tokens):
        """The same tokens after class token and registers."""
        batch, prefix = ops.shape(tokens)[0], []
        if self.has_class_token:
            token = self.class_token
            if self.position_kind == "learned" and self.class_position:
                token = token + self.position[:, :1]
            prefix.append(ops.broadcast_to(token, (batch, 1, self.width)))
        if self.num_registers:
            shape = (batch, self.num_registers, self.width)
            prefix.append(ops.broadcast_to(self.registers, shape))
        # Broadcasting takes the weights as they are; the concatenation needs one dtype.
        prefix = [ops.cast(part, self.compute_dtype) for part in prefix]
        return ops.concatenate([*prefix, tokens], axis=1) if prefix else tokens

    def _token_weight(self, name, count, initializer):
        return self.add_weight(name=name, shape=(1, count, self.width), initializer=initializer)

    def _check_count(self, shape):
        rows, columns = self.grid
        if len(shape) != 3 or shape[1] not in (None, rows * columns):
            raise ValueError(
                f"`patches` must have the shape [b, {rows * columns}, p * p * c] for a grid of "
                f"{rows} x {columns}. Received: shape={tuple(shape)}."
            )
