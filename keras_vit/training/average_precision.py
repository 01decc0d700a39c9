"""Mean average precision while a model is trained."""

import keras
from keras import ops

# Logits are counted in bins of 1/32.
LIMIT, BINS = 16.0, 1024


@keras.saving.register_keras_serializable(package="keras_vit")
class MeanAveragePrecision(keras.metrics.Metric):
    """Mean of the classes' average precisions, over those classes that an example has.

    Average precision needs all scores in their order; here they are counted in bins of the logit,
    so that replicas and batches add up, and logits in one bin count as equal. It is then what
    scikit-learn gives for logits rounded down to 1/32, between -16 and 16.
    `keras_vit.training.evaluate` takes all scores as they are. (Keras's `AUC(curve="PR")` has
    steps of the probability instead, where rare classes all lie in the first.)

    Args:
        num_classes: number of classes.
        name: name of the metric.

    Call arguments:
        y_true: `[b, num_classes]`; above one half where an example has the class.
        y_pred: logits `[b, num_classes]`.
        sample_weight: not used.

    Example:

    >>> metric = MeanAveragePrecision(2)
    >>> metric.update_state([[1, 0], [0, 0], [1, 1]], [[3, -1], [2, 1], [1, 2]])
    >>> round(float(metric.result()), 4)  # (1 + 2/3) / 2 and 1
    0.9167
    """

    def __init__(self, num_classes, name="mAP", **kwargs):
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        shape = (num_classes, BINS)
        self.with_class = self.add_weight(shape=shape, initializer="zeros", name="with_class")
        self.without = self.add_weight(shape=shape, initializer="zeros", name="without")

    def update_state(self, y_true, y_pred, sample_weight=None):
        has = ops.cast(ops.cast(y_true, self.dtype) > 0.5, self.dtype)
        logits = ops.cast(y_pred, self.dtype)
        places = ops.floor((logits + LIMIT) * (BINS / (2 * LIMIT)))
        places = ops.cast(ops.clip(places, 0, BINS - 1), "int32")
        places = ops.ravel(places + BINS * ops.arange(self.num_classes, dtype="int32"))
        for variable, counted in ((self.with_class, has), (self.without, 1 - has)):
            counts = ops.segment_sum(ops.ravel(counted), places, self.num_classes * BINS)
            variable.assign_add(ops.reshape(counts, (self.num_classes, BINS)))

    def result(self):
        found = ops.flip(ops.convert_to_tensor(self.with_class), axis=1)
        wrong = ops.flip(ops.convert_to_tensor(self.without), axis=1)
        right, wrong = ops.cumsum(found, axis=1), ops.cumsum(wrong, axis=1)
        precision = ops.divide_no_nan(right, right + wrong)
        total = right[:, -1]
        average = ops.divide_no_nan(ops.sum(found * precision, axis=1), total)
        return ops.divide_no_nan(ops.sum(average), ops.sum(ops.cast(total > 0, self.dtype)))

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}
