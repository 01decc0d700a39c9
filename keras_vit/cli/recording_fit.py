"""The recorded cost of the exact step: `fit` with it beside Keras's own, on one device."""

import statistics
import time

from rich.progress import track

from keras_vit.cli.console import err
from keras_vit.cli.once import once

NARROW = {
    "image_size": 28, "patch_size": 7, "channels": 1, "width": 64, "depth": 2, "num_heads": 2,
    "mlp_dim": 128, "num_classes": 10,
}  # fmt: skip
# Name -> changed fields of Ti/16, images a batch, steps a turn. In the narrow one a step takes
# milliseconds, so that what Python and the graph do around it shows.
MODELS = {"Ti/16": ({}, 8, 4), "narrow": (NARROW, 32, 100)}
PROGRAMS = {"graph": False, "XLA": True}
TURNS = 11


def fit_cost(work, turns=TURNS):
    """Times epochs of a model with the exact step and of the same without, by turns.

    Args:
        work: folder that keeps each case; a run that was stopped goes on from there.
        turns: pairs of epochs.
    """
    cases = [(model, program) for model in MODELS for program in PROGRAMS]
    rows = [
        once(
            work / f"{model.replace('/', '')}_{program}.json",
            lambda model=model, program=program: _case(model, program, turns),
        )
        for model, program in track(cases, "cases", console=err)
    ]
    return {"command": "make record ROW=fit_cost", "turns": turns, "rows": rows}


def _case(model, program, turns):
    fields, batch_size, steps = MODELS[model]
    ours, keras_own = _fits(fields, batch_size, steps, PROGRAMS[program])
    pairs = []
    for turn in range(turns):
        # Who is first changes: a processor slows down within a pair, too.
        order = (ours, keras_own) if turn % 2 else (keras_own, ours)
        taken = {fit: _seconds(fit) / steps for fit in order}
        pairs.append((taken[ours], taken[keras_own]))
    return {
        "model": model,
        "program": program,
        "batch": batch_size,
        "steps": steps,
        "seconds": float(f"{statistics.median(one for one, _ in pairs):.4g}"),
        "seconds_keras": float(f"{statistics.median(other for _, other in pairs):.4g}"),
        "ratio": round(statistics.median(one / other for one, other in pairs), 3),
    }


def _seconds(fit):
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def _fits(fields, batch_size, steps, jit_compile):
    """Two functions that train for an epoch: a ViT as it is, and as a mere Keras model."""
    import keras
    import numpy as np
    import tensorflow as tf

    from keras_vit.factory import create_model
    from keras_vit.training import adamw

    vit = create_model("vit_ti16", **fields)
    twin = create_model("vit_ti16", **fields)
    twin.set_weights(vit.get_weights())
    random = np.random.default_rng(5)
    images = random.normal(size=(batch_size, *vit.input_shape[1:])).astype("float32")
    labels = random.integers(vit.output_shape[-1], size=batch_size)
    data = tf.data.Dataset.from_tensors((images, labels)).repeat(steps)

    def trained(model):
        model.compile(
            adamw(model, 1e-4),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
            jit_compile=jit_compile,
        )
        model.fit(data, shuffle=False, verbose=0)
        return lambda: model.fit(data, shuffle=False, verbose=0)

    return trained(vit), trained(keras.Model(twin.inputs, twin.outputs))
