"""The recorded proof of masked autoencoders: few labels after many pictures, a cheap encoder."""

import statistics

import keras

from keras_vit.cli import row_commands
from keras_vit.cli.row_commands import set_options, trained
from keras_vit.cli.timing import median_seconds
from keras_vit.models import MAE, NAMES, MAEConfig
from keras_vit.weights import save

ENCODER = {"image_size": 28, "patch_size": 4, "channels": 1, "width": 128, "depth": 4}
ENCODER |= {"num_heads": 4, "mlp_dim": 256}
DECODER = {"decoder_width": 64, "decoder_depth": 2, "decoder_num_heads": 4, "decoder_mlp_dim": 128}
PIXELS = "preprocessing={'mean': (0.5,), 'std': (0.5,)}"
PRE_TRAINING = ("epochs=80", "warmup_epochs=5", "batch_size=256", "learning_rate=1e-3")
# Of both trainings on the few labels: 600 images, which is 10 steps an epoch.
LABELS = (
    "epochs=100",
    "warmup_epochs=5",
    "batch_size=64",
    "learning_rate=1e-3",
    "layer_decay=None",
)
LABELS += ("augment=['flip', 'small_shift']", "config.drop_path=0.1")


def mae(work, source, *, seeds=(0, 1, 2), fraction=0.01, pre_training=(), labels=(), sizes=None):
    """Pre-trains without labels, then trains on a share of them, from there and from scratch.

    Args:
        work: folder for the pictures and the runs: a run that was stopped goes on from there.
        source: folder of Fashion-MNIST's files.
        seeds: of the share, the order, the masks and the weights.
        fraction: share of each class whose labels are used.
        pre_training, labels: changes of the recipes, beyond `PRE_TRAINING` and `LABELS`.
        sizes: fields of the config whose encoder is timed; those of B/16 by default.

    Returns:
        The figures.
    """
    data, runs = row_commands.pictures(work, source), []
    for seed in seeds:
        folder = work / f"seed_{seed}"
        learned = _pre_trained(folder, data, seed, pre_training)
        options = ["--seed", str(seed), "--fraction", str(fraction)]
        changes = [*_fields(ENCODER), PIXELS, *LABELS, *labels]
        starts = {"from_scratch": "weights=None", "pre_trained": f"weights={str(learned)!r}"}
        run = {"seed": seed}
        for name, start in starts.items():
            told = set_options([*changes, start]) + options
            run[name] = trained("mae_fine_tune_b16", data, folder / name, told)
        runs.append(run)
    gains = [r["pre_trained"]["test_accuracy"] - r["from_scratch"]["test_accuracy"] for r in runs]
    return {
        "command": "make record ROW=mae",
        "fraction": fraction,
        "runs": runs,
        "mean_gain": round(statistics.mean(gains), 5),
        "encoder": encoder_times(sizes or NAMES["mae_b16"][1]),
    }


def encoder_times(sizes, batch_size=4, rounds=5):
    """Times a step of the encoder that sees a quarter of the patches, and one that sees all.

    Args:
        sizes: fields of `MAEConfig`.
        batch_size: images a step.
        rounds: how often each is timed, by turns.

    Returns:
        Milliseconds of both, the fastest of all rounds, and their ratio.
    """
    model = MAE(MAEConfig(**sizes))
    steps = {"masked": _step(model, batch_size), "whole": _step(model.vit(), batch_size)}
    times = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):  # by turns: the machine may slow down between them
        for name, step in steps.items():
            times[name] = min(times[name], median_seconds(step, repeats=3, warmup=1))
    found = {name: round(1000 * seconds, 2) for name, seconds in times.items()}
    return {**found, "ratio": round(times["whole"] / times["masked"], 2)}


def _step(model, batch_size):
    """Forward and backward pass over random images, up to the encoder's norm."""
    import tensorflow as tf

    encoder = keras.Model(model.input, model.get_layer("norm").output)
    images = tf.random.stateless_normal((batch_size, *model.input_shape[1:]), (1, 2))
    variables = [weight.value for weight in encoder.trainable_weights]

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(encoder(images, training=True)))
        return [g for g in tape.gradient(loss, variables) if g is not None]

    return lambda: step()[0].numpy()


def _pre_trained(folder, data, seed, changes):
    """The file of a pre-trained encoder's weights, which is made once."""
    path = folder / "mae.safetensors"
    if not path.exists():
        told = set_options([*_fields({**ENCODER, **DECODER}), PIXELS, *PRE_TRAINING, *changes])
        told += set_options(["augment=['flip', 'small_shift']", "clip_norm=1.0"])
        run = ["--out", str(folder / "mae"), "--seed", str(seed), "--resume-if-any"]
        row_commands.command("train", "mae_b16", str(data), *run, *told)
        save(keras.models.load_model(folder / "mae" / "model.keras"), path, format="mae")
    return path


def _fields(config):
    return [f"config.{name}={value}" for name, value in config.items()]
