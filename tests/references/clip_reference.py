"""Writes the fixtures of `clip_cases.py`: files of transformers and OpenCLIP, and their outputs.

Run in the environment of `tests/references/requirements.txt`, with open_clip_torch and ftfy:

    python tests/references/clip_reference.py [--only NAME ...] [--out tests/fixtures/clip]

Every parameter is overwritten with N(0, 0.3) (scales of norms with 1 + noise) that float32 holds
exactly, and the reference runs in float64. A fixture is a folder: the weights in the reference's
own files, and `expected.npz` with `texts`, and for each size `images_HxW` [b, h, w, c] float32,
`embeddings_HxW` [b, e] of length one, `text_embeddings`, and `logits_HxW` [b, b].
"""

import json
import pathlib
import shutil
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.clip_cases import CASES  # noqa: E402
from tests.references.folders import make_folders  # noqa: E402
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "clip"
BATCH, SPREAD = 3, 0.3


def transformers_clip(case, size):
    import_timm()  # what it does for torchvision, transformers needs, too
    import transformers

    config = case["config"]
    shared = {
        "hidden_act": config.get("activation", "quick_gelu"),
        "layer_norm_eps": config.get("norm_epsilon", 1e-5),
    }
    text = {
        "hidden_size": config["text_width"],
        "intermediate_size": config["text_mlp_dim"],
        "num_hidden_layers": config["text_depth"],
        "num_attention_heads": config["text_num_heads"],
        "vocab_size": config["vocabulary_size"],
        "max_position_embeddings": config["context_length"],
        "bos_token_id": config["vocabulary_size"] - 2,
        "eos_token_id": config["vocabulary_size"] - 1,
        "pad_token_id": 0,
    }
    vision = {
        "hidden_size": config["width"],
        "intermediate_size": config["mlp_dim"],
        "num_hidden_layers": config["depth"],
        "num_attention_heads": config["num_heads"],
        "patch_size": config["patch_size"],
        "image_size": size[0],
    }
    clip = transformers.CLIPConfig(
        text_config={**text, **shared},
        vision_config={**vision, **shared},
        projection_dim=config["embedding_dim"],
    )
    return transformers.CLIPModel(clip)


def open_clip_config(case, size):
    config = case["config"]
    return {
        "embed_dim": config["embedding_dim"],
        "quick_gelu": config["activation"] == "quick_gelu",
        "init_logit_bias": config.get("logit_bias"),
        "vision_cfg": {
            "image_size": size,
            "layers": config["depth"],
            "width": config["width"],
            "head_width": config["width"] // config["num_heads"],
            "mlp_ratio": config["mlp_dim"] / config["width"],
            "patch_size": config["patch_size"],
        },
        "text_cfg": {
            "context_length": config["context_length"],
            "vocab_size": config["vocabulary_size"],
            "width": config["text_width"],
            "heads": config["text_num_heads"],
            "layers": config["text_depth"],
            "mlp_ratio": config["text_mlp_dim"] / config["text_width"],
        },
    }


def open_clip(case, size):
    import_timm()
    from open_clip.model import CLIP

    return CLIP(**open_clip_config(case, size))


BUILD = {"transformers": transformers_clip, "open_clip": open_clip}


def randomise(model, generator):
    import torch

    scales = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.LayerNorm)}
    with torch.no_grad():
        for parameter in model.parameters():
            value = generator.normal(id(parameter) in scales, SPREAD, tuple(parameter.shape))
            value = np.asarray(value, "float32").astype("float64")
            parameter.copy_(torch.from_numpy(value))
    if not scales:
        raise RuntimeError("No norm found in the reference.")


def outputs(case, model, images, texts):
    """(image embeddings, text embeddings, logits), the embeddings of length one."""
    import torch

    pixels = torch.from_numpy(images.transpose(0, 3, 1, 2).astype("float64"))
    ids = torch.from_numpy(texts.astype("int64"))
    with torch.no_grad():
        if case["kind"] == "transformers":
            found = model(ids, pixels, interpolate_pos_encoding=images.shape[1:3] != case["size"])
            return found.image_embeds, found.text_embeds, found.logits_per_image
        image, text = model.encode_image(pixels, True), model.encode_text(ids, True)
        logits = model.logit_scale.exp() * image @ text.T
        return image, text, logits if model.logit_bias is None else logits + model.logit_bias


def at_size(case, model, size):
    """The model for images of another size, with its positions resized."""
    if case["kind"] == "transformers":
        return model
    from open_clip.model import resize_pos_embed

    other = open_clip(case, size).double().eval()
    state = dict(model.state_dict())
    resize_pos_embed(state, other)
    other.load_state_dict(state)
    return other


def texts_of(case, generator):
    """Texts of several lengths between their marks, then zeros."""
    size, length = case["config"]["vocabulary_size"], case["config"]["context_length"]
    texts = np.zeros((BATCH, length), "int32")
    for row, count in zip(texts, (0, 3, length - 2), strict=True):
        row[: count + 2] = [size - 2, *generator.integers(0, size - 2, count), size - 1]
    return texts


def write(case, model, folder):
    import torch

    if case["kind"] == "transformers":
        model.float().save_pretrained(folder)
        return
    state = {name: value.float() for name, value in model.state_dict().items()}
    torch.save(state, folder / "open_clip_pytorch_model.bin")
    content = {"model_cfg": open_clip_config(case, case["size"]), "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(content, indent=2))


def make(name, out):
    case, folder = CASES[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    model = BUILD[case["kind"]](case, case["size"]).double().eval()
    randomise(model, generator)
    texts = texts_of(case, generator)
    arrays = {"texts": texts}
    for size in filter(None, (case["size"], case["other"])):
        key = "{}x{}".format(*size)
        images = generator.normal(size=(BATCH, *size, 3)).astype("float32")
        sized = model if size == case["size"] else at_size(case, model, size)
        image, text, logits = (x.numpy() for x in outputs(case, sized, images, texts))
        arrays |= {f"images_{key}": images, f"embeddings_{key}": image, f"logits_{key}": logits}
        arrays["text_embeddings"] = text
    np.savez_compressed(folder / "expected.npz", **arrays)
    write(case, model, folder)


if __name__ == "__main__":
    make_folders(make, CASES, FIXTURES, __doc__.splitlines()[0])
