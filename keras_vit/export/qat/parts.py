"""The layers of a rewritten model with the rounding that integers bring."""

import keras
from keras import ops

from keras_vit.export.qat.ranges import (
    PIXELS,
    SHARES,
    Rounded,
    RoundedKernel,
    RoundedSquares,
    RoundedTo,
)
from keras_vit.export.rewrite.lean_attention import LeanAttention
from keras_vit.export.rewrite.norms import PlainNorm, Rms, mean_of_rows
from keras_vit.export.rewrite.parts import Wrapped, exchange
from keras_vit.export.rewrite.patch_convolution import PatchConvolution, ProjectedPatchEncoder
from keras_vit.layers import Layer, MeanPooling, TokenPooling, TransformerBlock
from keras_vit.layers.flat import flat, unflat
from keras_vit.layers.mlp import Mlp
from keras_vit.one_pass import one_pass

# What the kernel of raw pixels is kept in: they deviate by about 64 where a model's images deviate
# by one, and an optimizer's steps are of the size that suits those.
UNIT = 1 / 64


class RoundedProduct(Wrapped):
    """A `Dense` whose kernel and result are rounded; the bias has 32 bits in a file."""

    def __init__(self, dense):
        super().__init__(dense)
        self.kernel = RoundedKernel(name="kernel")
        self.result = Rounded(name="result")

    def call(self, inputs, training=False):
        product = ops.matmul(flat(inputs), self.kernel(self.inner.kernel))
        if self.inner.bias is not None:
            product = ops.add(product, self.inner.bias)
        return unflat(self.result(product), inputs)


class RoundedPatches(Wrapped):
    """The convolution that cuts patches out of pixels, which are whole numbers."""

    def __init__(self, patches):
        super().__init__(patches)
        patches.convolution.kernel.assign(patches.convolution.kernel / UNIT)
        self.pixels = RoundedTo(PIXELS, name="pixels")
        self.kernel = RoundedKernel(name="kernel")
        self.result = Rounded(name="result")

    def call(self, pixels, training=False):
        conv = self.inner.convolution
        kernel = self.kernel(conv.kernel * UNIT)
        x = ops.conv(self.pixels(pixels), kernel, strides=conv.strides, padding="valid")
        x = self.result(ops.add(x, conv.bias))
        _, rows, columns, width = x.shape
        return ops.reshape(x, (-1, rows * columns, width))

    def compute_output_shape(self, input_shape):
        batch, rows, columns, width = self.inner.convolution.compute_output_shape(input_shape)
        return batch, rows * columns, width


class RoundedEncoder(Wrapped):
    """Positions, class token and registers; what is put side by side has one range."""

    def __init__(self, encoder):
        super().__init__(encoder)
        self.table = Rounded(name="table")
        self.tokens = Rounded(name="tokens")

    def call(self, patches, training=False):
        encoder, tokens = self.inner, patches
        if encoder.position_kind == "learned":
            position = encoder.position[:, int(encoder.class_position) :]
            tokens = self.tokens(tokens + self.table(position))
        elif encoder.position_kind == "sincos2d":
            tokens = self.tokens(tokens + self.table(ops.cast(encoder._table, "float32")))
        return self.tokens(encoder._with_prefix(self.tokens(tokens)))


class RoundedRms(Wrapped):
    """A root mean square whose sum of squares is a product."""

    def __init__(self, norm):
        super().__init__(norm)
        self.total, self.mean_square = Rounded(name="total"), Rounded(name="mean_square")
        self.shifted = RoundedSquares(name="shifted")
        self.root, self.result = Rounded(name="root"), Rounded(name="result")

    def call(self, x, training=False):
        width = x.shape[-1]
        product = ops.matmul(ops.reshape(x, (-1, 1, width)), ops.reshape(x, (-1, width, 1)))
        total = self.total(ops.reshape(product, (-1, *x.shape[1:-1], 1)))
        mean = self.mean_square(total * (1 / width))
        return self.result(x * self.root(ops.rsqrt(self.shifted(mean + self.inner.epsilon))))


