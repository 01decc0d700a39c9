"""What a model expects of its images, as one frozen value that travels with it."""

import dataclasses
import json

from keras import ops

from keras_vit.layers.sizes import pair

RESIZES = ("squash", "crop")
INTERPOLATIONS = ("bilinear", "bicubic", "nearest")
PROBABILITIES = ("softmax", "sigmoid")


@dataclasses.dataclass(frozen=True)
class Preprocessing:
    """How a picture becomes a model's input, and what the outputs are called.

    Args:
        image_size: (height, width) in pixels. In a model's config it is always the model's.
        resize: `"squash"` resizes straight to `image_size`; `"crop"` keeps the aspect ratio,
            resizes the short side to `image_size / crop` and cuts the centre out.
        crop: share of the resized picture that the centre cut keeps, in (0, 1]; 0.875 and 0.9
            are common. Only for `resize="crop"`.
        interpolation: `"bilinear"`, `"bicubic"` (both antialiased) or `"nearest"`.
        mean: mean of each channel, on the scale 0 to 1.
        std: standard deviation of each channel, on the scale 0 to 1.
        class_names: names of the classes in the order of the logits, or empty.
        probabilities: how logits become probabilities: by `"softmax"`, where an image has one
            class, or by `"sigmoid"`, where it may have several.
        frames: frames of a clip where a model takes clips, 0 where it takes images. In a model's
            config it is always the model's.
        stride: frames of a video from one frame of a clip to the next.

    Raises:
        ValueError: for values outside these rules.

    Example:

    >>> Preprocessing(image_size=32, class_names=["cat", "dog"]).class_names
    ('cat', 'dog')
    """

    image_size: tuple = (224, 224)
    resize: str = "squash"
    crop: float = 1.0
    interpolation: str = "bilinear"
    mean: tuple = (0.5, 0.5, 0.5)
    std: tuple = (0.5, 0.5, 0.5)
    class_names: tuple = ()
    probabilities: str = "softmax"
    frames: int = 0
    stride: int = 1

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        fix("image_size", pair("image_size", self.image_size))
        fix("mean", tuple(float(value) for value in self.mean))
        fix("std", tuple(float(value) for value in self.std))
        fix("class_names", tuple(str(name) for name in self.class_names))
        if self.resize not in RESIZES:
            raise ValueError(f"`resize` must be one of {RESIZES}. Received: {self.resize!r}.")
        if self.interpolation not in INTERPOLATIONS:
            raise ValueError(
                f"`interpolation` must be one of {INTERPOLATIONS}. "
                f"Received: {self.interpolation!r}."
            )
        if self.probabilities not in PROBABILITIES:
            raise ValueError(
                f"`probabilities` must be one of {PROBABILITIES}. Received: {self.probabilities!r}."
            )
        if not 0 < self.crop <= 1:
            raise ValueError(f"`crop` must be in (0, 1]. Received: {self.crop}.")
        if len(self.mean) != len(self.std) or not self.mean or min(self.std) <= 0:
            raise ValueError(
                "`mean` and `std` must have one value a channel, `std` above zero. "
                f"Received: mean={self.mean}, std={self.std}."
            )
        if self.frames < 0 or self.stride < 1:
            raise ValueError(
                "`frames` must be at least 0 and `stride` at least 1. "
                f"Received: frames={self.frames}, stride={self.stride}."
            )

    @property
    def channels(self):
        """Number of channels of the images."""
        return len(self.mean)

    @property
    def shape(self):
        """Shape of an image `(h, w, c)`, or of a clip `(frames, h, w, c)`."""
        clip = (self.frames,) if self.frames else ()
        return (*clip, *self.image_size, self.channels)

    def normalize(self, pixels):
        """Returns `(pixels / 255 - mean) / std` in float32.

        Args:
            pixels: `[..., channels]`, values 0 to 255, any dtype.
        """
        pixels = ops.cast(pixels, "float32")
        scale = [1 / (255 * std) for std in self.std]
        shift = [mean / std for mean, std in zip(self.mean, self.std, strict=True)]
        return pixels * ops.convert_to_tensor(scale, "float32") - ops.convert_to_tensor(
            shift, "float32"
        )

    def to_json(self):
        """Returns the value as JSON text; `from_json` reads it."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text):
        """Returns the value that `to_json` wrote."""
        return cls(**json.loads(text))
