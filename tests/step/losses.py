"""Losses of the kinds that Keras has none of."""

from keras import ops

from keras_vit.step import PairwiseLoss, RatioLoss


class MaskedMean(RatioLoss):
    """Squared error, averaged over the elements whose target is positive."""

    def terms(self, y_true, y_pred, sample_weight=None):
        counts = ops.cast(y_true > 0, y_pred.dtype) * (0.5 + ops.abs(y_true))
        return ops.sum(counts * ops.square(y_pred - y_true)), ops.sum(counts)


class Contrastive(PairwiseLoss):
    """Each left embedding is to find its right one among all of the batch."""

    def call(self, y_true, y_pred):
        logits = ops.matmul(y_pred["left"], ops.transpose(y_pred["right"]))
        return ops.mean(ops.logsumexp(logits, axis=-1) - ops.diagonal(logits))


class SquareSum(PairwiseLoss):
    """Half the sum of the squares of all outputs."""

    def call(self, y_true, y_pred):
        return ops.sum(ops.square(y_pred)) / 2
