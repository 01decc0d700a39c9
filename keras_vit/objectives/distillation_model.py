"""A student with its teacher, as one model that `fit` trains."""

import keras
from keras import ops

from keras_vit.models import DeiT
from keras_vit.objectives.distillation_teacher import Teacher
from keras_vit.step import ExactFit


@keras.saving.register_keras_serializable(package="keras_vit")
class Distiller(ExactFit, keras.Model):
    """Trains a student by a teacher; what is learned is in the student alone.

    Compile it with `HardDistillation` or `SoftDistillation`. Metrics get the student's own logits.
    Save `distiller.student`.

    Args:
        student: a model of this package with classes. A `DeiT` learns from the teacher by a head of
            its own; of any other model the one head learns from both.
        teacher: a `Teacher`, or None where its logits come with the images.

    Call arguments:
        inputs: images as the student takes them; without a `teacher`, in training, a dict of
            `images` and `teacher`, the teacher's logits of them.
        training: whether it is trained.

    Returns:
        In training float logits `[b, 3, k]`: class head, distillation head, teacher. Otherwise what
        the student gives.

    Raises:
        ValueError: if teacher and student do not have the same classes.

    Reference:
        Touvron et al., *Training data-efficient image transformers & distillation through
        attention*, 2020, arXiv 2012.12877.
    """

    def __init__(self, student, teacher=None, name="distiller", **options):
        super().__init__(name=name, **options)
        if teacher is not None:
            check_classes(teacher, student.preprocessing.class_names, student.config.num_classes)
        self.student, self.teacher = student, teacher
        heads = ["head", "head_distillation"] if isinstance(student, DeiT) else ["head"] * 2
        both = keras.Model(student.input, [student.get_layer(head).output for head in heads])
        # Held by a function: as an attribute its layers would be saved a second time.
        self._heads = lambda images, training: both(images, training=training)
        self.built = True

    @property
    def config(self):
        """The student's."""
        return self.student.config

    @property
    def preprocessing(self):
        """The student's."""
        return self.student.preprocessing

    def call(self, inputs, training=False):
        images = inputs["images"] if isinstance(inputs, dict) else inputs
        if not training:
            return self.student(images, training=False)
        taught = inputs["teacher"] if isinstance(inputs, dict) else self._asked(images)
        heads = self._heads(images, training=True)
        return ops.stack([*heads, ops.cast(taught, heads[0].dtype)], axis=1)

    def _asked(self, images):
        if self.teacher is None:
            raise ValueError("Without a `teacher` its logits must come with the images.")
        return self.teacher(images)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        if len(y_pred.shape) == 3:
            y_pred = ops.mean(y_pred[:, :2], axis=1)
        return super().compute_metrics(x, y, y_pred, sample_weight)

    def get_config(self):
        parts = {"student": self.student, "teacher": self.teacher}
        return {
            "name": self.name,
            **{name: keras.saving.serialize_keras_object(part) for name, part in parts.items()},
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        parts = [
            keras.saving.deserialize_keras_object(config.pop(name))
            for name in ("student", "teacher")
        ]
        return cls(*parts, **config)


def check_classes(teacher: Teacher, class_names, num_classes):
    """Checks that a teacher tells a student's classes apart, in their order.

    Raises:
        ValueError: if it does not.
    """
    if teacher.num_classes != num_classes:
        raise ValueError(
            "Teacher and student must have the same classes. Received: "
            f"{teacher.num_classes} of the teacher, {num_classes} of the student."
        )
    theirs = teacher.seen.class_names
    different = [pair for pair in zip(theirs, class_names, strict=False) if pair[0] != pair[1]]
    if different:
        raise ValueError(
            "Teacher and student must have the same classes in the same order. Received: "
            f"{different[0][0]!r} of the teacher where the student has {different[0][1]!r}."
        )