class RoundedPlainNorm(RoundedRms):
    """The same after the mean of each token is taken off."""

    def __init__(self, norm):
        super().__init__(norm)
        self.mean, self.centred = Rounded(name="mean"), Rounded(name="centred")

    def call(self, x, training=False):
        return super().call(self.centred(x - self.mean(mean_of_rows(x))))


class RoundedAttend(Layer):
    """Scores, softmax and the product with the values."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.scores, self.context = Rounded(name="scores"), Rounded(name="context")
        self.shares = RoundedTo(SHARES, name="shares")

    def call(self, scores, value):
        shares = self.shares(ops.softmax(self.scores(scores), axis=-1))
        return self.context(ops.matmul(shares, value))


class RoundedMlp(Wrapped):
    """Both products and the activation between them."""

    def __init__(self, mlp):
        super().__init__(mlp)
        self.fc1, self.fc2 = rounded(mlp.fc1), rounded(mlp.fc2)
        self.hidden = Rounded(name="hidden")

    def call(self, inputs, training=False):
        activate = one_pass(self.inner._activate) if training else self.inner._activate
        return unflat(self.fc2(self.hidden(activate(self.fc1(flat(inputs))))), inputs)


class RoundedBlock(Wrapped):
    """A transformer block, with its sums."""

    def __init__(self, block):
        super().__init__(block)
        for name in ("norm1", "norm2", "mlp"):
            exchange(block, name, rounded(getattr(block, name)))
        attention = block.attention
        if type(attention) is not LeanAttention:
            raise unknown(attention)
        projections = attention.inner.qkv
        exchange(projections, "products", [rounded(product) for product in projections.products])
        exchange(attention.inner, "out", rounded(attention.inner.out))
        exchange(attention, "attend", RoundedAttend(name="attend"))
        self.attended, self.processed = Rounded(name="attended"), Rounded(name="processed")

    def call(self, tokens, training=False):
        block = self.inner
        attended = block.attention(block.norm1(tokens), training=training)
        tokens = self.attended(tokens + attended)
        return self.processed(tokens + block.mlp(block.norm2(tokens), training=training))


class RoundedMean(Wrapped):
    """A layer whose result has a range of its own."""

    def __init__(self, layer):
        super().__init__(layer)
        self.result = Rounded(name="result")

    def call(self, inputs, training=False):
        return self.result(self.inner(inputs))


# Kind of a layer -> what rounds as an integer file of it does.
ROUNDED = {
    keras.layers.Dense: RoundedProduct,
    MeanPooling: RoundedMean,
    Mlp: RoundedMlp,
    PatchConvolution: RoundedPatches,
    PlainNorm: RoundedPlainNorm,
    ProjectedPatchEncoder: RoundedEncoder,
    Rms: RoundedRms,
    TransformerBlock: RoundedBlock,
}
# What passes values on as they are.
PASSED = (keras.layers.InputLayer, keras.layers.Dropout, TokenPooling)


def rounded(layer):
    """Returns the layer that takes another one's place, with its weights.

    Raises:
        ValueError: for a kind of layer whose integers are not known here.
    """
    if isinstance(layer, PASSED):
        return layer
    linear = getattr(layer, "activation", keras.activations.linear) is keras.activations.linear
    if type(layer) not in ROUNDED or type(layer) is keras.layers.Dense and not linear:
        raise unknown(layer)
    with keras.name_scope(layer.name):  # its ranges are named after it
        return ROUNDED[type(layer)](layer)


def unknown(layer):
    """The error about a layer that has no rounded form."""
    return ValueError(
        "`model` must be made of the parts of a ViT or DeiT: patches, blocks of softmax attention "
        f"and Mlp, norms that read nothing but products. Received: {layer.name!r}, a "
        f"{type(layer).__name__}."
    )
