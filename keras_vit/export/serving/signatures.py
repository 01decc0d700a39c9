"""The functions of a served artefact, by the names that clients call them by."""

import tensorflow as tf

from keras_vit.export.serving.answers import answers, class_names, without
from keras_vit.export.serving.attention import attention_of
from keras_vit.export.serving.examples import FEATURE
from keras_vit.export.serving.pictures import ERROR, pictures

# Channels that an encoded picture can be decoded to; other models take arrays only.
PICTURES = (1, 3)
FEATURES = ("pooled", "tokens", "prefix")
CLASSIFY, CLASSIFY_METHOD = "classify", "tensorflow/serving/classify"
EXAMPLE = {FEATURE: tf.io.FixedLenFeature((), tf.string, "")}


def signatures(model, xla_batches=()):
    """Returns the signatures of a model, and why some are not there.

    Args:
        model: Keras model in float32 with a `preprocessing`.
        xla_batches: batch sizes to compile a `serving_xla_<size>` for.

    Returns:
        (dict of name to `tf.function`, dict of name to reason).
    """
    pixels = Pixels(model)
    found = {"serving_default": pixels.of("float32"), "serving_uint8": pixels.of("uint8")}
    left_out = {}
    if model.preprocessing.frames:
        reason = "The model takes clips: send their frames' pixels as `images`."
        left_out |= {"serving_bytes": reason, CLASSIFY: reason}
    elif model.preprocessing.channels in PICTURES:
        found["serving_bytes"], found[CLASSIFY] = pixels.of_pictures(), pixels.of_examples()
    else:
        reason = f"No picture has {model.preprocessing.channels} channels."
        left_out |= {"serving_bytes": reason, CLASSIFY: reason}
    for name, make in (("features", _features), ("explain", _explain)):
        try:
            found[name] = make(model, pixels)
        except ValueError as error:
            left_out[name] = str(error)
    for size in xla_batches:
        found[f"serving_xla_{size}"] = pixels.compiled(size)
    return found, left_out


class Pixels:
    """Makes the signatures of a model that classify raw pixels.

    Args:
        model: Keras model in float32 with a `preprocessing`.
    """

    def __init__(self, model):
        self.model = model
        self.shape = tuple(model.input_shape[1:])
        self.names = class_names(model.preprocessing, model.output_shape[-1])
        # Traced once, and called by every signature: the graph holds the model once.
        self.answers = _traced_once(
            lambda images: self.said(self.logits(images)),
            tf.TensorSpec((None, *self.shape)),
        )
        self.answers_to_pictures = _traced_once(self._decoded, tf.TensorSpec((None,), tf.string))

    def normalised(self, images):
        """Raw pixels of any dtype to what the Keras model takes."""
        return self.model.preprocessing.normalize(images)

    def logits(self, images):
        """Raw pixels to logits."""
        return self.model(self.normalised(images), training=False)

    def said(self, logits):
        """Logits to answers."""
        return answers(logits, self.names, self.model.preprocessing.probabilities)

    def of(self, dtype):
        """Pixels `[b, h, w, c]` of a dtype to answers."""
        return self.signature(lambda images: self.answers(tf.cast(images, "float32")), dtype)

    def signature(self, function, dtype="float32", batch=None):
        """A function of `images` to a dict, as a signature."""
        return _traced_once(function, tf.TensorSpec((batch, *self.shape), dtype, name="images"))

    def of_pictures(self):
        """Encoded pictures `[b]` to answers; TF Serving's REST takes `_bytes` as base64."""
        encoded = tf.TensorSpec((None,), tf.string, name="image_bytes")
        return _traced_once(lambda image_bytes: self.answers_to_pictures(image_bytes), encoded)

    def of_examples(self):
        """Serialised `tf.Example`s `[b]` to the two outputs that TF Serving's Classify takes."""

        def classify(inputs):
            encoded = tf.io.parse_example(inputs, EXAMPLE)[FEATURE]
            found = self.answers_to_pictures(encoded)
            return {"classes": found["labels"], "scores": found["scores"]}

        serialised = tf.TensorSpec((None,), tf.string, name="inputs")
        return _traced_once(classify, serialised)

    def compiled(self, batch):
        """Pixels of a fixed batch to answers, the model compiled by XLA."""
        logits = tf.function(self.logits, jit_compile=True, autograph=False)
        return self.signature(lambda images: self.said(logits(images)), batch=batch)

    def _decoded(self, encoded):
        pixels, readable = pictures(encoded, self.model.preprocessing)
        return without(self.answers(pixels), readable, ERROR)


def _traced_once(function, spec):
    return tf.function(function, input_signature=[spec], autograph=False)


def _features(model, pixels):
    if not hasattr(model, "features"):
        raise ValueError(f"{type(model).__name__} has no `features`.")

    def features(images):
        found = model.features(pixels.normalised(images), training=False)
        # Without class token and registers the prefix is there, and holds nothing.
        known = [name for name in FEATURES if name in found]
        return {name: found[name] for name in known if 0 not in found[name].shape}

    return pixels.signature(features)


def _explain(model, pixels):
    attend = attention_of(model)

    def explain(images):
        logits, attention = attend(pixels.normalised(images))
        return {"attention": attention, **pixels.said(logits)}

    return pixels.signature(explain)
