"""Loads every model of a folder in a process of its own and writes its outputs.

Usage: python -m tests.contract.reload FOLDER, with `NAME.keras` and `NAME.npz` (its inputs) in it;
writes `NAME.out.npz`. Only `import keras_vit` stands before the loading, as in a user's script.
"""

import sys
from pathlib import Path

import numpy as np

import keras_vit  # noqa: F401  registers the layers and models


def main(folder):
    import keras

    for path in sorted(folder.glob("*.keras")):
        model = keras.saving.load_model(path, safe_mode=True)
        with np.load(path.with_suffix(".npz")) as stored:
            inputs = keras.tree.pack_sequence_as(model.input, list(stored.values()))
        outputs = keras.tree.flatten(model(inputs, training=False))
        arrays = [keras.ops.convert_to_numpy(output) for output in outputs]
        np.savez(path.with_suffix(".out.npz"), *arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
