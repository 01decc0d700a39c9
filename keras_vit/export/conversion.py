"""Converts SavedModels in another process, whose abort is an error here."""

import atexit
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

from keras_vit.export import converter

# -P keeps the folder of the file, where modules are called `profiles` or `audit`, off the path.
COMMAND = (sys.executable, "-P", converter.__file__)
LOG_LINES = 5


class Conversion:
    """A process that converts, started when it is first needed and kept for the next model.

    Args:
        command: what starts it; by default the package's own converter.

    Example:

    >>> Conversion()("nowhere", "float32", "model.tflite")
    Traceback (most recent call last):
    ...
    ValueError: SavedModel file does not exist at: nowhere/{saved_model.pbtxt|saved_model.pb}
    """

    def __init__(self, command=COMMAND):
        self.command = command
        self._process = None
        self._lock = threading.Lock()

    def __call__(self, folder, precision, out, images=None, measure="min_max"):
        """Converts a SavedModel to a `.tflite` file.

        Args:
            folder: the SavedModel.
            precision: key of `converter.PRECISIONS`.
            out: the file to write.
            images: calibration images `[n, h, w, c]`, float32, or None.
            measure: key of `converter.MEASURES`.

        Raises:
            ValueError: if it cannot be converted, or if the process ends; the message then holds
                the end of its log.
        """
        with tempfile.TemporaryDirectory() as temporary, self._lock:
            request = {"folder": str(folder), "precision": precision, "out": str(out)}
            request |= {"images": None, "measure": measure}
            if images is not None:
                request["images"] = str(Path(temporary) / "images.npy")
                np.save(request["images"], images)
            answer = self._asked(request)
        if "error" in answer:
            raise ValueError(answer["error"])

    def close(self):
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._log.close()
            self._process = None

    def _asked(self, request):
        process = self._running()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        code, log = process.wait(), self._end_of_log()
        self.close()
        return {"error": f"the converter's process ended with the code {code}. Its log: {log}"}

    def _running(self):
        if self._process is not None and self._process.poll() is not None:
            self.close()  # something ended it since the last request
        if self._process is None:
            self._log = tempfile.TemporaryFile()
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
            )
            atexit.register(self.close)
        return self._process

    def _end_of_log(self):
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        return " / ".join([line.strip() for line in lines if line.strip()][-LOG_LINES:])


# One for all exports: TensorFlow takes seconds to load.
convert = Conversion()
