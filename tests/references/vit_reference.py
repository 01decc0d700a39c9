"""Writes the ViT parity fixtures: all weights random, logits by timm and transformers in float64.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/vit_reference.py [--only NAME ...] [--out tests/fixtures/vit]

Every parameter is overwritten with N(0, 0.15) (norm scales with 1 + noise), because default
initialisations hide whole branches: zero class token, zero head, zero biases. Values are rounded
to float32 first and the reference then runs in float64, so that a float32 model gets exactly the
weights the reference had. All translation from foreign names and layouts to ours lives here.

A fixture holds `config` (json), `image` [b, h, w, c] float32, `weights/<path>` float32,
`block_outputs` [depth, b, n, d], `features` [b, n, d] (what the head pools over) and
`logits` [b, k] in float64; some also `cotangent` [b, k] and `gradients/<path>`.
"""

import argparse
import functools
import json
import pathlib
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_cases import CASES, GRADIENT_CASES  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "vit"
SPREAD = 0.15
BATCH = 2


@functools.cache
def import_timm():
    """Imports timm beside a CPU-only torch, whose torchvision lacks two compiled operators."""
    import torch

    operators = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import timm.layers
    import timm.models.vision_transformer

    # The operators live as long as the cache holds them.
    return timm, operators


def timm_model(config):
    """timm's VisionTransformer for our config fields."""
    import torch

    timm, _ = import_timm()
    model = timm.models.vision_transformer.VisionTransformer(
        img_size=config["image_size"],
        patch_size=config["patch_size"],
        in_chans=config["channels"],
        num_classes=config["num_classes"],
        global_pool={"gap": "avg", "gap_then_norm": "avg"}.get(
            config["pooling"], config["pooling"]
        ),
        embed_dim=config["width"],
        depth=config["depth"],
        num_heads=config["num_heads"],
        # timm truncates dim * ratio: half a unit more keeps rounding from losing one.
        mlp_ratio=(config["mlp_dim"] + 0.5) / config["width"],
        init_values=config["layer_scale"],
        class_token=config["class_token"],
        pos_embed={"learned": "learn", "none": "none"}[config["position"]],
        no_embed_class=not config["class_position"],
        reg_tokens=config["registers"],
        fc_norm=config["pooling"] == "gap_then_norm",
        norm_layer=lambda width, **keys: timm.layers.LayerNorm(
            width, eps=config["norm_epsilon"], **keys
        ),
        act_layer=config["activation"],
    )
    if config["representation_size"]:
        # timm dropped its pre-logits layer; tanh between two linear layers is all it was.
        model.head = torch.nn.Sequential(
            torch.nn.Linear(config["width"], config["representation_size"]),
            torch.nn.Tanh(),
            torch.nn.Linear(config["representation_size"], config["num_classes"]),
        )
    return model


def transformers_model(config):
    """transformers' ViTForImageClassification for our config fields."""
    import transformers

    return transformers.ViTForImageClassification(
        transformers.ViTConfig(
            hidden_size=config["width"],
            num_hidden_layers=config["depth"],
            num_attention_heads=config["num_heads"],
            intermediate_size=config["mlp_dim"],
            image_size=config["image_size"],
            patch_size=config["patch_size"],
            num_channels=config["channels"],
            num_labels=config["num_classes"],
            hidden_act=config["activation"],
            layer_norm_eps=config["norm_epsilon"],
        )
    )


def register_rows(config):
    """The rows of timm's position table that belong to registers.

    Ours has rows for class and patches only: a register's row would merge into its token.
    """
    has_rows = config["class_position"] and config["position"] == "learned"
    count = config["registers"] if has_rows else 0
    first = int(config["class_token"])
    return list(range(first, first + count))


def randomise(model, config, generator):
    """Overwrites every parameter, in float64, with values that float32 holds exactly."""
    import torch

    norms = (torch.nn.LayerNorm,)
    scales = {id(m.weight) for m in model.modules() if isinstance(m, norms)}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            value = generator.normal(0.0, SPREAD, tuple(parameter.shape))
            if id(parameter) in scales:
                value += 1.0
            if name == "pos_embed":
                value[:, register_rows(config)] = 0.0
            parameter.copy_(torch.from_numpy(value.astype("float32").astype("float64")))
    return len(scales)


