"""A teacher as a layer: any Keras model that tells classes apart, asked in a student's pictures."""

import dataclasses

import keras
import numpy as np
from keras import ops

from keras_vit.layers import Preprocessing

# What the pixels of a foreign model's images are, by name: mean and std on the scale 0 to 1.
RANGES = {
    "0..255": (0.0, 1 / 255),
    "0..1": (0.0, 1.0),
    "-1..1": (0.5, 0.5),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}
LEAST = 1e-7  # of a probability, before its logarithm is taken


def resizing(old, new):
    """Returns the matrix `[new, old]` of an antialiased bilinear resize of one side.

    XLA has no antialiased resize of TensorFlow's; of a product with a matrix it has.

    Example:

    >>> resizing(4, 2).round(3).tolist()
    [[0.429, 0.429, 0.143, 0.0], [0.0, 0.143, 0.429, 0.429]]
    """
    scale = max(old / new, 1.0)
    centres = (np.arange(new) + 0.5) * old / new - 0.5
    far = np.abs(np.arange(old) - centres[:, None]) / scale
    weights = np.maximum(0.0, 1.0 - far)
    return weights / weights.sum(axis=1, keepdims=True)


@keras.saving.register_keras_serializable(package="keras_vit")
class Teacher(keras.layers.Layer):
    """Turns a student's images into a teacher's logits.

    The teacher sees the same images, cut, moved and mixed as they are, at its own size and in its
    own range; grey ones as three equal channels where it wants colours. It is never trained, and
    is always in inference mode: dropout is off, and moving averages stay. Of a teacher that gives
    probabilities the logarithm is taken, which are logits, too.

    Args:
        model: any Keras model from float images to `[b, k]`. It is frozen: `trainable` is set to
            False.
        seen: `Preprocessing` of the teacher: its image size, mean and std.
        given: `Preprocessing` of the images that the layer gets.

    Call arguments:
        images: float `[b, h, w, c]`, normalised as `given` says.

    Returns:
        Logits `[b, k]`, without a gradient.

    Raises:
        ValueError: if the model does not take such images, or does not give one vector an image.
    """

    def __init__(self, model, seen, given, name="teacher", dtype=None, **options):
        # Pixels in half precision would be others than the teacher knows.
        super().__init__(name=name, dtype=dtype or keras.config.floatx(), **options)
        self.seen, self.given = seen, given
        model.trainable = False
        self.model = model
        self.gives_probabilities = _checked(model, seen, given)
        self.num_classes = model.output_shape[-1]
        self.built = True

    def call(self, images):
        pixels = images * self._row(self.given.std) + self._row(self.given.mean)
        return self.asked(
            (self._fitted(pixels) - self._row(self.seen.mean)) / self._row(self.seen.std)
        )

    def asked(self, images):
        """Returns the logits of images that are the teacher's own, normalised as `seen` says."""
        outputs = ops.cast(self.model(images, training=False), self.compute_dtype)
        if self.gives_probabilities:
            outputs = ops.log(ops.maximum(outputs, LEAST))
        return ops.stop_gradient(outputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.num_classes

    def _row(self, values):
        return ops.convert_to_tensor(values, self.compute_dtype)

    def _fitted(self, pixels):
        if self.given.channels < self.seen.channels:
            pixels = ops.repeat(pixels, self.seen.channels, axis=-1)
        if self.given.image_size == self.seen.image_size:
            return pixels
        rows, columns = (
            self._row(resizing(old, new))
            for old, new in zip(self.given.image_size, self.seen.image_size, strict=True)
        )
        return ops.einsum("rh,bhwc,sw->brsc", rows, pixels, columns)

    def get_config(self):
        return {
            **super().get_config(),
            "model": keras.saving.serialize_keras_object(self.model),
            "seen": dataclasses.asdict(self.seen),
            "given": dataclasses.asdict(self.given),
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        model = keras.saving.deserialize_keras_object(config.pop("model"))
        seen, given = (Preprocessing(**config.pop(name)) for name in ("seen", "given"))
        return cls(model, seen, given, **config)


def _checked(model, seen, given):
    """Checks that a teacher can be asked, and tells whether its answers are probabilities."""
    shape = (*seen.image_size, seen.channels)
    takes = model.input_shape
    several = isinstance(takes, dict) or isinstance(takes[0], tuple)
    if (
        several
        or len(takes) != 4
        or any(a not in (None, b) for a, b in zip(takes[1:], shape, strict=True))
    ):
        raise ValueError(
            f"The teacher must take images of the shape {shape}. Received: {model.name}, which "
            f"takes {takes}."
        )
    if given.channels not in (1, seen.channels):
        raise ValueError(
            f"The teacher wants {seen.channels} channels, and the student's images have "
            f"{given.channels}."
        )
    gives = model.output_shape
    if not isinstance(gives, tuple) or len(gives) != 2 or not isinstance(gives[-1], int):
        raise ValueError(
            f"The teacher must give one vector of logits an image. Received: {model.name}, which "
            f"gives {gives}."
        )
    probe = np.random.default_rng(0).uniform(size=(2, *shape))
    images = (probe - np.array(seen.mean)) / np.array(seen.std)
    values = ops.convert_to_numpy(model(images.astype("float32"), training=False)).astype("float64")
    if not np.isfinite(values).all():
        raise ValueError(f"The teacher {model.name} gives numbers that are not finite.")
    return bool(values.min() >= 0 and np.abs(values.sum(axis=-1) - 1).max() < 1e-2)
