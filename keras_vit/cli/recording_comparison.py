"""The recorded comparison: what a built-in idea of pictures is worth, by how many there are.

ViTs, which have the least of it, a hybrid, a CoAtNet and a Swin of one size and as many steps of
the optimizer, on parts of Fashion-MNIST.
"""

import functools
import statistics
import time
from pathlib import Path

import keras
import numpy as np

from keras_vit.cli.console import err
from keras_vit.cli.once import once
from keras_vit.data import from_arrays, training_batches
from keras_vit.data.fashion_mnist import CLASSES, PARTS, read_part
from keras_vit.layers import Preprocessing
from keras_vit.models import NAMES
from keras_vit.training.fitting import fit
from keras_vit.training.optimizers import adamw
from keras_vit.training.schedules import warmup_cosine

PARAMETERS, WITHIN = 400_000, 0.1
COMMON = {
    "image_size": 28,
    "channels": 1,
    "num_classes": len(CLASSES),
    "activation": "gelu_tanh",
    "preprocessing": Preprocessing(mean=(0.286,), std=(0.353,), class_names=CLASSES),
}
PLAIN = {"pooling": "gap", "class_token": False, "num_heads": 4}
VIT = {**PLAIN, "patch_size": 7, "width": 128, "depth": 3, "mlp_dim": 256}
# Name in the comparison -> registered name, fields of the config.
MODELS = {
    "vit, learned": ("vit_ti16", {**VIT, "position": "learned"}),
    "vit, sincos2d": ("vit_ti16", {**VIT, "position": "sincos2d"}),
    "vit, relative": ("vit_ti16", {**VIT, "position": "relative"}),
    "hybrid": (
        "r_ti16",
        {
            **PLAIN,
            "units": (1,),
            "root_width": 32,
            "patch_size": 4,
            "width": 128,
            "depth": 3,
            "mlp_dim": 224,
            "position": "sincos2d",
        },
    ),
    "coatnet": (
        "coatnet_0",
        {
            "stem_width": 32,
            "stages": (("conv", 48, 2, True), ("attention", 96, 3, False)),
            "pooling": "gap",
            "representation_size": None,
            "pool": "max",
            "stride_in": "expansion",
        },
    ),
    "swin": (
        "swin_t",
        {"patch_size": 2, "width": 56, "depths": (2, 2), "num_heads": (4, 8), "window_size": 7},
    ),
}
# Share of the training images -> seeds, steps of the optimizer.
SHARES = {0.01: ((0, 1, 2), 800), 0.1: ((0, 1, 2), 2000), 1.0: ((0,), 4700)}
RATES = (5e-4, 1e-3, 2e-3)
BATCH, DECAY, SMOOTHING, AUGMENT = 128, 0.05, 0.1, ("flip", "small_shift")
# A learning rate is chosen by runs of a quarter of the steps, on a fifth of what is learned from.
SHORTER, HELD_OUT = 4, 0.2


def model_of(name, models=None):
    """Returns a model of the comparison, untrained."""
    registered, fields = (models or MODELS)[name]
    family, variant = NAMES[registered]
    return family(family.config_class(**{**variant, **COMMON, **fields}))


def trained_parameters(model):
    """Returns how many numbers training moves."""
    return sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)


def check_sizes(counts):
    """Checks that models are of one size.

    Args:
        counts: dict from a name to its parameters.

    Raises:
        ValueError: if one is not within `WITHIN` of `PARAMETERS`.
    """
    for name, count in counts.items():
        if abs(count / PARAMETERS - 1) > WITHIN:
            raise ValueError(
                f"Every model must have {PARAMETERS:,} parameters, {WITHIN:.0%} more or less. "
                f"Received: {name} with {count:,}."
            )


