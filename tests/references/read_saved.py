"""Loads what `keras_vit.weights.save` wrote in the package it was written for, and runs it.

    python tests/references/read_saved.py FOLDER ...

Each FOLDER holds `model/` (as a hub has it) and `images.npy` [b, h, w, c]; `outputs.npy` is
written beside them, in float64: logits, or the class token where there is no head.
"""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402


def read(folder):
    """The other package's model."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    timm, _ = import_timm()
    if "architecture" in config:
        return timm.create_model(f"local-dir:{folder}", pretrained=True)
    import transformers

    model, loaded = getattr(transformers, config["architectures"][0]).from_pretrained(
        folder, output_loading_info=True
    )
    left = {kind: names for kind, names in loaded.items() if names}
    # transformers gives backbones a pooler, and DINOv2 a token for masked training.
    assert all(
        "pooler" in name or "mask_token" in name for names in left.values() for name in names
    )
    return model


def run(folder):
    """Writes the outputs of one folder."""
    import torch

    model = read(folder / "model").double().eval()
    images = np.load(folder / "images.npy").astype("float64").transpose(0, 3, 1, 2)
    with torch.no_grad():
        found = model(torch.from_numpy(images))
    if isinstance(found, dict):
        found = found["logits"] if "logits" in found else found["last_hidden_state"][:, 0]
    np.save(folder / "outputs.npy", np.array(found))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(pathlib.Path(name))
