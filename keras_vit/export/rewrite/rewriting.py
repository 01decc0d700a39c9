"""One model in, another one out that computes the same, and how far they are apart."""

import dataclasses

import keras
import numpy as np

from keras_vit.export.calibration import spread
from keras_vit.export.rewrite.centre import centre
from keras_vit.export.rewrite.centre_heads import centre_heads
from keras_vit.export.rewrite.channels import observed
from keras_vit.export.rewrite.fold_layer_scale import fold_layer_scale
from keras_vit.export.rewrite.fold_norms import fold_norms
from keras_vit.export.rewrite.gelu_of_products import gelus_of_products
from keras_vit.export.rewrite.inference import inference_model
from keras_vit.export.rewrite.lean_attention import fold_query_scale
from keras_vit.export.rewrite.patch_convolution import cuts_images, patch_convolution
from keras_vit.export.rewrite.scale_streams import scale_streams
from keras_vit.export.rewrite.self_products import self_products
from keras_vit.export.rewrite.separate_projections import separate_projections
from keras_vit.export.rewrite.streams import residual_streams
from keras_vit.layers import Layer, Patches
from keras_vit.layers.choices import check_choice

# In the order in which they are done: each finds what those before it left. All are exact but
# the last, which is where the model's GELU is the tanh's.
PASSES = {
    "fold_layer_scale": fold_layer_scale,
    "fold_norms": fold_norms,
    "centre": centre,
    "fold_query_scale": fold_query_scale,
    "separate_projections": separate_projections,
    "self_products": self_products,
    "scale_streams": scale_streams,
    "centre_heads": centre_heads,
    "gelus_of_products": gelus_of_products,
}
EXACT = tuple(PASSES)[:-3]
# These look at what the tensors of the model reach on images, and are exact whatever that is.
MEASURED = ("scale_streams", "centre_heads")
LOOKED_AT = 32  # images
COMPARED = 2  # images of noise


@dataclasses.dataclass(frozen=True)
class Step:
    """What one pass did.

    Args:
        name: key of `PASSES`, or `"raw_pixels"`, which comes first.
        changed: number of weights or layers that were changed.
        difference: largest difference from the model's outputs after it, divided by the largest
            output.
    """

    name: str
    changed: int
    difference: float


def rewrite(model, passes=EXACT, images=None):
    """Rewrites a model for inference on raw pixels.

    Every copy is float32, has no dropout or stochastic depth, and takes pixels from 0 to 255:
    normalisation is folded into the first product where no padding comes between, and stands in
    front elsewhere.

    Args:
        model: a functional Keras model with a `preprocessing`; the passes know the blocks of ViT,
            DeiT, DINOv2, Swin, CoAtNet and the hybrids, and leave others as they are.
        passes: names in `PASSES`; they are done in the order of `PASSES`.
        images: raw pixels `[n, h, w, c]` of the kind the model will see, for those of the passes
            that are in `MEASURED`.

    Returns:
        A functional `keras.Model`, and a list of `Step`.

    Raises:
        ValueError: for an unknown name, a model that is no graph or has no `preprocessing`, or
            missing `images`.

    Example:

    >>> from keras_vit import create_model
    >>> _, steps = rewrite(create_model("vit_ti16", image_size=32, depth=1, num_classes=10))
    >>> [step.name for step in steps][:3]
    ['raw_pixels', 'fold_layer_scale', 'fold_norms']
    """
    for name in passes:
        check_choice("passes", name, PASSES)
    measured = [name for name in passes if name in MEASURED]
    if measured and images is None:
        raise ValueError(f"`images` must be given for {', '.join(measured)}. Received: None.")
    if getattr(model, "preprocessing", None) is None:
        raise ValueError(
            "`model` must have a `preprocessing`, which says how its pixels are normalised. "
            f"Received: {getattr(model, 'name', model)!r} without one."
        )
    has_patches = any(isinstance(layer, Patches) for layer in model.layers)
    core = patch_convolution(model) if has_patches else inference_model(model)
    in_front = None if cuts_images(model) else Normalised(model.preprocessing, name="normalised")
    compare = _comparison(model)
    steps = [Step("raw_pixels", 2, compare(_whole(core, in_front)))]
    streams = residual_streams(core)
    for name in [name for name in PASSES if name in passes]:
        looking = [_observer(_whole(core, in_front), images)] if name in MEASURED else []
        core, changed = PASSES[name](core, streams, *looking)
        steps.append(Step(name, changed, compare(_whole(core, in_front))))
    return _whole(core, in_front), steps


class Normalised(Layer):
    """Raw pixels as the model was trained on them: a product and a sum with constants."""

    def __init__(self, preprocessing, **kwargs):
        super().__init__(**kwargs)
        mean, std = np.array(preprocessing.mean), np.array(preprocessing.std)
        self.factor = (1 / (255 * std)).astype("float32")
        self.offset = (-mean / std).astype("float32")

    def call(self, pixels):
        return pixels * self.factor + self.offset

    def compute_output_shape(self, input_shape):
        return input_shape


def _whole(core, in_front):
    if in_front is None:
        return core
    pixels = keras.Input(core.input_shape[1:], dtype="float32", name="images")
    return keras.Model(pixels, core(in_front(pixels)), name=core.name)


def _observer(model, images):
    """A function from layers of a model to the `Channels` of each."""
    chosen = np.asarray(images, "float32")[spread(len(images), LOOKED_AT)]
    return lambda layers, inputs=False: observed(model, layers, chosen, inputs)


def _comparison(model):
    """A function from a rewritten model to its difference from the model in float32."""
    shape = (COMPARED, *model.input_shape[1:])
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype("float32")
    if any(layer.compute_dtype != "float32" for layer in model.layers):
        reference = inference_model(model)
    else:
        reference = model
    expected = _output(reference, model.preprocessing.normalize(pixels))
    scale = np.abs(expected).max() or 1.0
    return lambda copy: float(np.abs(_output(copy, pixels) - expected).max() / scale)


def _output(model, images):
    return keras.ops.convert_to_numpy(model(images, training=False)).astype("float64")
