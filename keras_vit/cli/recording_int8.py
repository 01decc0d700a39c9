"""The recorded int8 files of a trained DINOv2: how much of its accuracy integers keep.

A linear head is fitted to float features of Fashion-MNIST's training images and then frozen.
"""

import dataclasses
from importlib.metadata import version

import numpy as np
from PIL import Image

from keras_vit import runtime
from keras_vit.cli.once import in_chunks
from keras_vit.cli.recording_dinov2 import onnx_file
from keras_vit.data.fashion_mnist import PARTS, read_part
from keras_vit.export import export
from keras_vit.export.agreement import Bound
from keras_vit.export.calibration import balanced
from keras_vit.export.profiles import PROFILES
from keras_vit.factory import create_model
from keras_vit.files import replacing
from keras_vit.training.probe import linear_probe
from keras_vit.weights.onnx_dinov2 import write_dinov2

SIZES = {112: 10_000, 224: 2_000}  # image size -> test images
CALIBRATION, CHUNK, FEW = 128, 100, 200
# file -> (changes of the profile `npu`, most images). The reference kernels of 16 bits are slow.
FILES = {
    "dynamic": (PROFILES["cpu"], None),
    "naive_int8": (dataclasses.replace(PROFILES["npu"], passes=()), None),
    "npu": (PROFILES["npu"], None),
    "int16x8": (PROFILES["npu-16x8"], FEW),
}


def int8(work, source, sizes=SIZES, train=5_000, build=None):
    """Accuracy in float and of each file of `FILES`, on the same test images.

    Args:
        work: folder that keeps the head, the files and the logits of each chunk of images: a run
            that was stopped goes on from there.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        sizes: dict of image size to a number of test images.
        train: number of training images that the head is fitted to.
        build: function from (image size, fields of the head) to a model; by default the DINOv2.
    """
    if build is None:
        write_dinov2(onnx_file(), work / "weights")
        build = lambda size, **fields: create_model(  # noqa: E731
            "dinov2_s14", weights=work / "weights", image_size=size, **fields
        )
    found = {
        str(size): _at(work / str(size), source, size, count, train, build)
        for size, count in sizes.items()
    }
    names = ("ai-edge-litert", "scikit-learn")
    return {
        "command": "make record ROW=int8",
        "train": train,
        "calibration": CALIBRATION,
        "sizes": found,
        "versions": {name: version(name) for name in names},
    }


def difference(reference, answers, labels):
    """Points of accuracy that `answers` gain on `reference`, and a 95 % interval, paired.

    Args:
        reference, answers: classes of the same images, int `[n]`.
        labels: int `[n]`.

    Returns:
        A list: the difference, its lower and its upper end.

    Example:

    >>> difference(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), np.array([0, 1, 1, 1]))
    [-25.0, -67.44, 17.44]
    """
    gain = (answers == labels).astype("float64") - (reference == labels)
    half = 1.96 * gain.std() / np.sqrt(len(gain)) if len(gain) else 0
    return [round(100 * float(gain.mean() + side * half), 2) for side in (0, -1, 1)]


def _at(work, source, size, count, train, build):
    """The figures at one image size."""
    images, classes = read_part(source, *PARTS["train"])
    own = balanced(classes, CALIBRATION)
    model = build(size, num_classes=10, pooling="token_and_mean")
    kernel, bias = _head(work, size, images[:train], classes[:train], build)
    model.get_layer("head").set_weights([kernel, bias])
    tests, labels = (part[:count] for part in read_part(source, *PARTS["test"]))
    floats = _answers(runtime.open(model).logits, tests, size, work / "float")
    figures = {"float": {"accuracy": _accuracy(floats, labels), "images": count}}
    for name, (profile, most) in FILES.items():
        path = work / f"{name}.tflite"
        if not path.exists():
            # Without a bound: what a bad file loses is what is measured.
            profile = dataclasses.replace(profile, bound=Bound())
            export(model, profile, path, _pixels(images[own], size))
        answers = _answers(runtime.open(path).logits, tests[:most], size, work / name)
        reference, truth = floats[:most].argmax(axis=1), labels[:most]
        best = answers.argmax(axis=1)
        figures[name] = {
            "accuracy": _accuracy(answers, truth),
            "images": len(truth),
            "difference": difference(reference, best, truth),
            "agreement": round(float((best == reference).mean()), 4),
            "bytes": path.stat().st_size,
        }
    return figures


def _head(work, size, images, labels, build):
    """(kernel, bias) of a logistic regression on standardised float features, as one product."""
    path = work / "head.npz"
    if not path.exists():
        backbone = build(size, num_classes=0, pooling="token_and_mean")
        features = _answers(runtime.open(backbone).logits, images, size, work / "features")
        scaler, regression = linear_probe(features, labels)
        kernel = (regression.coef_ / scaler.scale_).T
        bias = regression.intercept_ - scaler.mean_ @ kernel
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, kernel=kernel, bias=bias)
    found = np.load(path)
    return found["kernel"], found["bias"]


def _answers(engine, images, size, folder):
    """What an engine gives for pixels, a chunk at a time, kept in `folder`."""
    answer = lambda chunk: engine(_pixels(chunk, size))  # noqa: E731
    return in_chunks(answer, images, folder, CHUNK, f"{folder.name}, {size}")


def _pixels(images, size):
    """Grey images as a model takes them, `[b, size, size, 3]`."""
    pictures = [Image.fromarray(image).convert("RGB") for image in images]
    sized = [np.asarray(picture.resize((size, size), Image.BICUBIC)) for picture in pictures]
    return np.stack(sized).astype("float32")


def _accuracy(answers, labels):
    return round(float((answers.argmax(axis=1) == labels).mean()), 4)
