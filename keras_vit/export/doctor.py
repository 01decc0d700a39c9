"""Where a quantised `.tflite` file departs from the same graph in float32, tensor by tensor."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np

from keras_vit import runtime
from keras_vit.data import Classes
from keras_vit.export.calibration import calibration_images, spread
from keras_vit.export.profiles import PROFILES, profile_named
from keras_vit.export.tflite import write_tflite
from keras_vit.layers.extras import require

# SNR in decibels -> colour in Model Explorer: red below 10, green from 30.
COLOURS = ((10, "#d73027"), (20, "#fdae61"), (30, "#ffffbf"), (1000, "#1a9850"))
BEST = 200.0  # decibels of a tensor without any difference


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One tensor of both files.

    Args:
        name: its name in both.
        block: the part of the model that it stands in, such as `"block_3"`.
        snr: decibels of the quantised file's values, with what was lost before. The signal is how
            far each channel moves from its mean.
        own: decibels of the float file's values rounded and clipped to this tensor's range alone.
    """

    name: str
    block: str
    snr: float
    own: float


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found.

    Args:
        profile: name of the profile.
        images: number of images that both files ran on.
        shares: what was counted on them, each with the ends of its 95 % interval: `agreement`,
            and with labels `float` and `quantised` accuracy.
        tensors: a `Tensor` each, in the order of the file.
    """

    profile: str
    images: int
    shares: dict
    tensors: list


def diagnose(model, profile, records, folder, limit=64):
    """Writes a model in float32 and for a profile, and compares both on real pictures.

    Args:
        model: a Keras model with a `preprocessing`.
        profile: name of a profile in integers, or such a `Profile`.
        records: `Records`. The profile is calibrated on them; at most `limit` of them are run, at
            even distances.
        folder: where the two files are written.
        limit: number of images.

    Returns:
        A `Diagnosis`.

    Raises:
        ValueError: for another profile, or a model that cannot be converted.
    """
    profile = profile_named(profile)
    if not profile.integer:
        names = ", ".join(name for name, one in PROFILES.items() if one.integer)
        raise ValueError(f"`profile` must be one in integers ({names}). Received: {profile.name}.")
    calibration = calibration_images(records, model.preprocessing)
    exact = dataclasses.replace(profile, precision="float32", calibrated=False)
    paths = [Path(folder) / f"{name}.tflite" for name in ("float32", "quantised")]
    for path, one in zip(paths, (exact, profile), strict=True):
        write_tflite(model, path, one, calibration)
    chosen = records.select(spread(len(records), limit))
    images = np.round(calibration_images(chosen, model.preprocessing, limit))
    tensors = compare(*(path.read_bytes() for path in paths), images)
    best = [runtime.open(path).logits(images).argmax(axis=-1) for path in paths]
    counted = {"agreement": best[0] == best[1]}
    labels = chosen.targets.labels if isinstance(chosen.targets, Classes) else None
    if labels is not None:
        counted |= {"float": best[0] == labels, "quantised": best[1] == labels}
    shares = {name: _share(right) for name, right in counted.items()}
    return Diagnosis(profile.name, len(images), shares, tensors)


def compare(reference, quantised, images):
    """Runs both files side by side and compares every tensor that both have.

    Args:
        reference: bytes of the float32 file.
        quantised: bytes of the file in integers, made of the same graph.
        images: raw pixels `[n, h, w, c]`.

    Returns:
        A list of `Tensor`, in the order of the file.

    Raises:
        ValueError: if no tensor has the same name in both.
        ImportError: if `ai_edge_litert` is not installed.
    """
    runs = [_Run(content) for content in (reference, quantised)]
    scales = runs[1].scales()
    powers = {}  # name -> [sum of squares, noise, own noise]
    totals = {}  # name -> sum of each channel, and how many values it had
    for image in images:
        floats, integers = (run(image) for run in runs)
        for name, exact in floats.items():
            if name not in integers or name not in scales or exact.shape != integers[name].shape:
                continue
            scale, zero, low, high = scales[name]
            back = (integers[name].astype("float64") - zero) * scale
            own = (np.clip(np.round(exact / scale) + zero, low, high) - zero) * scale
            found = powers.setdefault(name, np.zeros(3))
            found += [(exact**2).sum(), ((back - exact) ** 2).sum(), ((own - exact) ** 2).sum()]
            rows = exact.reshape(-1, exact.shape[-1] if exact.ndim else 1).astype("float64")
            total, count = totals.get(name, (0, 0))
            totals[name] = (total + rows.sum(axis=0), count + len(rows))
    if not powers:
        raise ValueError("`quantised` must be made of the same graph. Received: no common tensor.")
    found = []
    for name, (squares, noise, own) in powers.items():
        # What a channel is everywhere tells nothing: a range that is spent on it is a bad one.
        total, count = totals[name]
        signal = squares - (total**2).sum() / count
        if signal <= 1e-9 * squares:  # a constant
            continue
        found.append(Tensor(name, block(name), _decibels(signal, noise), _decibels(signal, own)))
    return found


def block(name):
    """Returns the part of a model that a tensor's name tells of.

    Example:

    >>> block("vit_1/block_3_1/mlp_1/fc1_1/MatMul")
    'block_3'
    """
    found = re.search(r"/((?:\w+_)?block_\d+|[a-z]\w*?)(?:_1)?/", name)
    return found[1] if found else ""


def worst(tensors, count=10):
    """The tensors whose own ranges lose most, the worst first."""
    return sorted(tensors, key=lambda one: one.own)[:count]


def blocks(tensors):
    """The lowest SNR in each block, `{block: decibels}`, in the order of the file."""
    found = {}
    for one in tensors:
        found[one.block] = min(found.get(one.block, BEST), one.snr)
    return found


def overlay(tensors):
    """Model Explorer's node data: the SNR of each tensor, as JSON text."""
    results = {one.name: {"value": round(one.snr, 2)} for one in tensors}
    thresholds = [{"value": value, "bgColor": colour} for value, colour in COLOURS]
    return json.dumps({"results": results, "thresholds": thresholds})


