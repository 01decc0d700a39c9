"""What a Keras model sees in images on disk: one vector an image."""

import numpy as np

from keras_vit.explain.blocks import as_float64


def pooled_features(model, records, batch_size=64, progress=None):
    """Returns what the head of a model gets, for each image.

    Args:
        model: a Keras model with `features` and `preprocessing`: any image model of this package.
        records: `Records` of `keras_vit.data`.
        batch_size: images a call.
        progress: called with the number of images of each batch done, or None.

    Returns:
        A numpy array `[n, width]`, float64, in the order of the records. Where the model pools
        nothing, the mean of its patch tokens.
    """
    # TensorFlow reads images, and the rest of this part does without: JAX may stand alone.
    from keras_vit.data import evaluation_batches, normalised

    found = []
    for images, *_ in normalised(
        evaluation_batches(records, model.preprocessing, batch_size), model.preprocessing
    ):
        found.append(_pooled(model, np.asarray(images)))
        if progress:
            progress(len(found[-1]))
    return np.concatenate(found)


def _pooled(model, images):
    features = model.features(images, training=False)
    if features["pooled"].ndim != 2:
        return as_float64(features["tokens"]).mean(axis=1)
    return as_float64(features["pooled"])
