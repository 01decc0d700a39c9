"""A teacher's logits of all training images, computed once and kept in a file."""

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path

import keras
import numpy as np

from keras_vit.data import Classes, evaluation_batches, normalised
from keras_vit.data.targets import gathered
from keras_vit.files import replacing


def teacher_digest(teacher):
    """Returns a hash of what a `Teacher` knows and how it sees: weights, size, mean, std."""
    seen = dataclasses.asdict(teacher.seen)
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode())
    for weight in teacher.model.weights:
        digest.update(f"{weight.shape}".encode() + keras.ops.convert_to_numpy(weight).tobytes())
    return digest.hexdigest()[:16]


def kept_logits(path, teacher, records, batch_size=128):
    """Returns a teacher's logits of images, from a file if it has them, and writes them otherwise.

    The teacher sees the images unchanged, as in an evaluation by its own preprocessing. The file is
    whole or not there: it is written under another name first.

    Args:
        path: an `.npz` file.
        teacher: a `Teacher`.
        records: `Records` of the images.
        batch_size: images at a time.

    Returns:
        float32 `[n, k]`, in the order of the records.

    Raises:
        ValueError: if the file holds the logits of other images or of another teacher.
    """
    wanted = {"data": records.fingerprint(), "teacher": teacher_digest(teacher)}
    path = Path(path)
    if path.exists():
        return _read(path, wanted, len(records))
    batches = normalised(evaluation_batches(records, teacher.seen, batch_size), teacher.seen)
    logits = np.concatenate(
        [keras.ops.convert_to_numpy(teacher.asked(batch[0].numpy())) for batch in batches]
    ).astype("float32")
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, logits=logits, **wanted)
    return logits


def _read(path, wanted, count):
    try:
        # Opened here: numpy leaves a damaged file open.
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = {name: str(file[name]) for name in wanted}
            logits = file["logits"]
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no teacher's logits: remove it. ({error})") from error
    for name, value in wanted.items():
        if found[name] != value:
            other = "other images" if name == "data" else "another teacher"
            raise ValueError(
                f"{path} holds the logits of {other}: remove it, or name another file."
            )
    if len(logits) != count:
        raise ValueError(f"{path} is damaged: remove it.")
    return logits


@dataclasses.dataclass(frozen=True, eq=False)
class TaughtClasses(Classes):
    """One class an image, and a teacher's logits of it, which follow the labels in a batch.

    Args:
        class_names, labels: as in `Classes`.
        logits: `[n, k]`.
    """

    logits: np.ndarray = None

    def for_training(self, index):
        return (*super().for_training(index), gathered(self.logits, index))

    def select(self, indices):
        chosen = super().select(indices)
        return dataclasses.replace(chosen, logits=self.logits[indices])