def comparison(work, source, shares=None, models=None, batch_size=BATCH):
    """Trains every model on every share, each by the best of three learning rates.

    Args:
        work: folder that keeps a JSON a run: what was stopped goes on after the last one.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        shares: as `SHARES`, which it is by default.
        models: as `MODELS`, which it is by default, and then of one size.
        batch_size: images a step.

    Returns:
        The figures.
    """
    shares = shares or SHARES
    counts = {name: trained_parameters(model_of(name, models)) for name in models or MODELS}
    if models is None:
        check_sizes(counts)
    known, unseen = (_records(source, part) for part in ("train", "test"))
    make = functools.partial(_run, batch_size=batch_size, models=models)
    runs, whole = [], len(counts) * sum(len(seeds) + len(RATES) for seeds, _ in shares.values())
    for name in counts:
        for share, (seeds, steps) in shares.items():
            rate, tried = _rate(work, name, share, steps, known, make)
            for seed in seeds:
                part = known.part(share, seed)
                path = _path(work, name, share, f"seed_{seed}")
                call = functools.partial(make, name, part, unseen, rate, steps, seed)
                found = once(path, call)
                runs.append({"model": name, "share": share, "seed": seed, "tried": tried, **found})
            done = len(list(Path(work).rglob("*.json")))
            err.print(f"{name}, {share:.0%}: {done} of {whole} runs are done, {whole - done} left")
    return {
        "command": "make record ROW=comparison",
        "parameters": counts,
        "steps": {str(share): steps for share, (_, steps) in shares.items()},
        "runs": runs,
        "accuracy": accuracies(runs),
        "longest_run_minutes": max(run["minutes"] for run in runs),
    }


def accuracies(runs):
    """Returns model -> share, as text -> `mean`, `least` and `most` of the seeds' accuracies."""
    found = {}
    for run in runs:
        of_model = found.setdefault(run["model"], {})
        of_model.setdefault(str(run["share"]), []).append(run["accuracy"])
    return {
        name: {
            share: {"mean": round(statistics.mean(all_), 5), "least": min(all_), "most": max(all_)}
            for share, all_ in of_model.items()
        }
        for name, of_model in found.items()
    }


def draw_comparison(figures, folder):
    """Draws the accuracy over the share of the training images that was learned from.

    Args:
        figures: of `comparison`.
        folder: where `comparison.png` is written.

    Returns:
        The path.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(7, 4))
    for name, of_model in figures["accuracy"].items():
        shares = [float(share) * 100 for share in of_model]
        means = [100 * found["mean"] for found in of_model.values()]
        spread = [
            [abs(100 * found[end] - 100 * found["mean"]) for found in of_model.values()]
            for end in ("least", "most")
        ]
        mark = "o--" if name.startswith("vit") else "o-"
        panel.errorbar(shares, means, spread, fmt=mark, label=name, markersize=4, capsize=2)
    panel.set_xscale("log")
    panel.set_xticks(shares, [f"{share:g} %" for share in shares])
    panel.minorticks_off()
    panel.set_xlabel("training images that were learned from")
    panel.set_ylabel("accuracy, %")
    panel.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    path = Path(folder) / "comparison.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def _rate(work, name, share, steps, known, make):
    """(the best learning rate, rate as text -> accuracy on what was held out)."""
    learned, held_out = known.part(share, 0).split(HELD_OUT, 0)
    tried = {}
    for rate in RATES:
        call = functools.partial(make, name, learned, held_out, rate, max(steps // SHORTER, 1), 0)
        path = _path(work, name, share, f"rate_{rate:g}")
        tried[f"{rate:g}"] = once(path, call)["accuracy"]
    return float(max(tried, key=tried.get)), tried


def _run(name, learned, measured, rate, steps, seed, batch_size, models):
    """Trains a model, and measures it on other images."""
    begin = time.perf_counter()
    keras.utils.set_random_seed(seed)
    model = model_of(name, models)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING)
    model.compile(adamw(model, warmup_cosine(rate, steps, steps // 20), DECAY), loss)
    batches = training_batches(learned, model.preprocessing, batch_size, seed, augment=AUGMENT)
    fit(model, lambda step: batches, 1, steps, verbose=0)
    images = measured.source.images[measured.positions]
    logits = model.predict(np.asarray(model.preprocessing.normalize(images)), 256, verbose=0)
    return {
        "rate": rate,
        "accuracy": float((logits.argmax(axis=-1) == measured.labels).mean()),
        "minutes": round((time.perf_counter() - begin) / 60, 2),
    }


def _records(source, part):
    images, labels = read_part(source, *PARTS[part])
    return from_arrays(images, labels, CLASSES)


def _path(work, name, share, kind):
    return Path(work) / f"{name.replace(', ', '_')}-{share:g}-{kind}.json"
