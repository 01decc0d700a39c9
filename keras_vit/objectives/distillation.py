"""Losses of a student that learns from labels and from a teacher.

Touvron et al., *Training data-efficient image transformers & distillation through attention*, 2020,
arXiv 2012.12877, section 4. Both are of the kind *example*: each image has a value of its own, and
the exact step averages them over the whole batch.

The teacher's logits come as a part of what the model gives (`Distiller`), not with the targets: so
`fit`, every strategy, XLA and JAX take them as they take any output, a resumed run needs nothing
more than the model's state, and metrics and mixed labels stay those of a plain training.
"""

import keras
from keras import ops

# What `Distiller` gives in training, on the axis before the classes.
PARTS = ("class", "distillation", "teacher")


class DistillationLoss(keras.losses.Loss):
    """What both losses share: `(1 - weight) · CE(Z_c, y)` and, of a subclass, `weight · ...`.

    Args:
        weight: share of the teacher, in [0, 1].
        label_smoothing: share of the labels spread over all classes; the teacher's part has none.

    Call arguments:
        y_true: labels `[b, k]`, one-hot or mixed.
        y_pred: logits `[b, 3, k]` of class head, distillation head and teacher, as `Distiller`
            gives them in training; or logits `[b, k]`, of which the loss is `CE` alone.
    """

    kind = "example"

    def __init__(self, weight, label_smoothing=0.0, name=None, **options):
        super().__init__(name=name, **options)
        if not 0 <= weight <= 1:
            raise ValueError(f"`weight` must be in [0, 1]. Received: {weight}.")
        self.weight = weight
        self.label_smoothing = label_smoothing

    def call(self, y_true, y_pred):
        if len(y_pred.shape) == 2:
            return self._labels(y_true, y_pred)
        student, distilled, teacher = (y_pred[:, part] for part in range(len(PARTS)))
        taught = self.taught(distilled, ops.stop_gradient(teacher))
        return (1 - self.weight) * self._labels(y_true, student) + self.weight * taught

    def taught(self, distilled, teacher):
        """Returns what each example costs by the teacher's logits, `[b]`."""
        raise NotImplementedError

    def _labels(self, y_true, logits):
        return keras.losses.categorical_crossentropy(
            y_true, logits, from_logits=True, label_smoothing=self.label_smoothing
        )

    def get_config(self):
        return {
            **super().get_config(),
            "weight": self.weight,
            "label_smoothing": self.label_smoothing,
        }


@keras.saving.register_keras_serializable(package="keras_vit")
class HardDistillation(DistillationLoss):
    """The class that the teacher finds is the distillation head's label.

    `(1 - weight) · CE(Z_c, y) + weight · CE(Z_d, argmax Z_t)`

    Args and call arguments are those of `DistillationLoss`.

    Example:

    >>> logits = [[[1.0, 2.0, 0.5], [0.5, 1.0, -0.5], [2.0, 1.0, 0.0]]]
    >>> round(float(HardDistillation()([[0.0, 1.0, 0.0]], keras.ops.array(logits))), 6)
    0.78425
    """

    def __init__(self, weight=0.5, label_smoothing=0.0, name="hard_distillation", **options):
        super().__init__(weight, label_smoothing, name, **options)

    def taught(self, distilled, teacher):
        return ops.sparse_categorical_crossentropy(
            ops.argmax(teacher, axis=-1), distilled, from_logits=True
        )


@keras.saving.register_keras_serializable(package="keras_vit")
class SoftDistillation(DistillationLoss):
    """The teacher's probabilities, flattened by a temperature, are the distillation head's.

    `(1 - weight) · CE(Z_c, y) + weight · τ² · KL(softmax(Z_t / τ) ‖ softmax(Z_d / τ))`

    The authors' code divides the second part by the number of classes, too: there it weighs that
    much less than in the paper's formula, which is this one. `weight / classes` comes close.

    Args:
        weight, label_smoothing: as in `DistillationLoss`.
        temperature: the τ, above 0.

    Call arguments are those of `DistillationLoss`.

    Example:

    >>> logits = [[[1.0, 2.0, 0.5], [0.5, 1.0, -0.5], [2.0, 1.0, 0.0]]]
    >>> round(float(SoftDistillation()([[0.0, 1.0, 0.0]], keras.ops.array(logits))), 6)
    0.44007
    """

    def __init__(
        self,
        weight=0.1,
        temperature=3.0,
        label_smoothing=0.0,
        name="soft_distillation",
        **options,
    ):
        super().__init__(weight, label_smoothing, name, **options)
        if temperature <= 0:
            raise ValueError(f"`temperature` must be above 0. Received: {temperature}.")
        self.temperature = temperature

    def taught(self, distilled, teacher):
        ours, theirs = (
            ops.log_softmax(logits / self.temperature) for logits in (distilled, teacher)
        )
        return self.temperature**2 * ops.sum(ops.exp(theirs) * (theirs - ours), axis=-1)

    def get_config(self):
        return {**super().get_config(), "temperature": self.temperature}
