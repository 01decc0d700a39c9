"""What every predictor shares, whatever runs behind it."""

from pathlib import Path

import numpy as np

BATCH_SIZE = 32


class Predictor:
    """A trained model that takes raw pixels. `keras_vit.runtime.open` makes one.

    A subclass sets `kind` and gives `_run`.

    Args:
        path: where the model lies, or None for a model in memory.
        preprocessing: its `Preprocessing`.
        size_bytes: size of the model on disk, or of its weights in memory.

    Attributes:
        kind: `"keras"`, `"saved_model"` or `"tflite"`.
        path: `pathlib.Path` or None.
        preprocessing: a `Preprocessing`; its `image_size` is the one of the pixels.
        class_names: tuple of strings in the order of the logits, or empty.
        size_bytes: number of bytes.
    """

    kind = None

    def __init__(self, path, preprocessing, size_bytes):
        self.path = None if path is None else Path(path)
        self.preprocessing = preprocessing
        self.class_names = preprocessing.class_names
        self.size_bytes = size_bytes

    def logits(self, pixels):
        """Returns the logits of images.

        Args:
            pixels: raw pixels 0 to 255, uint8 or float, `[b, h, w, c]` at the model's size; of a
                model of clips `[b, frames, h, w, c]`.

        Returns:
            A float32 numpy array `[b, num_classes]`.

        Raises:
            ValueError: for pixels of another shape or range.
        """
        return np.asarray(self._run(self.checked(pixels)), "float32")

    def checked(self, pixels):
        """Returns pixels as an array.

        Raises:
            ValueError: for pixels of another shape or range than the model's.
        """
        pixels = np.asarray(pixels)
        shape = self.preprocessing.shape
        if pixels.shape[1:] != shape:
            raise ValueError(
                f"`pixels` must have the shape [b, {', '.join(map(str, shape))}]. "
                f"Received: shape={pixels.shape}."
            )
        if pixels.size and not (pixels.min() >= 0 and pixels.max() <= 255):
            raise ValueError(
                "`pixels` must be raw values from 0 to 255, not normalised ones. "
                f"Received: values from {pixels.min()} to {pixels.max()}."
            )
        return pixels

    def predict_files(self, paths, top=5, clips=1):
        """Classifies picture files or, where the model takes clips, videos.

        Args:
            paths: list of file names; a video may also be a folder of frames.
            top: number of classes for each, at least 1.
            clips: how many clips of a video are looked at, at even distances; their probabilities
                are averaged.

        Returns:
            For each path a list of (class name, probability), the most probable first. Without
            class names the name is the class's number. Of a model for several classes an image
            each probability stands for itself.

        Raises:
            ValueError: for a file that is no picture or no video, or `top` or `clips` below 1.
            FileNotFoundError: for a file that is not there.
        """
        if top < 1:
            raise ValueError(f"`top` must be at least 1. Received: {top}.")
        if self.preprocessing.frames:
            rows = [self.probabilities_of_video(path, clips) for path in paths]
            return [self._best(row, top) for row in rows]
        paths, results = list(paths), []
        for start in range(0, len(paths), BATCH_SIZE):
            pixels = np.stack([self._pixels(path) for path in paths[start : start + BATCH_SIZE]])
            results += [self._best(row, top) for row in self.probabilities(self.logits(pixels))]
        return results

    def probabilities(self, logits):
        """Returns the probabilities of logits `[b, num_classes]`, as the model was trained."""
        return PROBABILITIES[self.preprocessing.probabilities](logits)

    def probabilities_of_video(self, path, clips=1):
        """Returns the probabilities of the classes of a video, `[num_classes]`.

        Args:
            path: a video file, or a folder of frames.
            clips: how many clips are looked at; the mean of their probabilities is returned.
        """
        from keras_vit.data.clips import video_clips

        pixels = video_clips(path, self.preprocessing, clips)
        return self.probabilities(self.logits(pixels)).mean(axis=0)

    def _pixels(self, path):
        return self.pixels_and_size(path)[0]

    def pixels_and_size(self, path):
        """Returns a picture file at the model's size, `[h, w, c]`, and its own (height, width).

        Raises:
            ValueError: for a file that is no picture.
            FileNotFoundError: for a file that is not there.
        """
        # TensorFlow is needed for pictures, and not for arrays: a JAX installation may lack it.
        from keras_vit.data.decode import decode, fit

        encoded = Path(path).read_bytes()
        try:
            image = decode(encoded, self.preprocessing.channels)
        except Exception as error:  # TensorFlow has a dozen types for what a file can be
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(f"{path} cannot be decoded as a picture: {reason}") from error
        return np.asarray(fit(image, self.preprocessing)), image.shape[:2]

    def _best(self, probabilities, top):
        order = np.argsort(-probabilities, kind="stable")[:top]
        names = self.class_names or [str(index) for index in range(len(probabilities))]
        return [(names[index], float(probabilities[index])) for index in order]

    def _run(self, pixels):
        """Checked pixels, uint8 or float, to logits `[b, num_classes]`."""
        raise NotImplementedError


def softmax(logits):
    """Returns the probabilities of logits, over the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def sigmoid(logits):
    """Returns the probability of each class on its own."""
    small = np.exp(-np.abs(logits))  # of the negative side, which does not overflow
    return np.where(logits >= 0, 1, small) / (1 + small)


PROBABILITIES = {"softmax": softmax, "sigmoid": sigmoid}
