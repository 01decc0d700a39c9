"""The loss of a masked autoencoder, and pictures of what it paints.

He et al., *Masked Autoencoders Are Scalable Vision Learners*, 2021, arXiv 2111.06377, section 3.
"""

import keras
from keras import ops

from keras_vit.step import RatioLoss

EPSILON = 1e-6  # of a patch's variance


def patch_statistics(patches):
    """Returns mean and standard deviation of each patch, `[..., 1]`; the variance is unbiased.

    Args:
        patches: `[..., p * p * c]`.
    """
    count = patches.shape[-1]
    mean = ops.mean(patches, axis=-1, keepdims=True)
    variance = ops.sum(ops.square(patches - mean), axis=-1, keepdims=True) / max(count - 1, 1)
    return mean, ops.sqrt(variance + EPSILON)


@keras.saving.register_keras_serializable(package="keras_vit")
class MaskedPixelLoss(RatioLoss):
    """The mean squared error of what is painted, over the patches that were not seen.

    `Σ_i m_i · mean_k (x̂_ik - t_ik)² / Σ_i m_i`, with `m` 1 for a masked patch of the batch. With
    `normalise` the target is `t = (x - mean(x)) / sqrt(var(x) + 1e-6)` of each patch, else `x`.

    Args:
        normalise: whether each patch is normalised.

    Call arguments:
        y_true: None.
        y_pred: what a `MAE` gives: `painted`, `patches` and `mask`.
        sample_weight: `[b]`, or None.

    Returns:
        A scalar.

    Example:

    >>> mask, patches = [[0.0, 1.0]], [[[1.0, 2.0], [3.0, 5.0]]]
    >>> given = {"painted": [[[0.0, 0.0], [0.0, 0.0]]], "patches": patches, "mask": mask}
    >>> loss = MaskedPixelLoss(normalise=False)
    >>> float(loss(None, {name: keras.ops.array(value) for name, value in given.items()}))
    17.0
    """

    def __init__(self, normalise=True, name="masked_pixels"):
        super().__init__(name=name)
        self.normalise = normalise

    def terms(self, y_true, y_pred, sample_weight=None):
        patches, mask = y_pred["patches"], ops.cast(y_pred["mask"], y_pred["painted"].dtype)
        if self.normalise:
            mean, deviation = patch_statistics(patches)
            patches = (patches - mean) / deviation
        if sample_weight is not None:
            mask = mask * ops.cast(sample_weight, mask.dtype)[:, None]
        errors = ops.mean(ops.square(y_pred["painted"] - patches), axis=-1)
        return ops.sum(errors * mask), ops.sum(mask)

    def get_config(self):
        return {"name": self.name, "normalise": self.normalise}


def painted_images(outputs, config, normalised=True):
    """Returns what a `MAE` saw, and what it made of it.

    Painted patches get the mean and the deviation of the true ones back, which the model did not
    know; patches that it saw are shown as they are, since it learns nothing about them.

    Args:
        outputs: what a `MAE` gives.
        config: its config.
        normalised: whether it was trained with `MaskedPixelLoss(normalise=True)`.

    Returns:
        Two tensors `[b, h, w, c]`, normalised like the images: with masked patches 0, the mean of
        all pictures; and with masked patches as painted.
    """
    patches, mask = outputs["patches"], outputs["mask"][:, :, None]
    painted = outputs["painted"]
    if normalised:
        mean, deviation = patch_statistics(patches)
        painted = painted * deviation + mean
    seen = patches * (1 - mask)
    return tuple(_images(one, config) for one in (seen, seen + painted * mask))


def _images(patches, config):
    (rows, columns), (height, width) = config.grid, config.patch_size
    x = ops.reshape(patches, (-1, rows, columns, height, width, config.channels))
    x = ops.transpose(x, (0, 1, 3, 2, 4, 5))
    return ops.reshape(x, (-1, *config.image_size, config.channels))
