"""KerasHub's `ImageConverter` and our `Preprocessing`, from one to the other."""

import numpy as np

from keras_vit.layers.preprocessing import INTERPOLATIONS


def preprocessing_of(model, channels):
    """What a KerasHub model says of its images.

    Args:
        model: a backbone, or an image classifier with or without a preprocessor.
        channels: number of channels of its images.

    Returns:
        Three values: fields of `Preprocessing`, or None where the model says nothing; why we
        cannot do the same, or None; and what we do otherwise, or None.
    """
    preprocessor = getattr(model, "preprocessor", None)
    if preprocessor is None:
        return None, None, None
    converter = getattr(preprocessor, "image_converter", None)
    if converter is None:
        return None, "we can read KerasHub's `ImageConverter` only", None
    if converter.pad_to_aspect_ratio:
        return None, "our preprocessing does not pad to the aspect ratio", None
    if converter.interpolation not in INTERPOLATIONS:
        return None, f"our preprocessing has no {converter.interpolation!r} interpolation", None
    scale = _per_channel(converter.scale, 1.0, channels)
    offset = _per_channel(converter.offset, 0.0, channels)
    # Theirs is `pixels * scale + offset`, ours `(pixels / 255 - mean) / std`.
    std = 1 / (255 * scale)
    fields = {
        "mean": _short(-offset * std),
        "std": _short(std),
        "resize": "crop" if converter.crop_to_aspect_ratio else "squash",
        "interpolation": converter.interpolation,
    }
    other = not converter.antialias and converter.interpolation != "nearest"
    remark = "Pictures are resized with antialiasing, which KerasHub's preprocessor does without."
    return fields, None, remark if other else None


def converter_arguments(config):
    """The arguments of an `ImageConverter` for a model of ours.

    Args:
        config: the model's config.

    Returns:
        The arguments, and why a converter cannot do all of the model's preprocessing, or None.
    """
    preprocessing = config.preprocessing
    std = np.array(preprocessing.std)
    crops = preprocessing.resize == "crop"
    arguments = {
        "image_size": config.image_size,
        "scale": (1 / (255 * std)).tolist(),
        "offset": (-np.array(preprocessing.mean) / std).tolist(),
        "crop_to_aspect_ratio": crops,
        "interpolation": preprocessing.interpolation,
        "antialias": True,
    }
    inner = crops and preprocessing.crop < 1
    reason = f"KerasHub's preprocessor has no centre crop of {preprocessing.crop}"
    return arguments, reason if inner else None


def _short(values):
    """Numbers without the last digits, where rounding leaves 0.48500000000000004 of 0.485."""
    return tuple(float(f"{value:.14g}") for value in values)


def _per_channel(value, neutral, channels):
    return np.broadcast_to(np.array(neutral if value is None else value, float), (channels,))
