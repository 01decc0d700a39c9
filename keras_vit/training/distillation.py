"""Training by a teacher: what a recipe says of it, and the model, loss and batches it makes."""

import dataclasses
import zipfile
from pathlib import Path

import keras

from keras_vit.layers import Preprocessing
from keras_vit.layers.choices import check_choice
from keras_vit.objectives import (
    RANGES,
    Distiller,
    HardDistillation,
    SoftDistillation,
    Teacher,
)
from keras_vit.objectives.distillation_model import check_classes
from keras_vit.training.kept_logits import TaughtClasses, kept_logits
from keras_vit.weights.hub_preprocessing import preprocessing_of

LOSSES = {"hard": HardDistillation, "soft": SoftDistillation}


@dataclasses.dataclass(frozen=True)
class Distillation:
    """A recipe's `distillation`.

    Args:
        teacher: path of a `.keras` file: any Keras model that tells the classes apart.
        loss: `"hard"` or `"soft"`, see `keras_vit.objectives`.
        weight: share of the teacher in the loss; None for the loss's own.
        temperature: of the soft loss; None for its own.
        range: what the pixels of a teacher's images are where it does not say: a key of
            `keras_vit.objectives.RANGES`. Models of this package say it, and those of KerasHub
            that have their preprocessor.
        logits: path of an `.npz` file that keeps the teacher's logits of the training images, which
            are then computed once, of the images as they are; None to ask the teacher in every step
            about the images as the student sees them.

    Raises:
        ValueError: for values outside these rules.
    """

    teacher: str | None = None
    loss: str = "hard"
    weight: float | None = None
    temperature: float | None = None
    range: str | None = None
    logits: str | None = None

    def __post_init__(self):
        check_choice("loss", self.loss, LOSSES)
        if self.range is not None:
            check_choice("range", self.range, RANGES)
        if self.temperature is not None and self.loss != "soft":
            raise ValueError(
                f"`temperature` is for `loss='soft'`. Received: temperature={self.temperature}, "
                f"loss={self.loss!r}."
            )
        self.objective()

    def objective(self, label_smoothing=0.0):
        """Returns the loss."""
        given = {"weight": self.weight, "temperature": self.temperature}
        given = {name: value for name, value in given.items() if value is not None}
        return LOSSES[self.loss](label_smoothing=label_smoothing, **given)

    def distiller(self, student):
        """Returns the model that trains a student.

        Raises:
            FileNotFoundError: if there is no teacher.
            ValueError: for a teacher that cannot teach these classes by these images.
        """
        if self.logits is not None:
            return Distiller(student)
        return Distiller(student, self._opened(student.preprocessing))

    def taught(self, records, preprocessing):
        """Returns records whose targets hold the teacher's logits, too.

        Args:
            records: `Records` with a class an image.
            preprocessing: the student's.
        """
        teacher = self._opened(preprocessing)
        check_classes(teacher, records.class_names, len(records.class_names))
        logits = kept_logits(self.logits, teacher, records)
        targets = TaughtClasses(records.class_names, records.labels, logits)
        return dataclasses.replace(records, targets=targets)

    def _opened(self, given):
        if self.teacher is None:
            raise ValueError(
                "There is no teacher: use `keras-vit distill TEACHER DATA`, or set "
                "distillation.teacher to a .keras file."
            )
        model = _loaded(self.teacher)
        return Teacher(model, seen_by(model, self.range, given), given)


def seen_by(model, pixels, given):
    """Returns the `Preprocessing` of a teacher.

    Args:
        model: the teacher.
        pixels: a key of `RANGES`, or None where the model says it.
        given: the student's, for a teacher of any size.

    Raises:
        ValueError: if nothing, or both, say what the teacher's images are.
    """
    own = getattr(model, "preprocessing", None)
    if isinstance(own, Preprocessing):
        return _only_one(own, pixels)
    shape = model.input_shape
    if not isinstance(shape, tuple) or len(shape) != 4:
        raise ValueError(f"The teacher must take images [b, h, w, c]. Received: {shape}.")
    channels = shape[-1] or given.channels
    size = tuple(side or other for side, other in zip(shape[1:3], given.image_size, strict=True))
    fields, reason, _ = preprocessing_of(model, channels)
    if fields is not None:
        return _only_one(Preprocessing(image_size=size, **fields), pixels)
    if pixels is None:
        raise ValueError(
            f"The teacher {model.name} does not say what its pixels are"
            f"{f' ({reason})' if reason else ''}: give its range, one of {', '.join(RANGES)}. "
            "Models of keras.applications that rescale by themselves have 0..255."
        )
    mean, std = (
        value if isinstance(value, tuple) else (value,) * channels for value in RANGES[pixels]
    )
    return Preprocessing(image_size=size, mean=mean, std=std)


def _only_one(own, pixels):
    if pixels is not None:
        raise ValueError(
            "The teacher says itself what its pixels are: leave the range out. "
            f"Received: {pixels!r}."
        )
    return own


def _loaded(path):
    if not Path(path).exists():
        raise FileNotFoundError(f"There is no teacher at {path}: give a .keras file.")
    # Keras reports a damaged file by whatever breaks first.
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no readable `.keras` file: it is cut short or another kind.")
    return keras.saving.load_model(path, compile=False)
