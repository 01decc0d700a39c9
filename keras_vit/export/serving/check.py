"""Proves a served artefact: that it is whole, and does what its card says."""

import collections
from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_vit.data.decode import decode, fit
from keras_vit.export.profiles import profile_named
from keras_vit.export.serving.answers import NO_CLASS, class_names
from keras_vit.export.serving.artefact import Artefact
from keras_vit.export.serving.batching import BATCHING, batching_parameters
from keras_vit.export.serving.card import CARD, checksums, contract
from keras_vit.export.serving.examples import png
from keras_vit.export.serving.parity import PROBE, compared
from keras_vit.export.serving.signatures import CLASSIFY, CLASSIFY_METHOD
from keras_vit.export.serving.warmup import MOST, RECORDS, read_warmup
from keras_vit.runtime.embedded import LABELS, PREPROCESSING
from keras_vit.runtime.saved_model import newest_version

FILES = ("saved_model.pb", f"assets/{LABELS}", f"assets/{PREPROCESSING}", RECORDS, PROBE, BATCHING)
BATCHES = (1, 2, 5)
# Rows of a larger batch are summed in another order.
NEAR = 1e-4


def layout(artefact):
    """TF Serving's folders and this package's files beside them."""
    missing = [name for name in FILES if not (artefact.folder / name).is_file()]
    _demand(not missing, f"it lacks {', '.join(missing)}")
    number = artefact.folder.name
    _demand(number.isdecimal(), f"the folder's name must be a version, a number; it is {number}")
    return f"version {number}"


def files(artefact):
    """Every file is the one that was written."""
    stated, found = artefact.card["files"], checksums(artefact.folder)
    for name in stated:
        _demand(name in found, f"{name} is missing")
        _demand(stated[name] == found[name], f"{name} was changed: its checksum is another")
    extra = sorted(set(found) - set(stated))
    _demand(not extra, f"{', '.join(extra)} was not written with it")
    return f"{len(found)} files"


def contracts(artefact):
    """The SavedModel's signatures are those of the card."""
    stated, found = artefact.card["signatures"], contract(artefact.folder)
    for name in sorted(set(stated) | set(found)):
        same = stated.get(name) == found.get(name)
        _demand(same, f"the signature {name} is not the one of {CARD}")
    if CLASSIFY in found:
        method = found[CLASSIFY]["method"]
        _demand(method == CLASSIFY_METHOD, f"the method of {CLASSIFY} is {method}")
    return ", ".join(stated)


def labels(artefact):
    """Class names are the same in the asset, in the preprocessing and in the answers."""
    lines = (artefact.folder / "assets" / LABELS).read_text("utf-8").splitlines()
    names = list(artefact.preprocessing.class_names)
    _demand(lines == names, f"{LABELS} and {PREPROCESSING} name other classes")
    found = artefact.answers("serving_uint8", artefact.images)
    names = class_names(artefact.preprocessing, found["logits"].shape[-1])
    served = np.array(names, object)[found["classes"]].astype(str)
    _demand((np.char.encode(served, "utf-8") == found["labels"]).all(), "labels are of others")
    return f"{len(names)} classes"


def batches(artefact):
    """Every signature takes every batch, and a row does not depend on its neighbours."""
    for name in artefact.card["signatures"]:
        fixed = artefact.batch(name)
        singles = _one_by_one(artefact, "serving_default" if fixed else name)
        for size in (fixed,) if fixed else BATCHES:
            turns = np.arange(size) % len(artefact.images)
            for key, rows in artefact.answers(name, artefact.images[turns]).items():
                where = f"{key} of {name} in a batch of {size}"
                _demand(len(rows) == size, f"{where} has {len(rows)} rows")
                _demand(_near(rows, singles[key][turns]), f"{where} is not that of images alone")
    return f"{len(artefact.card['signatures'])} signatures, batches of {BATCHES}"


