"""A page that runs a model in the browser of whoever looks at it."""

import dataclasses
import json
import shutil
from pathlib import Path

from keras_vit.explain.blocks import block_names
from keras_vit.export.exporter import export
from keras_vit.export.profiles import PROFILES
from keras_vit.export.web.litertjs import copy_litertjs
from keras_vit.files import replacing
from keras_vit.layers.extras import require
from keras_vit.layers.sizes import patch_grid
from keras_vit.runtime.tflite import SIGNATURE

PAGE = Path(__file__).with_name("page")
# name -> (title, profile). Integers come last: they need calibration images.
FILES = {
    "dynamic": ("int8 weights", PROFILES["web"]),
    "float32": ("float32", PROFILES["float32"]),
    "int8": ("int8 throughout", dataclasses.replace(PROFILES["npu"], precision="full_uint8")),
}


def write_page(model, folder, calibration=None, title=None):
    """Writes a folder that any static web server can serve.

    It holds the page, LiteRT.js, and the model in float32, with int8 weights and, with
    `calibration`, in integers throughout. Nothing is asked of another server when it runs. Where
    the model's attention can be followed, the first two files give it beside the logits.

    Args:
        model: what `export` takes.
        folder: the folder; one that is there already must be an earlier page.
        calibration: what `export` takes; without it there is no file in integers.
        title: the page's heading; the model's name by default.

    Returns:
        The folder.

    Raises:
        ValueError: for a model that cannot be exported, or a folder with other things in it.
        OSError: if LiteRT.js is neither here nor to be had.
    """
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / "model.json").is_file():
        raise ValueError(f"`folder` must be new, empty or an earlier page. Received: {folder}.")
    with replacing(folder) as temporary:
        shutil.copytree(PAGE, temporary)
        copy_litertjs(temporary / "litert")
        grid = attention_grid(model)
        described = []
        for name, (text, profile) in FILES.items():
            if profile.calibrated and calibration is None:
                continue
            attends = grid is not None and not profile.integer
            path = temporary / f"{name}.tflite"
            profile = dataclasses.replace(profile, attention=attends)
            export(model, profile, path, calibration)
            described.append(_described(name, text, path, grid if attends else None))
        _write_description(temporary, title or model.name, model.preprocessing, described)
    return folder


def attention_grid(model):
    """Returns the (rows, columns) of the model's attention, or None if it cannot be followed."""
    try:
        block_names(model)
    except ValueError:
        return None
    return patch_grid(model.config.image_size, model.config.patch_size)


def _described(name, text, path, grid):
    """What the page must know of a file; LiteRT.js does not tell it the scale of the logits."""
    litert = require("ai_edge_litert.interpreter", extra="edge")
    runner = litert.Interpreter(str(path)).get_signature_runner(SIGNATURE)
    scale, zero_point = runner.get_output_details()["logits"]["quantization"]
    return {
        "name": name,
        "title": text,
        "path": path.name,
        "bytes": path.stat().st_size,
        "output": {"scale": float(scale), "zero_point": int(zero_point)},
        "attention": grid,
    }


def _write_description(folder, title, preprocessing, files):
    found = {"name": title, "preprocessing": dataclasses.asdict(preprocessing), "files": files}
    (folder / "model.json").write_text(json.dumps(found, ensure_ascii=False), "utf-8")
