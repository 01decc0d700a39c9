"""The recorded proof of CLIP: what it learns of pairs carries over to combinations never shown."""

import dataclasses

import keras
import numpy as np

from keras_vit.cli import coloured_garments as garments
from keras_vit.data.arrays import from_arrays
from keras_vit.data.fashion_mnist import PARTS, read_part
from keras_vit.data.pairs import pair_batches
from keras_vit.data.targets import Captions
from keras_vit.data.tokenizer import Tokenizer
from keras_vit.layers import LogitScale
from keras_vit.models import CLIP, CLIPConfig, ImageTower
from keras_vit.objectives import (
    ContrastiveLoss,
    recall_at,
    zero_shot_classifier,
)
from keras_vit.step import exact
from keras_vit.training.fitting import fit
from keras_vit.training.optimizers import adamw

SIZES = {
    "image_size": (28, 56),
    "patch_size": 7,
    "width": 96,
    "depth": 4,
    "num_heads": 4,
    "mlp_dim": 256,
    "text_width": 64,
    "text_depth": 2,
    "text_num_heads": 4,
    "text_mlp_dim": 128,
    "embedding_dim": 64,
    "context_length": 24,
}
PICTURES, PAIRS = 2000, 256


def clip(work, source, pairs=30_000, epochs=15, batch_size=250, vocabulary=None):
    """Trains a small CLIP on captions, and one whose text tower is a bag of words.

    Args:
        work: folder for the states: a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        pairs, epochs, batch_size: how much is learned from.
        vocabulary: of the `Tokenizer`; the official one by default.

    Returns:
        The figures.
    """
    grey, labels = _grey(source, "train")
    tokenizer = Tokenizer(vocabulary, SIZES["context_length"], clean="transformers")
    pictures, captions = garments.training_pairs(grey, labels, pairs, seed=1)
    records = dataclasses.replace(from_arrays(pictures), targets=Captions(captions))
    config = CLIPConfig(**SIZES, vocabulary_size=tokenizer.size)
    models = {"clip": CLIP(config), "bag_of_words": bag_of_words(config)}
    for name, model in models.items():
        steps = pairs // batch_size
        rate = keras.optimizers.schedules.CosineDecay(
            0.0, steps * epochs, warmup_target=1e-3, warmup_steps=steps
        )
        model.compile(adamw(model, rate, weight_decay=0.1), ContrastiveLoss())
        data = lambda step: pair_batches(  # noqa: E731
            records, config.preprocessing, tokenizer, batch_size, seed=3, start_step=step
        )
        fit(model, data, epochs, steps, backup=work / name)
    shown, unseen = garments.combinations()
    return {
        "command": "make record ROW=clip",
        "pairs": pairs,
        "epochs": epochs,
        "combinations": {"shown": len(shown), "unseen": len(unseen)},
        **figures(models, tokenizer, *_grey(source, "test")),
    }


def figures(models, tokenizer, grey, labels):
    """The accuracy of the ten classes as told in words, and the recalls, on what was not shown."""
    model = models["clip"]
    pictures, kinds = garments.unseen_pictures(grey, labels, PICTURES, seed=5)
    templates = [
        way.format(colour, "{}", place)
        for way in garments.ONE
        for colour in garments.COLOURS
        for place in garments.PLACES
    ]
    classifier = zero_shot_classifier(model, garments.CLASSES, tokenizer, templates)
    images = np.asarray(model.config.preprocessing.normalize(pictures))
    found = classifier.predict(images, verbose=0).argmax(axis=-1)
    pictures, captions = garments.twin_pairs(grey, labels, PAIRS, seed=5)
    images = np.asarray(model.config.preprocessing.normalize(pictures))
    texts = tokenizer(captions)
    recalls = {}
    for name, one in models.items():
        outputs = one.predict({"images": images, "texts": texts}, verbose=0)
        recalls[name] = recall_at(1, outputs["images"], outputs["texts"])
    return {"zero_shot_accuracy": float((found == kinds).mean()), "recall_at_1": recalls}


def bag_of_words(config):
    """The same with a text tower that adds up its words, wherever they stand."""
    images = keras.Input((*config.image_size, config.channels), name="images")
    texts = keras.Input((config.context_length,), dtype="int32", name="texts")
    table = keras.layers.Embedding(config.vocabulary_size, config.text_width, name="words")
    # Named, since a state is taken up again by the paths of its weights.
    hidden = keras.layers.Dense(config.text_mlp_dim, "relu", name="hidden")
    projection = keras.layers.Dense(config.embedding_dim, name="projection")
    vectors = {
        "images": ImageTower(config)(images),
        "texts": projection(hidden(keras.ops.sum(table(texts), axis=1))),
    }
    unit = keras.layers.UnitNormalization(name="unit")
    outputs = {name: unit(vector) for name, vector in vectors.items()}
    scale = LogitScale(config.logit_scale, config.largest_scale, name="scale")
    outputs["scale"] = scale(outputs["images"])
    return exact(keras.Model({"images": images, "texts": texts}, outputs, name="bag_of_words"))


def _grey(source, split):
    """Fashion-MNIST's images, and class -> the numbers of its images."""
    images, labels = read_part(source, *PARTS[split])
    return images, {kind: np.flatnonzero(labels == kind) for kind in range(10)}
