"""Random changes to training images, each a pure function of the image and its key."""

import dataclasses
from typing import ClassVar

import tensorflow as tf

from keras_vit.data.order import uniform


@dataclasses.dataclass(frozen=True)
class Flip:
    """Mirrors an image left to right.

    Args:
        probability: share of the images that are mirrored, 0 to 1.

    Call arguments:
        image: `[h, w, c]` or `[b, h, w, c]`, any dtype.
        seed: int64 `[2]` or `[b, 2]`.

    Returns:
        A tensor like `image`.
    """

    stage: ClassVar[str] = "fitted"
    probability: float = 0.5

    def __call__(self, image, seed):
        mirrored = uniform(seed, 1)[..., None, None] < self.probability
        return tf.where(mirrored, tf.reverse(image, [-2]), image)


@dataclasses.dataclass(frozen=True)
class Shift:
    """Moves an image by whole pixels, up to a share of its size in each direction.

    Args:
        share: largest move as a share of height and width, 0 to 1, rounded down to pixels: 1/8
            is 1 pixel of 8, 3 of 28, 4 of 32.
        fill: what comes in from outside: `"zero"` (black) or `"edge"` (the nearest pixel).

    Call arguments:
        image: `[h, w, c]` or `[b, h, w, c]`, uint8 or float32.
        seed: int64 `[2]` or `[b, 2]`.

    Returns:
        A tensor like `image`.
    """

    stage: ClassVar[str] = "fitted"
    share: float = 1 / 8
    fill: str = "zero"

    def __post_init__(self):
        if self.fill not in _FILLS:
            raise ValueError(f"`fill` must be one of {tuple(_FILLS)}. Received: {self.fill!r}.")

    def __call__(self, image, seed):
        if image.shape.rank == 3:
            return self(image[None], seed[None])[0]
        size = tf.shape(image)[1:3]
        limit = tf.floor(tf.cast(size, tf.float32) * self.share)
        down, right = tf.unstack(tf.floor(uniform(seed, 2) * (2 * limit + 1)) - limit, axis=-1)
        one, zero = tf.ones_like(down), tf.zeros_like(down)
        # An output pixel (x, y) is the input's (x - right, y - down). One op for the batch.
        transforms = tf.stack([one, zero, -right, zero, one, -down, zero, zero], axis=-1)
        moved = tf.raw_ops.ImageProjectiveTransformV3(
            images=image,
            transforms=transforms,
            output_shape=size,
            fill_value=0.0,
            interpolation="NEAREST",
            fill_mode=_FILLS[self.fill],
        )
        return tf.ensure_shape(moved, image.shape)


_FILLS = {"zero": "CONSTANT", "edge": "NEAREST"}


@dataclasses.dataclass(frozen=True)
class InceptionCrop:
    """Cuts a random part out of an image; the pipeline then resizes the part to the model's size.

    Args:
        area: (least, most) share of the image's area.
        aspect: (least, most) width / height of the part.

    Call arguments:
        image: `[h, w, c]`, any dtype, at the size it was decoded.
        seed: int64 `[2]`.

    Returns:
        `[h', w', c]`, a part of `image`.

    Reference:
        [Szegedy et al., 2015](https://arxiv.org/abs/1409.4842); the ranges and the op are those
        of big_vision's `inception_crop`.
    """

    stage: ClassVar[str] = "decoded"
    area: tuple = (0.05, 1.0)
    aspect: tuple = (3 / 4, 4 / 3)

    def __call__(self, image, seed):
        begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
            tf.shape(image),
            tf.zeros([1, 0, 4]),
            seed=seed,
            min_object_covered=0.0,
            aspect_ratio_range=self.aspect,
            area_range=self.area,
            use_image_if_no_bounding_boxes=True,
        )
        part = tf.slice(image, begin, size)
        return tf.ensure_shape(part, [None, None, image.shape[-1]])


# Names for recipes. A part of stage "decoded" is called on one image before it is fitted to the
# model's size, one of stage "fitted" on a batch after that.
AUGMENTATIONS = {
    "flip": Flip(),
    "shift": Shift(),
    "small_shift": Shift(share=1 / 24),
    "shift_edge": Shift(fill="edge"),
    "inception_crop": InceptionCrop(),
}


def augmentations(names):
    """Returns the parts for names of `AUGMENTATIONS`; what is a part already stays.

    Args:
        names: tuple of names and of callables with `stage`.

    Raises:
        ValueError: for an unknown name; lists the known ones.
    """
    parts = []
    for name in names:
        if isinstance(name, str) and name not in AUGMENTATIONS:
            raise ValueError(f"`augment` must be of {tuple(AUGMENTATIONS)}. Received: {name!r}.")
        parts.append(AUGMENTATIONS[name] if isinstance(name, str) else name)
    return tuple(parts)
