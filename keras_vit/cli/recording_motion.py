"""The recorded proof of TimeSformer: which way an item moves, which no single frame tells."""

import dataclasses

import keras
import numpy as np

from keras_vit.cli.once import once
from keras_vit.data.fashion_mnist import PARTS, read_part
from keras_vit.data.order import example
from keras_vit.models import TimeSformer, TimeSformerConfig
from keras_vit.training.fitting import fit
from keras_vit.training.optimizers import adamw

SIZES = {
    "image_size": 32,
    "patch_size": 8,
    "channels": 1,
    "frames": 6,
    "width": 64,
    "depth": 2,
    "num_heads": 4,
    "mlp_dim": 128,
    "activation": "gelu_tanh",
    "num_classes": 2,
    "pooling": "gap",
    "position": "sincos2d",
}
SIDE = 14  # of an item: half of Fashion-MNIST's
DIRECTIONS = ("right", "left")
KINDS = ("divided", "space_only")
RATE, DECAY, SEED = 1e-3, 0.05, 7


def clips_of(items, count, frames, side, seed):
    """Draws clips of moving items, each followed by the same clip backwards in time.

    Args:
        items: grey images, uint8 `[n, 28, 28]`.
        count: number of clips, even.
        frames: frames of a clip.
        side: side of a frame in pixels.
        seed: which items, where and how fast.

    Returns:
        (clips uint8 `[count, frames, side, side, 1]`, labels `[count]`: places in `DIRECTIONS`).
        Clip `2k + 1` holds the frames of clip `2k` in the reverse order, and has the other label.
    """
    generator = np.random.default_rng(seed)
    clips = np.zeros((count // 2, frames, side, side), "uint8")
    most = (side - SIDE) // (frames - 1)
    for clip in clips:
        item = items[generator.integers(len(items))].astype("float32")
        item = item.reshape(SIDE, 2, SIDE, 2).mean(axis=(1, 3)).astype("uint8")
        speed = generator.integers(1, most + 1)
        start = generator.integers(side - SIDE - speed * (frames - 1) + 1)
        top = generator.integers(side - SIDE + 1)
        for number, frame in enumerate(clip):
            left = start + speed * number
            frame[top : top + SIDE, left : left + SIDE] = item
    both = np.stack([clips, clips[:, ::-1]], axis=1).reshape(-1, *clips.shape[1:], 1)
    return both, np.tile([0, 1], len(clips))


def waves(frames, width):
    """Returns a table of time to begin with, `[frames, width]`: waves of rising lengths.

    The usual table of zeros is one at which a clip and the same backwards are alike: with it, ten
    passes over twice as many clips stayed at chance.
    """
    speeds = 10.0 ** -np.linspace(0, 1, width // 2)
    angles = np.arange(frames)[:, None] * speeds
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype("float32")


def motion(work, source, train=6_000, test=2_000, epochs=6, batch_size=64):
    """Trains a TimeSformer with divided attention, and one that looks at frames by themselves.

    Args:
        work: folder for the states and what is done; a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        train, test: numbers of clips, of the items of Fashion-MNIST's two parts.
        epochs, batch_size: how much is learned from.

    Returns:
        The figures.
    """
    config = TimeSformerConfig(**SIZES)
    shape = config.frames, config.image_size[0]
    known = clips_of(read_part(source, *PARTS["train"])[0], train, *shape, seed=1)
    unseen = clips_of(read_part(source, *PARTS["test"])[0], test, *shape, seed=2)
    steps = train // batch_size

    def trained(kind):
        keras.utils.set_random_seed(SEED)
        model = TimeSformer(dataclasses.replace(config, space_time=kind))
        if kind == "divided":
            time = model.get_layer("patch_encoder").time
            time.assign(waves(config.frames, config.width).reshape(time.shape))
        rate = keras.optimizers.schedules.CosineDecay(
            0.0, steps * epochs, warmup_target=RATE, warmup_steps=steps // 2
        )
        loss = keras.losses.CategoricalCrossentropy(from_logits=True)
        model.compile(adamw(model, rate, DECAY), loss, metrics=["accuracy"])
        data = lambda step: _batches(known, batch_size, step)  # noqa: E731
        fit(model, data, epochs, steps, backup=work / kind, verbose=2)
        logits = model.predict(_normalised(unseen[0]), batch_size, verbose=0)
        return {"accuracy": float((logits.argmax(axis=-1) == unseen[1]).mean())}

    return {
        "command": "make record ROW=motion",
        "clips": {"train": train, "test": test, "frames": config.frames},
        "epochs": epochs,
        # Of a clip and the same backwards, whoever knows no order says the same.
        "order_blind": 0.5,
        "accuracy": {
            kind: once(work / f"{kind}.json", lambda kind=kind: trained(kind))["accuracy"]
            for kind in KINDS
        },
    }


def _batches(clips, batch_size, step):
    """Endless batches from a step on, in the order of `keras_vit.data.order`."""
    import tensorflow as tf

    pixels, labels = clips
    with tf.init_scope():
        pixels, labels = tf.constant(pixels), tf.one_hot(labels, len(DIRECTIONS))

    def batch(number):
        places = number * batch_size + tf.range(batch_size, dtype=tf.int64)
        index, _ = example(places, SEED, len(pixels))
        return _normalised(tf.gather(pixels, index)), tf.gather(labels, index)

    return tf.data.Dataset.counter(step).map(batch, tf.data.AUTOTUNE).prefetch(2)


def _normalised(pixels):
    import tensorflow as tf

    return tf.cast(pixels, tf.float32) / 127.5 - 1
