"""Writes the micro-checkpoints of `weights_cases.py` as the other codes write them, with outputs.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/weights_reference.py [--only NAME ...] [--out tests/fixtures/weights]

A fixture is a folder: the file, or files, as the other code writes them, and `expected.npz` with
`images_HxW` [b, h, w, c] float32 and `outputs_HxW` float64: logits, or the class token after the
final norm where the model has no head.
"""

import argparse
import pathlib
import shutil
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.folders import make_folders  # noqa: E402
from tests.references.vit_reference import import_timm, randomise  # noqa: E402
from tests.references.weights_cases import CASES, NATIVE, SWINS  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "weights"
NO_REGISTERS = {"class_position": False, "position": "learned", "registers": 0, "class_token": 1}


def build(case, size=None):
    """The reference model, in float64 and evaluation mode."""
    import_timm()
    if case["package"] == "transformers":
        import transformers

        model_class = getattr(transformers, case["class"])
        return model_class(model_class.config_class(**case["arguments"])).double().eval()
    return timm_model(case, size).double().eval()


def timm_model(case, size):
    timm, _ = import_timm()
    from timm.models.deit import VisionTransformerDistilled

    arguments = dict(case["arguments"])
    if size is not None:
        arguments["img_size"] = size
    if arguments.pop("mlp", None) == "swiglu":
        import torch

        arguments |= {"mlp_layer": timm.layers.SwiGLUPacked, "act_layer": torch.nn.SiLU}
    if case["class"] == "VisionTransformerDistilled":
        return VisionTransformerDistilled(**arguments)
    return timm.models.vision_transformer.VisionTransformer(**arguments)


def outputs(model, case, images):
    import torch

    x = torch.from_numpy(images.transpose(0, 3, 1, 2).astype("float64"))
    with torch.no_grad():
        if case["package"] == "timm":
            return np.array(model(x))
        resizes = "Dinov2" not in case["class"] and images.shape[1:3] != NATIVE
        found = model(x, **({"interpolate_pos_encoding": True} if resizes else {}))
    return np.array(found.logits if "logits" in found else found.last_hidden_state[:, 0])


def resized(model, case, size):
    """The reference model at another image size: timm resamples when it loads."""
    if case["package"] == "transformers" or size == NATIVE:
        return model
    timm, _ = import_timm()
    other = build(case, size)
    state = timm.models.vision_transformer.checkpoint_filter_fn(
        dict(model.state_dict()), other, antialias=case.get("antialias", True)
    )
    other.load_state_dict(state)
    return other


def write(model, case, folder):
    import torch
    from safetensors.torch import save_file

    model = model.float()
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    kind = case["file"]
    if kind in ("folder", "shards"):
        model.save_pretrained(folder, max_shard_size="20KB" if kind == "shards" else "5GB")
    elif kind in ("state", "safetensors"):
        save_file(state, folder / "model.safetensors", {"format": "pt"})
    elif kind == "pth":
        # What DeiT's training code keeps beside the weights.
        torch.save(
            {"model": state, "epoch": 3, "args": argparse.Namespace(lr=0.1)}, folder / "w.pth"
        )
    elif kind == "pth_gamma":
        renamed = {
            name.replace("ls1.gamma", "gamma_1").replace("ls2.gamma", "gamma_2"): value
            for name, value in state.items()
        }
        torch.save({"model": renamed}, folder / "w.pth")
    elif kind == "pth_mae":
        more = {"mask_token": torch.zeros(1, 1, 8), "decoder_embed.weight": torch.zeros(8, 24)}
        torch.save({"model": state | more}, folder / "w.pth")


def make(name, out):
    case, folder = {**CASES, **SWINS}[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    model = build(case)
    randomise(model, NO_REGISTERS, generator)
    arrays = {}
    for size in (NATIVE, *case["sizes"]):
        images = generator.normal(size=(2, *size, 3)).astype("float32")
        key = f"{size[0]}x{size[1]}"
        arrays[f"images_{key}"] = images
        arrays[f"outputs_{key}"] = outputs(resized(model, case, size), case, images)
    np.savez(folder / "expected.npz", **arrays)
    write(model, case, folder)


if __name__ == "__main__":
    make_folders(make, {**CASES, **SWINS}, FIXTURES, __doc__.splitlines()[0])
