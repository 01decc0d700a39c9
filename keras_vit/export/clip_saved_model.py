"""Writes both towers of a CLIP as one SavedModel."""

import keras
import numpy as np
import tensorflow as tf

from keras_vit.export.rewrite import inference_model, patch_convolution
from keras_vit.files import replacing
from keras_vit.models import CLIP
from keras_vit.objectives import at_length_one

# Largest difference of a vector of length one from the Keras model's.
BOUND = 1e-4


def export_clip(model, path):
    """Exports a CLIP with two signatures, each of which gives vectors of length one.

    `image` takes `images`, raw pixels 0 to 255 at the model's size, float32 `[b, h, w, c]`;
    `text` takes `texts`, int32 `[b, context_length]`, as the tokenizer gives them. Both give
    `vectors`, `[b, embedding_dim]`, and `scale`, `[b]`, by which a product of two vectors is a
    logit. What is written is loaded and compared with the model before it gets its name. (For a
    classifier of fixed classes, export `zero_shot_classifier`'s; for an image tower on a phone,
    `export(model.image_tower, ...)`, whose vectors are not of length one.)

    Args:
        model: a `CLIP`.
        path: the folder to write.

    Returns:
        `path`.

    Raises:
        TypeError: for another model.
        ValueError: if the vectors are not the model's.
    """
    if not isinstance(model, CLIP):
        raise TypeError(f"`model` must be a CLIP. Received: {type(model).__name__}.")
    with replacing(path) as temporary:
        _write(model, temporary)
        _compare(model, tf.saved_model.load(str(temporary)).signatures)
    return path


def _write(model, path):
    config = model.config
    images = patch_convolution(model.image_tower)
    inputs = keras.Input((config.context_length,), dtype="int32", name="texts")
    texts = inference_model(model.text_tower, inputs=inputs)
    scale = float(np.exp(keras.ops.convert_to_numpy(model.get_layer("scale").number)))

    def answer(vectors):
        return {
            "vectors": tf.math.l2_normalize(vectors, axis=-1),
            "scale": tf.fill(tf.shape(vectors)[:1], scale),
        }

    pixels = tf.TensorSpec(images.input_shape, tf.float32, name="images")
    pieces = tf.TensorSpec(texts.input_shape, tf.int32, name="texts")

    @tf.function(input_signature=[pixels], autograph=False)
    def image(images_):
        return answer(images(images_, training=False))

    @tf.function(input_signature=[pieces], autograph=False)
    def text(texts_):
        return answer(texts(texts_, training=False))

    module = tf.Module()
    # The weights alone, as in every SavedModel of ours: it needs no keras_vit to load.
    module.weights = [weight.value for graph in (images, texts) for weight in graph.weights]
    tf.saved_model.save(module, str(path), signatures={"image": image, "text": text})


def _compare(model, signatures):
    config, generator = model.config, np.random.default_rng(0)
    pixels = generator.integers(0, 256, (2, *config.image_size, config.channels))
    pieces = generator.integers(0, config.vocabulary_size, (2, config.context_length), "int32")
    pixels = pixels.astype("float32")
    found = {
        "image": signatures["image"](images=tf.constant(pixels)),
        "text": signatures["text"](texts=tf.constant(pieces)),
    }
    expected = {
        "image": model.image_tower(model.preprocessing.normalize(pixels), training=False),
        "text": model.text_tower(pieces, training=False),
    }
    bound = BOUND if model.policy.compute_dtype == "float32" else 100 * BOUND
    for name, vectors in expected.items():
        vectors = at_length_one(keras.ops.convert_to_numpy(vectors).astype("float32"))
        apart = float(np.abs(found[name]["vectors"].numpy() - vectors).max())
        if not apart <= bound:
            raise ValueError(
                f"The export was refused and nothing was written: its signature {name!r} gives "
                f"vectors that are {apart:.2g} off, at most {bound:.2g}."
            )
