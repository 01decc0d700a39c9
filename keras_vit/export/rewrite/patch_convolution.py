"""Patch extraction, projection and pixel normalisation as one convolution."""

import keras
import numpy as np
from keras import ops

from keras_vit.export.rewrite.inference import copy_weights, inference_model
from keras_vit.layers import FrameEncoder, Layer, PatchEncoder, Patches


def patch_convolution(model):
    """Returns a float32 inference copy of a ViT that takes raw pixels where it cuts them itself.

    Cutting patches out and projecting them is a convolution whose stride is its kernel, and a
    linear map of normalised pixels is one of raw pixels, with the kernel divided by `255 * std`
    and `kernel * mean / std` taken off the bias. No patch touches padding, so both are exact. In
    a converted file one CONV_2D stands for them all, where `Patches` alone is a TRANSPOSE of
    rank 6, which delegates refuse.

    Where patches are cut from something else, a map of features or a padded image, the
    convolution takes that as it is.

    Args:
        model: a functional model with a `Patches` and a `PatchEncoder` that reads it alone, and
            with a `preprocessing`.

    Returns:
        A functional `keras.Model`, float32: raw pixels 0 to 255 `[b, h, w, c]` where
        `cuts_images(model)`, else normalised images, to what `model` gives for the normalised
        image.

    Raises:
        ValueError: if `model` has no such structure.

    Reference:
        Folding of input statistics into the first layer: Jacob et al., *Quantization and
        Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference*, 2017,
        arXiv 1712.05877.
    """
    patches, encoder = _patch_layers(model)
    shape = tuple(model.inputs[0].shape[1:])
    copy = inference_model(
        model,
        replace={
            patches.name: lambda layer: PatchConvolution(
                encoder.width, layer.patch_size, name=layer.name, dtype="float32"
            ),
            encoder.name: _projected(encoder),
        },
        inputs=keras.Input(shape, dtype="float32", name="images"),
    )
    projected = copy.get_layer(encoder.name)
    copy_weights(encoder.weights, projected.weights)
    convolution = copy.get_layer(patches.name).convolution
    if cuts_images(model):
        convolution.set_weights(
            folded_weights(encoder.projection, patches.patch_size, model.preprocessing)
        )
    else:
        convolution.kernel.assign(ops.reshape(encoder.projection.kernel, convolution.kernel.shape))
        convolution.bias.assign(encoder.projection.bias)
    return copy


def cuts_images(model):
    """Whether a model's patches are cut from its images themselves."""
    patches = [layer for layer in model.layers if isinstance(layer, Patches)]
    return len(patches) == 1 and patches[0].input is model.inputs[0]


def folded_weights(projection, patch_size, preprocessing):
    """Returns the convolution's (kernel, bias) that take raw pixels, as float32 arrays.

    Args:
        projection: the Dense layer that projects normalised patches, kernel `(p * q * c, width)`.
        patch_size: (p, q).
        preprocessing: the `Preprocessing` whose mean and std the patches are normalised with.
    """
    # float64: the sum over a patch would lose digits that the bound of 1e-5 needs.
    dense = np.asarray(ops.convert_to_numpy(projection.kernel), "float64")
    bias = np.zeros(dense.shape[-1])
    if projection.bias is not None:  # CLIP's has none
        bias = np.asarray(ops.convert_to_numpy(projection.bias), "float64")
    mean, std = np.array(preprocessing.mean), np.array(preprocessing.std)
    kernel = dense.reshape(*patch_size, len(mean), -1) / std[:, None]
    bias = bias - (kernel * mean[:, None]).sum(axis=(0, 1, 2))
    return (kernel / 255).astype("float32"), bias.astype("float32")


class PatchConvolution(Layer):
    """Raw pixels to projected patches, `[b, h, w, c]` to `[b, n, width]`, by one convolution."""

    def __init__(self, width, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.convolution = keras.layers.Conv2D(
            width, patch_size, strides=patch_size, name="projection", dtype=self.dtype_policy
        )

    def build(self, input_shape):
        self.convolution.build(input_shape)

    def call(self, pixels):
        projected = self.convolution(pixels)
        _, rows, columns, width = projected.shape
        return ops.reshape(projected, (-1, rows * columns, width))


class Projected:
    """What makes an encoder of patches one whose patches come projected already."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        del self.projection  # assigned over, the Dense would stay in the list of sublayers
        self.projection = keras.layers.Identity(name="projection", dtype=self.dtype_policy)


class ProjectedPatchEncoder(Projected, PatchEncoder):
    """A `PatchEncoder` whose patches come projected already."""


class ProjectedFrameEncoder(Projected, FrameEncoder):
    """A `FrameEncoder` whose patches come projected already."""


def _projected(encoder):
    """A function from an encoder to the one that takes its place."""
    kind = ProjectedFrameEncoder if isinstance(encoder, FrameEncoder) else ProjectedPatchEncoder
    return lambda layer: kind.from_config({**layer.get_config(), "dtype": "float32"})


def _patch_layers(model):
    """The model's one `Patches` and the one `PatchEncoder` that reads it."""
    layers = getattr(model, "layers", [])
    encoders = [layer for layer in layers if isinstance(layer, PatchEncoder)]
    patches = [layer for layer in layers if isinstance(layer, Patches)]
    if len(encoders) != 1 or len(patches) != 1 or encoders[0].input is not patches[0].output:
        raise ValueError(
            "`model` must cut its images with one `Patches` layer that one `PatchEncoder` reads, "
            f"as a ViT does. Received: {getattr(model, 'name', model)!r} with {len(patches)} "
            f"`Patches` and {len(encoders)} `PatchEncoder`."
        )
    if getattr(model, "preprocessing", None) is None:
        raise ValueError(
            "`model` must have a `preprocessing`, which says how its pixels are normalised. "
            f"Received: {model.name!r} without one."
        )
    return patches[0], encoders[0]
