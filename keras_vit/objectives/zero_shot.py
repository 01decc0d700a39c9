"""From a CLIP to a classifier whose classes are told in words."""

import dataclasses

import numpy as np
from keras import ops

from keras_vit.models.base import copy_by_path
from keras_vit.models.clip import ImageTower

# A few plain ways of saying what a picture shows; the text of a class is put in for `{}`.
TEMPLATES = (
    "a photo of a {}.",
    "a photo of the {}.",
    "a picture of a {}.",
    "a close-up photo of a {}.",
    "a blurry photo of a {}.",
    "a drawing of a {}.",
)


def zero_shot_classifier(model, labels, tokenizer, templates=TEMPLATES):
    """Returns a classifier made of a CLIP's image tower and the texts of the classes.

    A class is the mean over the templates of its texts' vectors of length one, at length one
    again; its logit is its product with the image's vector, times the model's scale. The
    classifier is a Keras model with class names: it can be saved, evaluated, explained and
    exported as any other, and needs no text any more.

    Args:
        model: a `CLIP`.
        labels: what the classes are called, a list of strings.
        tokenizer: from a list of texts to int `[n, context_length]`, such as
            `keras_vit.data.Tokenizer`.
        templates: texts with `{}` in them, in whose place a label is put.

    Returns:
        An `ImageTower` with `num_classes`: normalised images in, logits out.

    Raises:
        ValueError: without labels, for labels that come twice, for a template without `{}`, or a
            tokenizer of another vocabulary or length than the model's.
    """
    labels, templates = list(labels), list(templates)
    _check(labels, templates)
    texts = [template.replace("{}", label) for label in labels for template in templates]
    vectors = embed_texts(model, tokenizer(texts)).reshape(len(labels), len(templates), -1)
    classes = at_length_one(vectors.mean(axis=1))
    preprocessing = dataclasses.replace(model.preprocessing, class_names=labels)
    config = dataclasses.replace(model.config, num_classes=len(labels), preprocessing=preprocessing)
    classifier = ImageTower(config, name="zero_shot", dtype=model.policy)
    copy_by_path(model.image_tower, classifier)
    scale = np.exp(ops.convert_to_numpy(model.get_layer("scale").number))
    classifier.get_layer("head").kernel.assign(scale * classes.T)
    return classifier


def embed_texts(model, texts, batch_size=64):
    """Returns a CLIP's vectors of texts, of length one, as a float32 array `[n, embedding_dim]`.

    Args:
        model: a `CLIP`.
        texts: int `[n, context_length]`, as the tokenizer gives them.
        batch_size: texts at a time.

    Raises:
        ValueError: for texts of another length or vocabulary than the model's.
    """
    config, texts = model.config, np.asarray(texts)
    if texts.ndim != 2 or texts.shape[1] != config.context_length:
        raise ValueError(
            f"`texts` must have the shape [n, {config.context_length}]. "
            f"Received: shape={texts.shape}."
        )
    if texts.size and not 0 <= texts.min() <= texts.max() < config.vocabulary_size:
        raise ValueError(
            f"`texts` must hold numbers in [0, {config.vocabulary_size}): the tokenizer is of "
            f"another vocabulary. Received: {texts.min()} to {texts.max()}."
        )
    return _embedded(model.text_tower, texts.astype("int32"), batch_size)


def embed_images(model, images, batch_size=64):
    """Returns a CLIP's vectors of images, of length one, as a float32 array `[n, embedding_dim]`.

    Args:
        model: a `CLIP`.
        images: float images `[n, h, w, c]`, normalised as `model.preprocessing` says.
        batch_size: images at a time.
    """
    return _embedded(model.image_tower, np.asarray(images), batch_size)


def at_length_one(vectors):
    """Returns vectors `[..., width]` divided by their lengths; those of length zero stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


def _embedded(tower, inputs, batch_size):
    starts = range(0, len(inputs), batch_size)
    batches = [
        ops.convert_to_numpy(tower(inputs[start : start + batch_size], training=False))
        for start in starts
    ]
    width = tower.config.embedding_dim
    vectors = np.concatenate(batches) if batches else np.zeros((0, width))
    return at_length_one(vectors.astype("float32"))


def _check(labels, templates):
    if not labels or len(set(labels)) < len(labels):
        raise ValueError(f"`labels` must be one text or more, no two alike. Received: {labels}.")
    if not templates or not all("{}" in template for template in templates):
        raise ValueError(
            "`templates` must be one text or more, with {} where the label is put. "
            f"Received: {templates}."
        )
