"""Changes to one uint8 image `[h, w, c]` with 1 or 3 channels, as Pillow makes them.

No random numbers: what a change is told, it does. Everything that is told may be a tensor.
"""

from keras_vit.data.augment.ops.blur import gaussian_blur
from keras_vit.data.augment.ops.cutout import cutout
from keras_vit.data.augment.ops.enhance import brightness, color, contrast, hue, sharpness
from keras_vit.data.augment.ops.geometry import (
    rotate,
    shear_x,
    shear_y,
    translate_x,
    translate_y,
)
from keras_vit.data.augment.ops.grey import grey
from keras_vit.data.augment.ops.tables import (
    autocontrast,
    equalize,
    invert,
    posterize,
    solarize,
    solarize_add,
)

__all__ = [
    "autocontrast",
    "brightness",
    "color",
    "contrast",
    "cutout",
    "equalize",
    "gaussian_blur",
    "grey",
    "hue",
    "invert",
    "posterize",
    "rotate",
    "sharpness",
    "shear_x",
    "shear_y",
    "solarize",
    "solarize_add",
    "translate_x",
    "translate_y",
]
