"""The recorded load on a server: throughput, latencies, a full queue, memory."""

import io
import itertools
import time

import keras
import numpy as np
from PIL import Image

from keras_vit.cli.once import once
from keras_vit.cli.served import Served
from keras_vit.cli.serving_load import for_seconds, load, so_many

CLIENTS, QUEUE, SHORT_QUEUE, SECONDS = 64, 64, 4, 60
REQUESTS = (1_000, 10_000)  # after which the memory is read
LOADED = {"image_size": 96, "num_classes": 100}
TINY = {"image_size": 16, "patch_size": 4, "depth": 1, "width": 24, "mlp_dim": 48, "num_heads": 3}


def serving(work, seconds=SECONDS):
    """Loads a server of `vit_ti16` with 64 clients that check every answer.

    Args:
        work: folder that keeps each part; a run that was stopped goes on from there.
        seconds: of each load.
    """

    def part(name, *options):
        return once(work / f"{name}.json", lambda: _loaded(work / "loaded", seconds, *options))

    found = {
        "batched": part("batched", "--queue", QUEUE),
        "one_by_one": part("one_by_one", "--queue", QUEUE, "--max-batch", 1),
        "short_queue": part("short_queue", "--queue", SHORT_QUEUE),
    }
    throughputs = [found[name]["answers_per_second"] for name in ("batched", "one_by_one")]
    return {
        "command": "make record ROW=serving",
        "model": "vit_ti16, 96 px, 100 classes, JPEGs",
        "clients": CLIENTS,
        "queue": QUEUE,
        "short_queue_holds": SHORT_QUEUE,
        **found,
        "batching_gains": round(throughputs[0] / throughputs[1], 2),
        "memory": once(work / "memory.json", lambda: _memory(work / "tiny")),
    }


def jpegs(count, size=(120, 100)):
    """Returns small photographs that all differ, as JPEG files.

    Args:
        count: how many.
        size: (width, height) in pixels.

    Returns:
        A list of bytes.
    """
    random, files = np.random.default_rng(5), []
    for _ in range(count):
        shapes = Image.fromarray(random.integers(0, 256, (4, 4, 3), "uint8"))
        file = io.BytesIO()
        shapes.resize(size, Image.Resampling.BICUBIC).save(file, "JPEG")
        files.append(file.getvalue())
    return files


def served_model(folder, **fields):
    """Writes a `vit_ti16` with random weights, its head too, as version 1 of `folder/vit`.

    Args:
        folder: where to; a model that is there already stays.
        **fields: of the model's config.

    Returns:
        The path of the version.
    """
    from keras_vit.export import export
    from keras_vit.factory import create_model

    path = folder / "vit" / "1"
    if not path.exists():
        keras.utils.set_random_seed(3)
        model = create_model("vit_ti16", **fields)
        head = model.get_layer("head")  # zero when it is made: every picture would be alike
        shapes = [weight.shape for weight in head.weights]
        head.set_weights([np.random.default_rng(7).normal(size=shape) for shape in shapes])
        export(model, "server", path)
    return path


def logits_of(path, pictures):
    """Returns what a model says of pictures without a server.

    Args:
        path: of an exported model.
        pictures: list of encoded pictures.

    Raises:
        ValueError: if two pictures have answers that a swap would not show in.
    """
    from keras_vit import runtime
    from keras_vit.data.decode import decode, fit

    model = runtime.open(path)
    about = model.preprocessing
    pixels = [fit(decode(picture, about.channels), about).numpy() for picture in pictures]
    logits = model.logits(np.stack(pixels))
    for one, other in itertools.combinations(logits, 2):
        if np.abs(one - other).max() < 1e-3 * np.abs(logits).max():
            raise ValueError("`pictures` must have answers that differ.")
    return logits


def _loaded(folder, seconds, *options):
    path, pictures = served_model(folder, **LOADED), jpegs(2 * CLIENTS)
    expected = logits_of(path, pictures)
    with Served(folder, *options) as served:
        first = load(served, "vit", pictures, expected, 1, so_many(1))
        first_answer = time.monotonic() - served.started
        tally = load(served, "vit", pictures, expected, CLIENTS, for_seconds(seconds))
        computed = served.metric("keras_vit_batch_rows_sum")
        batches = served.metric("keras_vit_batch_rows_count")
        accepted = served.metric("keras_vit_requests_total", method="predict", code="OK")
    answered = len(tally.latencies) + len(first.latencies)
    return {
        "ready_seconds": round(served.ready_seconds, 1),
        "first_answer_seconds": round(first_answer, 1),
        **tally.figures(),
        "lost": int(accepted) - answered,
        "images_a_batch": round(computed / batches, 1),
        "largest_difference": float(f"{tally.difference:.1g}"),
        "failures": tally.failures[:5],
    }


def _memory(folder):
    path, pictures = served_model(folder, num_classes=7, **TINY), jpegs(CLIENTS)
    expected = logits_of(path, pictures)
    bytes_after, sent = {}, 0
    with Served(folder, "--queue", QUEUE) as served:
        for total in REQUESTS:
            tally = load(served, "vit", pictures, expected, CLIENTS, so_many(total - sent))
            if tally.wrong or tally.failures or tally.refused:
                raise RuntimeError(f"The load for the memory went wrong: {tally.figures()}")
            sent = total
            bytes_after[str(total)] = int(served.metric("process_resident_memory_bytes"))
    first, last = bytes_after.values()
    return {"bytes_after_requests": bytes_after, "growth": round(last / first - 1, 4)}