def pictures(artefact):
    """Encoded pictures give what their pixels give, and a damaged one spoils itself alone."""
    if "serving_bytes" not in artefact.card["signatures"]:
        return artefact.card["left_out"]["serving_bytes"]
    preprocessing, whole = artefact.preprocessing, png(artefact.images[0])
    pixels = fit(decode(whole, preprocessing.channels), preprocessing)
    encoded = tf.constant([b"", whole, whole[: len(whole) // 2], b"no picture"])
    found = artefact.signatures["serving_bytes"](image_bytes=encoded)
    found = {key: tensor.numpy() for key, tensor in found.items()}
    alone = artefact.answers("serving_default", pixels[None])["logits"]
    _demand(_near(found["logits"][1:2], alone), "a picture's logits are not those of its pixels")
    told = [bool(text) for text in found["error"]]
    _demand(told == [True, False, True, True], "`error` does not tell damaged pictures from whole")
    _demand((found["classes"][0] == NO_CLASS).all(), "a damaged picture has classes")
    return "3 damaged pictures beside a whole one"


def warm_up(artefact):
    """The warm-up holds every signature in every batch size, and runs."""
    requests = list(read_warmup(artefact.folder / RECORDS))
    _demand(len(requests) <= MOST, f"{len(requests)} warm-up requests are more than {MOST}")
    found = collections.defaultdict(set)
    for name, inputs in requests:
        found[name] |= {len(value) for value in inputs.values()}
    for name in artefact.card["signatures"]:
        fixed = artefact.batch(name)
        sizes = {fixed} if fixed else set(artefact.card["batch_sizes"])
        _demand(found[name] == sizes, f"the warm-up of {name} is for batches of {found[name]}")
    for name, inputs in requests:
        artefact.signatures[name](**inputs)
    return f"{len(requests)} requests"


def batching(artefact):
    """The batching parameters fill batches up to sizes that were warmed up."""
    text = (artefact.folder / BATCHING).read_text("utf-8")
    same = text == batching_parameters(artefact.card["batch_sizes"])
    _demand(same, f"{BATCHING} is not for the batch sizes of {CARD}")
    return f"batches of {', '.join(map(str, artefact.card['batch_sizes']))}"


def parity(artefact):
    """It still computes the Keras model's logits, which lie beside it."""
    found = compared(artefact.signatures["serving_uint8"], artefact.folder)
    for said, agreement in (("now", found), ("when it was written", artefact.agreement)):
        broken = profile_named("server").bound.broken_by(agreement)
        _demand(not broken, f"against the Keras model, {said}: {', '.join(broken)}")
    return (
        f"{found.images} images: largest difference {found.relative:.1g} of the largest logit, "
        f"same top class {found.top1:.0%}"
    )


# Cheap ones first: what is damaged is then told in seconds.
CHECKS = {
    "layout": layout,
    "checksums": files,
    "contract": contracts,
    "batching": batching,
    "parity": parity,
    "labels": labels,
    "warm-up": warm_up,
    "pictures": pictures,
    "batches": batches,
}


def check(folder):
    """Proves an artefact of the profile `server`.

    Args:
        folder: a version, `NAME/<version>`, or a model's folder, whose newest version is taken.

    Returns:
        A dict of the names of `CHECKS` to what each found.

    Raises:
        ValueError: for an artefact that is not whole or not right; the message says why.
        FileNotFoundError: if nothing is there.
        ImportError: if `tensorflow-serving-api` is not installed.
    """
    folder = newest_version(Path(folder))
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    found = {}
    try:
        artefact = Artefact(folder)
        for name, run in CHECKS.items():
            found[name] = run(artefact)
    except ImportError:
        raise
    except Exception as error:  # whatever a damaged graph, file or record breaks
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        after = f" (after: {', '.join(found)})" if found else ""
        raise ValueError(f"{folder} is refused{after}: {reason}.") from error
    return found


def _one_by_one(artefact, name):
    answers = [artefact.answers(name, image[None]) for image in artefact.images]
    return {key: np.concatenate([one[key] for one in answers]) for key in answers[0]}


def _near(rows, expected):
    """Whether numbers are equal but for rounding; class numbers and texts may change in ties."""
    if rows.dtype.kind != "f":
        return True
    return np.abs(rows - expected).max() <= NEAR * max(np.abs(expected).max(), NEAR)


def _demand(holds, reason):
    if not holds:
        raise ValueError(reason)
