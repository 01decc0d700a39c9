"""The recorded speed of a DynamicViT beside its ViT, and what it costs in accuracy."""

import sys

import numpy as np

from keras_vit.cli import row_commands
from keras_vit.cli.bench_against import Rival, by_turns
from keras_vit.cli.once import once

RATIO, MERGED = 0.7, 13  # the paper's ratio, and ToMe's number for B/16
KINDS = ("vit", "dynamic", "merged")
B16 = {
    "width": 768,
    "depth": 12,
    "num_heads": 12,
    "mlp_dim": 3072,
    "patch_size": 16,
    "image_size": 224,
    "num_classes": 1000,
}
BATCH = 8
ROUNDS = 7
# Call -> (profile, engine of `rivals.with_file`).
FILES = {
    "SavedModel": ("server", "TensorFlow"),
    "TFLite float32": ("float32", "LiteRT"),
    "TFLite int8 weights": ("cpu", "LiteRT"),
}


def dynamic(work, source, sizes=B16, changes=(), recipe=None, rounds=ROUNDS):
    """Times a DynamicViT and token merging beside their ViT, and measures what the first costs.

    Args:
        work: folder for what is trained and timed; a row that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `row_commands.pictures`.
        sizes: of the timed models.
        changes: of the recipe `vit_fashion_mnist`, as `--set` takes them.
        recipe: the `Sparsifying`; `SMALL` by default.
        rounds: turns of each that is timed.

    Returns:
        The figures: of each call, the seconds of an image and how many times as fast as the ViT.
    """
    return {
        "command": "make record ROW=dynamic",
        "keep_ratio": RATIO,
        "merged": MERGED,
        "speed": once(work / "speed.json", lambda: speed(work, sizes, rounds)),
        "fashion_mnist": accuracy(work, source, changes, recipe),
    }


def speed(work, sizes, rounds):
    """Returns call -> model -> `seconds` an image and `times` the ViT's speed."""
    settings = {**sizes, "keep_ratios": RATIO, "merged": MERGED}
    found = {}
    for dtype in ("float32", "bfloat16"):
        given = {**settings, "batch_size": BATCH, "dtype": dtype}
        rivals = [("dynamic_vit", kind, given) for kind in KINDS]
        found[f"Keras {dtype}"] = _timed(rivals, rounds, BATCH)
    for call, (profile, engine) in FILES.items():
        files = [_exported(work, kind, settings, profile) for kind in KINDS]
        rivals = [("file", engine, {"path": str(path), "threads": 2}) for path in files]
        found[call] = _timed(rivals, rounds, 1)
    return found


def _timed(rivals, rounds, images):
    """The figures of `KINDS`, by turns in one run."""
    running = []
    try:
        running += [Rival(name, sys.executable, call, given) for name, call, given in rivals]
        taken = by_turns(running, rounds)
    finally:
        for rival in running:
            rival.close()
    seconds = dict(zip(KINDS, (it.seconds / images for it in taken), strict=True))
    return {
        kind: {"seconds": float(f"{own:.4g}"), "times": round(seconds["vit"] / own, 2)}
        for kind, own in seconds.items()
    }


def _exported(work, kind, settings, profile):
    """The path of a model's file, or of its SavedModel, which is written once."""
    from keras_vit.export import export
    from keras_vit.factory import create_model
    from keras_vit.models import merge_tokens
    from keras_vit.runtime.saved_model import newest_version

    ending = "" if profile == "server" else ".tflite"
    path = work / f"{kind}_{profile}{ending}"
    if not path.exists():
        sizes = {name: settings[name] for name in B16}
        name = "dynamic_deit_b16" if kind == "dynamic" else "vit_b16"
        model = create_model(name, **sizes)
        model.get_layer("head").kernel.assign(_noise(model.get_layer("head").kernel.shape))
        export(merge_tokens(model, MERGED) if kind == "merged" else model, profile, path)
    return newest_version(path)


def _noise(shape):
    return np.random.default_rng(0).normal(size=shape) * 0.02


def accuracy(work, source, changes=(), recipe=None):
    """Trains a ViT on Fashion-MNIST, fine-tunes it into a DynamicViT, and measures both.

    Returns:
        The accuracies on the test images, and the cost in points.
    """
    data = row_commands.pictures(work, source)
    run = work / "vit"
    options = ("--out", str(run), "--resume-if-any", *row_commands.set_options(changes))
    row_commands.command("train", "vit_fashion_mnist", str(data), *options)
    pruned = work / "dynamic.keras"
    if not pruned.exists():
        _sparsify(run / "model.keras", data, work / "sparsifying", recipe, pruned)
    found = {
        name: row_commands.accuracy_on_tests(model, data, work / f"{name}.json")
        for name, model in (("vit", run / "model.keras"), ("dynamic", pruned))
    }
    return {**found, "cost_in_points": round(100 * (found["vit"] - found["dynamic"]), 2)}


def _sparsify(path, data, states, recipe, out):
    import keras

    from keras_vit.cli.opening import open_keras
    from keras_vit.data import find_data, training_batches
    from keras_vit.files import replacing
    from keras_vit.training.sparsifying import SMALL, sparsified

    keras.utils.set_random_seed(0)
    recipe, model = recipe or SMALL, open_keras(path)
    records = find_data(data).open("train")
    model = sparsified(
        model,
        lambda step: training_batches(
            records,
            model.preprocessing,
            recipe.batch_size,
            seed=0,
            start_step=step,
            augment=("flip", "small_shift"),
            label_smoothing=0.1,
        ),
        -(-len(records) // recipe.batch_size),
        recipe,
        backup=states,
    )
    with replacing(out) as temporary:
        model.save(temporary)