def interval(share, count):
    """Wilson's 95 % interval of a share that was counted on `count` images: (low, high).

    Example:

    >>> [round(end, 3) for end in interval(0.5, 100)]
    [0.404, 0.596]
    """
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z * z / count)
    return float(middle - half), float(middle + half)


def _share(right):
    share = float(np.mean(right))
    return (share, *interval(share, len(right)))


class _Run:
    """One file, from an image to the values of every tensor by name."""

    def __init__(self, content):
        interpreter = require("ai_edge_litert.interpreter", extra="edge")
        self.interpreter = interpreter.Interpreter(
            model_content=content,
            num_threads=1,
            experimental_preserve_all_tensors=True,
            # A delegate keeps what is inside it to itself.
            experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        self.interpreter.allocate_tensors()
        (self.input,) = self.interpreter.get_input_details()
        self.tensors = self.interpreter.get_tensor_details()

    def scales(self):
        """name -> (scale, zero point, lowest, highest integer) of each tensor with one range."""
        found = {}
        for one in self.tensors:
            scale, zero = one["quantization"]
            if scale and np.issubdtype(one["dtype"], np.integer) and one["dtype"] != np.int32:
                limits = np.iinfo(one["dtype"])
                found[one["name"]] = (scale, zero, limits.min, limits.max)
        return found

    def __call__(self, image):
        self.interpreter.set_tensor(self.input["index"], image[None].astype(self.input["dtype"]))
        self.interpreter.invoke()
        found = {}
        for one in self.tensors:
            try:
                found[one["name"]] = self.interpreter.get_tensor(one["index"])
            except ValueError:  # a scratch tensor of a kernel
                continue
        return found


def _decibels(signal, noise):
    if noise == 0:
        return BEST
    return min(float(10 * np.log10(max(signal, 1e-30) / noise)), BEST)
