"""A loaded version of a model: its queue, and who still uses it."""

import contextlib
import json
import threading

from keras_vit.export.server.batcher import Batcher
from keras_vit.export.server.folders import files_of, lite_file
from keras_vit.export.server.warm_up import warm_up
from keras_vit.export.serving.card import CARD, checksums


class Loaded:
    """A version that is ready to answer.

    Args:
        name: the model's name.
        number: the version.
        path: its folder or file.
        settings: the server's `Settings`.
        observe: see `Batcher`.

    Attributes:
        runner: runs its signatures.
        batcher: its queue.

    Raises:
        Exception: whatever a damaged version breaks.
    """

    def __init__(self, name, number, path, settings, observe):
        self.name, self.number, self.path = name, number, path
        files_of(path, settings.folder)
        _check_sums(path)
        self.runner = _runner(path, settings.max_pixels)
        self.warmed_up = warm_up(self.runner, path, settings.max_batch)
        self.batcher = Batcher(
            lambda kind, inputs: self.runner.run(kind[0], inputs),
            settings.max_batch,
            settings.batch_timeout_ms / 1000,
            settings.queue,
            self.runner.workers,
            observe,
        )
        self._users, self._changed = 0, threading.Condition()

    @contextlib.contextmanager
    def used(self):
        """Keeps the version alive for the block."""
        with self._changed:
            self._users += 1
        try:
            yield self
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def let_go(self):
        """Waits for those who use it, then frees it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._users)
        self.batcher.close()
        self.runner = None


def _check_sums(path):
    """Compares the files with the checksums in our artefacts' cards."""
    if not (path / CARD).is_file():
        return
    stated = json.loads((path / CARD).read_text("utf-8"))["files"]
    found = checksums(path)
    changed = sorted(name for name, value in stated.items() if found.get(name) != value)
    if changed:
        raise ValueError(f"{path} is damaged: {changed[0]} is not the file that was exported.")


def _runner(path, max_pixels):
    file = lite_file(path)
    if file is None:
        from keras_vit.export.server.saved_model import SavedModel

        return SavedModel(path, max_pixels)
    from keras_vit.export.server.tflite import TFLite

    return TFLite(file, max_pixels)
