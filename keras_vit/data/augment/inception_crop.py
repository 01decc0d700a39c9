"""A random part of an image, as big_vision draws it."""

import dataclasses

import tensorflow as tf

from keras_vit.data.augment.crops import Crop

AREA, ASPECT = (0.05, 1.0), (3 / 4, 4 / 3)


def inception_box(shape, seed, area=AREA, aspect=ASPECT):
    """Draws a part of an image: the aspect uniformly, then uniformly a height.

    Args:
        shape: int32, height and width first.
        seed: int64 `[2]`.
        area: (least, most) share of the image's area.
        aspect: (least, most) width / height.

    Returns:
        int32 `[4]`: top, left, height, width.
    """
    begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
        tf.concat([shape[:2], [1]], axis=0),
        tf.zeros([1, 0, 4]),
        seed=seed,
        min_object_covered=0.0,
        aspect_ratio_range=aspect,
        area_range=area,
        use_image_if_no_bounding_boxes=True,
    )
    return tf.concat([begin[:2], size[:2]], axis=0)


@dataclasses.dataclass(frozen=True)
class InceptionCrop(Crop):
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

    area: tuple = AREA
    aspect: tuple = ASPECT

    def window(self, shape, seed):
        """Returns which part it is, int32 `[4]`: so much of a file has to be decoded."""
        return inception_box(shape, seed, self.area, self.aspect)
