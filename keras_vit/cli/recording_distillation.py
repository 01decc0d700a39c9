"""The recorded proof of distillation: what a student gains by a teacher of the same few images."""

import json
import statistics

import keras

from keras_vit.cli import row_commands
from keras_vit.cli.row_commands import set_options, trained
from keras_vit.files import replacing
from keras_vit.training import recipe
from keras_vit.training.prepared import prepared
from keras_vit.training.recipes.changes import changed

# Of both students: the sizes of `vit_fashion_mnist`, with the tokens of a DeiT.
SIZES = {"image_size": 28, "patch_size": 7, "channels": 1, "width": 128, "depth": 3}
SIZES |= {"num_heads": 4, "mlp_dim": 256, "drop_path": 0.0}
STUDENT = (
    *(f"config.{name}={value}" for name, value in SIZES.items()),
    "preprocessing={'mean': (0.5,), 'std': (0.5,)}",
    "augment=['flip', 'small_shift']",
    "repeats=1",
    "epochs=60",
    "warmup_epochs=3",
    "batch_size=128",
    "learning_rate=1e-3",
    "clip_norm=1.0",
)
PLAIN = ("model='vit_ti16'", "distillation={}")


def distillation(work, source, *, seeds=(0, 1, 2, 3, 4), changes=(), fraction=0.1, epochs=30):
    """Trains a convolutional teacher, a plain student and a distilled one, once a seed.

    All three of a seed learn from the same share of the training images, augmented alike. The
    teacher is a model of plain Keras layers.

    Args:
        work: folder for the pictures and the runs: a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files.
        seeds: of share, order, augmentation and weights.
        changes: of the students' recipe, beyond `STUDENT`.
        fraction: share of each class that is learned from.
        epochs: of the teacher.

    Returns:
        The figures.
    """
    data = row_commands.pictures(work, source)
    chosen, runs = [*STUDENT, *changes], []
    for seed in seeds:
        folder = work / f"seed_{seed}"
        options = ["--seed", str(seed), "--fraction", str(fraction)]
        accuracy = _teacher(folder / "teacher.keras", data, chosen, seed, fraction, epochs)
        taught = f"distillation.teacher={str(folder / 'teacher.keras')!r}"
        taught = [*chosen, taught, "distillation.range='-1..1'"]
        plain = trained(
            "deit_distilled",
            data,
            folder / "plain",
            set_options([*chosen, *PLAIN]) + options,
        )
        pupil = trained("deit_distilled", data, folder / "distilled", set_options(taught) + options)
        runs.append({"seed": seed, "teacher": accuracy, "plain": plain, "distilled": pupil})
    gains = [run["distilled"]["test_accuracy"] - run["plain"]["test_accuracy"] for run in runs]
    error = statistics.stdev(gains) / len(gains) ** 0.5
    return {
        "command": "make record ROW=distillation",
        "changes": chosen,
        "fraction": fraction,
        "runs": runs,
        "mean_gain": round(statistics.mean(gains), 5),
        "standard_error": round(error, 5),
    }


def _teacher(path, data, changes, seed, fraction, epochs):
    """Trains the teacher, unless it is there, and returns its accuracy on the test images."""
    measured = path.with_suffix(".json")
    if measured.exists():
        return json.loads(measured.read_text())
    fields = dict(change.split("=", 1) for change in [*changes, *PLAIN])
    setting = prepared(changed(recipe("deit_distilled"), {**fields, "seed": seed}), data, fraction)
    preprocessing = setting.model().preprocessing
    keras.utils.set_random_seed(seed)
    model = _convnet(preprocessing)
    model.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, epochs * setting.steps)),
        keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    batches = setting.batches(preprocessing)(0)
    model.fit(batches, epochs=epochs, steps_per_epoch=setting.steps, shuffle=False, verbose=0)
    accuracy = model.evaluate(setting.validation(preprocessing), verbose=0, return_dict=True)
    with replacing(path) as temporary:
        model.save(temporary)
    with replacing(measured) as temporary:
        temporary.write_text(json.dumps(round(accuracy["accuracy"], 5)))
    return round(accuracy["accuracy"], 5)


def _convnet(preprocessing):
    """Two convolutions a size, with batch norm: what knows of pictures what a ViT has to learn."""
    layers = [keras.Input(preprocessing.shape)]
    for width in (32, 64):
        for _ in range(2):
            layers += [
                keras.layers.Conv2D(width, 3, padding="same", use_bias=False),
                keras.layers.BatchNormalization(),
                keras.layers.ReLU(),
            ]
        layers.append(keras.layers.MaxPooling2D())
    layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dropout(0.3)]
    return keras.Sequential([*layers, keras.layers.Dense(len(preprocessing.class_names))])
