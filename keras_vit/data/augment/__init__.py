"""Random changes to training images, each a pure function of the image and its key."""

import ast
import dataclasses

from keras_vit.data.augment.auto_augment import AutoAugment
from keras_vit.data.augment.color_jitter import ColorJitter
from keras_vit.data.augment.flip import Flip
from keras_vit.data.augment.inception_crop import InceptionCrop, inception_box
from keras_vit.data.augment.labels import AnyLabel, smoothed
from keras_vit.data.augment.mix_or_cut import MixOrCut
from keras_vit.data.augment.mixup import MixUp
from keras_vit.data.augment.rand_augment import RandAugment, TimmRandAugment
from keras_vit.data.augment.random_erasing import RandomErasing
from keras_vit.data.augment.resized_crop import ResizedCrop
from keras_vit.data.augment.shift import Shift
from keras_vit.data.augment.square_crop import SquareCrop
from keras_vit.data.augment.three_augment import ThreeAugment
from keras_vit.hints import did_you_mean

__all__ = [
    "AUGMENTATIONS",
    "STAGES",
    "AnyLabel",
    "AutoAugment",
    "ColorJitter",
    "Flip",
    "InceptionCrop",
    "MixOrCut",
    "MixUp",
    "RandAugment",
    "RandomErasing",
    "ResizedCrop",
    "Shift",
    "SquareCrop",
    "ThreeAugment",
    "TimmRandAugment",
    "augmentations",
    "inception_box",
    "smoothed",
]

# When a part is called, and with what; in this order, whatever theirs in a recipe.
# decoded: one image as it was decoded, before it is fitted to the model's size.
# image: one fitted image, uint8.
# fitted: a batch of those.
# normalised: a batch of images as the model takes them.
# labelled: those with their labels; returns both.
STAGES = ("decoded", "image", "fitted", "normalised", "labelled")

# Names for recipes, with the arguments that a name alone stands for.
AUGMENTATIONS = {
    "inception_crop": InceptionCrop(),
    "resized_crop": ResizedCrop(),
    "square_crop": SquareCrop(),
    "auto_augment": AutoAugment(),
    "rand_augment": RandAugment(),
    "timm_rand_augment": TimmRandAugment(),
    "three_augment": ThreeAugment(),
    "color_jitter": ColorJitter(),
    "flip": Flip(),
    "shift": Shift(),
    "small_shift": Shift(share=1 / 24),
    "shift_edge": Shift(fill="edge"),
    "random_erasing": RandomErasing(),
    "mixup": MixUp(),
    "cutmix": MixOrCut(mixup=0.0),
    "mix_or_cut": MixOrCut(),
    "any_label": AnyLabel(),
}


def augmentations(names):
    """Returns the parts for names of `AUGMENTATIONS`; what is a part already stays.

    A name may be followed by arguments of its own: `"mixup(0.5)"`, `"rand_augment(2, 15)"`.

    Args:
        names: tuple of such names, and of callables with `stage`.

    Raises:
        ValueError: for an unknown name (the error lists the known ones), or arguments that the part
            does not take.
    """
    return tuple(_named(name) if isinstance(name, str) else name for name in names)


def _named(text):
    name, bracket, rest = text.partition("(")
    if name not in AUGMENTATIONS:
        raise ValueError(
            f"`augment` must be of {', '.join(AUGMENTATIONS)}. Received: {text!r}."
            f"{did_you_mean(name, AUGMENTATIONS)}"
        )
    part = AUGMENTATIONS[name]
    if not bracket:
        return part
    try:
        arguments = ast.literal_eval(f"({rest.removesuffix(')')},)")
        return type(part)(*arguments)
    except (SyntaxError, TypeError, ValueError) as error:
        fields = ", ".join(field.name for field in dataclasses.fields(part))
        raise ValueError(
            f"`{name}` takes ({fields}), as in 'mixup(0.5)'. Received: {text!r}: {error}"
        ) from error
