"""What an artefact is for: one small object each, and the dict to choose from."""

import dataclasses

from keras_vit.export.agreement import Bound


@dataclasses.dataclass(frozen=True)
class Profile:
    """A kind of artefact.

    Args:
        name: its name in `PROFILES`.
        format: key of `exporter.FORMATS`: what is written.
        precision: key of `tflite.PRECISIONS`, or `"float32"` for a SavedModel.
        bound: how near to the Keras model it must be to be accepted.
        integer: whether it holds integers only; it then needs calibration images.
        summary: one line for people.
    """

    name: str
    format: str
    precision: str
    bound: Bound
    summary: str
    integer: bool = False

    @property
    def ending(self):
        """How the artefact's path ends; empty for a folder."""
        return "" if self.format == "saved_model" else f".{self.format}"


# The bounds of float32 are those of rounding. The others are there to refuse a broken file, not
# a worse one, and 32 images count a few near-ties too many or too few: a naive full int8 DINOv2-S
# with 15 points less accuracy still has a cosine of 0.865 and the same top class on 73 %.
_ALL = (
    Profile(
        "server", "saved_model", "float32", Bound(relative=1e-4),
        "SavedModel for TensorFlow Serving: arrays or encoded pictures, any batch",
    ),
    Profile(
        "float32", "tflite", "float32", Bound(relative=1e-4),
        "TFLite in float32: phones' GPUs, and the one to compare others with",
    ),
    Profile(
        "cpu", "tflite", "dynamic_int8", Bound(cosine=0.98, top1=0.9),
        "TFLite with int8 weights: a quarter of the size, the fastest on CPUs",
    ),
    Profile(
        "npu", "tflite", "full_int8", Bound(cosine=0.85, top1=0.75),
        "TFLite in integers throughout, uint8 pixels in: NPUs and microcontrollers",
        integer=True,
    ),
)  # fmt: skip
PROFILES = {profile.name: profile for profile in _ALL}


def profile_named(profile):
    """Returns the `Profile` of a name; a `Profile` as it is.

    Raises:
        ValueError: for an unknown name; the error lists the names.

    Example:

    >>> profile_named("npu").integer
    True
    """
    if isinstance(profile, Profile):
        return profile
    if profile not in PROFILES:
        names = ", ".join(PROFILES)
        raise ValueError(f"`profile` must be one of: {names}. Received: {profile!r}.")
    return PROFILES[profile]
