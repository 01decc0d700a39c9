"""Recorded trainings on Fashion-MNIST: from scratch with several seeds, and upon a DINOv2."""

import json
import statistics

from keras_vit.cli import row_commands
from keras_vit.cli.recording_dinov2 import onnx_file
from keras_vit.cli.row_commands import set_options, trained
from keras_vit.weights.onnx_dinov2 import write_dinov2

PLAIN = ()
STRONG = ("augment=['flip', 'small_shift', 'rand_augment(2, 5)', 'mixup(0.2)']", "epochs=66")
UPON_DINOV2 = ("config.image_size=112", "augment=['flip']")  # 64 patches
# recipe -> what it changes further; six passes are what an hour on two cores allows
UPPER = {
    "linear_probe": ("epochs=4", "optimizer='adamw'", "learning_rate=1e-3"),
    "last_blocks": ("epochs=6", "warmup_epochs=0.5"),
}


def from_scratch(work, source, *, seeds=(0, 1, 2), changes=PLAIN):
    """Trains `vit_fashion_mnist` once a seed, and measures each last model on the test images.

    Args:
        work: folder for the pictures and a run a seed: a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `row_commands.pictures`.
        seeds: of data order, augmentation and weights; the data set stays the same.
        changes: of the recipe, as `--set` takes them.
    """
    data = row_commands.pictures(work, source)
    runs = []
    for seed in seeds:
        chosen = [*set_options(changes), "--seed", str(seed)]
        runs.append(trained("vit_fashion_mnist", data, work / f"seed_{seed}", chosen))
    accuracies = [run["test_accuracy"] for run in runs]
    return {
        "command": "keras-vit train vit_fashion_mnist DATA --seed SEED --out RUN",
        "recipe": json.loads((work / f"seed_{seeds[-1]}" / "recipe.json").read_text()),
        "runs": [{"seed": seed, **run} for seed, run in zip(seeds, runs, strict=True)],
        "test_accuracy": round(statistics.mean(accuracies), 5),
    }


def upon_dinov2(work, source, *, changes=UPON_DINOV2, fraction=1 / 6):
    """Trains the head of a trained DINOv2-S/14, and its last four blocks with the head.

    Args:
        work: folder for the pictures, the weights and the runs: they go on from there.
        source: folder of Fashion-MNIST's files.
        changes: of both recipes, `linear_probe` and `last_blocks`.
        fraction: of each class that is learned from.
    """
    data = row_commands.pictures(work, source)
    write_dinov2(onnx_file(), work / "weights")
    fixed = [f"weights={str(work / 'weights')!r}", *changes]
    figures = {"command": "make record ROW=dinov2_blocks", "fraction": round(fraction, 4)}
    for recipe, own in UPPER.items():
        options = [*set_options([*fixed, *own]), "--fraction", str(fraction)]
        figures[recipe] = {"changes": [*changes, *own]}
        figures[recipe] |= trained(recipe, data, work / recipe, options)
    return figures