def rename(state, key, path):
    """`kernel` and `bias` of a linear layer: torch keeps [out, in], we keep [in, out]."""
    return {f"{path}/kernel": state[f"{key}.weight"].T, f"{path}/bias": state[f"{key}.bias"]}


def rename_norm(state, key, path):
    return {f"{path}/gamma": state[f"{key}.weight"], f"{path}/beta": state[f"{key}.bias"]}


def split_heads(state, key, path, parts, heads):
    """A packed projection, `parts` major and then heads: [parts*H*d, D] to [D, parts, H, d]."""
    kernel, bias = state[f"{key}.weight"].T, state[f"{key}.bias"]
    shape = (heads, -1) if parts == 1 else (parts, heads, kernel.shape[1] // parts // heads)
    return {
        f"{path}/kernel": kernel.reshape(kernel.shape[0], *shape),
        f"{path}/bias": bias.reshape(shape),
    }


def projection(state, key):
    """A patch convolution OIHW as a matrix over pixels flattened as (row, column, channel)."""
    kernel = state[f"{key}.weight"]
    path = "patch_encoder/projection"
    return {
        f"{path}/kernel": kernel.transpose(2, 3, 1, 0).reshape(-1, kernel.shape[0]),
        f"{path}/bias": state[f"{key}.bias"],
    }


def from_timm(state, config):
    """timm's names and layouts to ours. Linear in `state`, so it maps gradients too."""
    heads = config["num_heads"]
    ours = projection(state, "patch_embed.proj")
    for key, path in {"cls_token": "class_token", "reg_token": "registers"}.items():
        if key in state:
            ours[f"patch_encoder/{path}"] = state[key]
    if "pos_embed" in state:
        ours["patch_encoder/position"] = np.delete(
            state["pos_embed"], register_rows(config), axis=1
        )
    for i in range(config["depth"]):
        block, path = f"blocks.{i}", f"block_{i}"
        for norm in ("norm1", "norm2"):
            ours |= rename_norm(state, f"{block}.{norm}", f"{path}/{norm}")
        ours |= split_heads(state, f"{block}.attn.qkv", f"{path}/attention/qkv", 3, heads)
        ours |= rename(state, f"{block}.attn.proj", f"{path}/attention/out")
        for layer in ("fc1", "fc2"):
            ours |= rename(state, f"{block}.mlp.{layer}", f"{path}/mlp/{layer}")
        if config["layer_scale"] is not None:
            for number in (1, 2):
                ours[f"{path}/scale{number}/gamma"] = state[f"{block}.ls{number}.gamma"]
    norm = "fc_norm" if config["pooling"] == "gap_then_norm" else "norm"
    return ours | rename_norm(state, norm, "norm") | timm_head(state, config)


def timm_head(state, config):
    ours = {}
    if config["pooling"] == "map":
        heads = config["num_heads"]
        ours["pool/probe"] = state["attn_pool.latent"]
        ours |= split_heads(state, "attn_pool.q", "pool/attention/query", 1, heads)
        ours |= split_heads(state, "attn_pool.kv", "pool/attention/key_value", 2, heads)
        ours |= rename(state, "attn_pool.proj", "pool/attention/out")
        ours |= rename_norm(state, "attn_pool.norm", "pool/norm")
        for layer in ("fc1", "fc2"):
            ours |= rename(state, f"attn_pool.mlp.{layer}", f"pool/mlp/{layer}")
    if config["representation_size"]:
        return ours | rename(state, "head.0", "representation") | rename(state, "head.2", "head")
    return ours | rename(state, "head", "head")


def from_transformers(state, config):
    """transformers 5.24's names and layouts to ours; linear in `state`."""
    embeddings = "vit.embeddings"
    ours = projection(state, f"{embeddings}.patch_embeddings.projection")
    ours["patch_encoder/class_token"] = state[f"{embeddings}.cls_token"]
    ours["patch_encoder/position"] = state[f"{embeddings}.position_embeddings"]
    for i in range(config["depth"]):
        layer, path = f"vit.layers.{i}", f"block_{i}"
        ours |= rename_norm(state, f"{layer}.layernorm_before", f"{path}/norm1")
        ours |= rename_norm(state, f"{layer}.layernorm_after", f"{path}/norm2")
        packed = {
            f"qkv.{kind}": np.concatenate(
                [state[f"{layer}.attention.{part}_proj.{kind}"] for part in "qkv"]
            )
            for kind in ("weight", "bias")
        }
        ours |= split_heads(packed, "qkv", f"{path}/attention/qkv", 3, config["num_heads"])
        ours |= rename(state, f"{layer}.attention.o_proj", f"{path}/attention/out")
        for name in ("fc1", "fc2"):
            ours |= rename(state, f"{layer}.mlp.{name}", f"{path}/mlp/{name}")
    ours |= rename_norm(state, "vit.layernorm", "norm")
    return ours | rename(state, "classifier", "head")


# package -> (model maker, its blocks, its last layer over tokens, weight translation)
PACKAGES = {
    "timm": (timm_model, lambda m: m.blocks, lambda m: m.norm, from_timm),
    "transformers": (
        transformers_model,
        lambda m: m.vit.layers,
        lambda m: m.vit.layernorm,
        from_transformers,
    ),
}


def record(layers):
    """Keeps what each layer puts out, in call order."""
    outputs = []
    for layer in layers:
        layer.register_forward_hook(
            lambda _, __, out: outputs.append(out[0] if isinstance(out, tuple) else out)
        )
    return outputs


def check_complete(name, config, theirs, ours):
    """No value of the reference may be left behind, but for register rows of the positions."""
    dropped = len(register_rows(config)) * config["width"]
    found, wanted = (sum(value.size for value in arrays.values()) for arrays in (ours, theirs))
    if found + dropped != wanted:
        raise RuntimeError(f"{name}: {wanted} reference values, {found} translated.")


def fixture(name, config):
    """All arrays of one fixture."""
    import torch

    build, blocks_of, norm_of, translate = PACKAGES[name.split("_")[0]]
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    model = build(config).double().eval()
    if not randomise(model, config, generator):
        raise RuntimeError(f"No layer norm found in the reference of {name}.")
    image = generator.normal(size=(BATCH, *config["image_size"], config["channels"]))
    image = image.astype("float32")
    blocks, tokens = record(blocks_of(model)), record([norm_of(model)])
    logits = model(torch.from_numpy(image.transpose(0, 3, 1, 2).astype("float64")))
    logits = getattr(logits, "logits", logits)
    arrays = {
        "config": np.array(json.dumps(config)),
        "image": image,
        "block_outputs": np.stack([block.detach().numpy() for block in blocks]),
        "features": tokens[0].detach().numpy(),
        "logits": logits.detach().numpy(),
    }
    state = {key: value.detach().numpy() for key, value in model.named_parameters()}
    weights = translate(state, config)
    check_complete(name, config, state, weights)
    for path, value in weights.items():
        arrays[f"weights/{path}"] = value.astype("float32")
    if name in GRADIENT_CASES:
        arrays["cotangent"] = generator.normal(size=logits.shape)
        (logits * torch.from_numpy(arrays["cotangent"])).sum().backward()
        state = {key: value.grad.numpy() for key, value in model.named_parameters()}
        for path, value in translate(state, config).items():
            arrays[f"gradients/{path}"] = value.astype("float32")
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURES)
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    arguments = parser.parse_args()
    for name in arguments.only:
        if arguments.list:
            print(name)
            continue
        path = arguments.out / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **fixture(name, CASES[name]))
        print(f"{path.name:48s} {path.stat().st_size / 1000:6.1f} kB")


if __name__ == "__main__":
    main()
