"""A small run with every kind of augmentation: `python killed_run.py DATA OUT KILL_AT RESUME`.

It keeps its state after every step, and kills itself by SIGKILL after the step KILL_AT of this
life, counted from 1; 0 lets it live.
"""

import os
import signal
import sys

import keras

from keras_vit.training import Recipe, run, train

STEPS = 4  # of an epoch: 64 images of 80, 16 at a time
RECIPE = Recipe(
    "vit_ti16",
    config={
        "image_size": 16, "patch_size": 8, "width": 16, "depth": 2, "num_heads": 2, "mlp_dim": 32,
        "dropout": 0.1, "drop_path": 0.1,
    },
    augment=(
        "resized_crop", "flip", "rand_augment(2, 10)", "random_erasing(0.5)", "mix_or_cut(0.8, 1.0)"
    ),
    epochs=3, batch_size=16, warmup_epochs=1.0, label_smoothing=0.1, repeats=2, seed=5,
)  # fmt: skip


class Kill(keras.callbacks.Callback):
    """Ends the process as a lost machine does."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def main(data, out, kill_at, resume):
    run.SECONDS = 0
    keras.callbacks.TensorBoard = lambda *args, **kwargs: Kill(int(kill_at))
    train(RECIPE, data, out, resume=resume == "True", verbose=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
