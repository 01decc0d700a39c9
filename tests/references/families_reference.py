"""Writes the fixtures of `families_cases.py`: timm's files of weights, and what timm computes.

Run in the environment of `tests/references/requirements.txt`, never in the package's own:

    python tests/references/families_reference.py [--only NAME ...] [--out tests/fixtures/families]

Every parameter is overwritten with N(0, 0.15) (scales of norms with 1 + noise, variances of batch
norms with values from 0.5 to 1.5) that float32 holds exactly, and the reference runs in float64. A
fixture is a folder: `model.safetensors` under their names, and `expected.npz` with `images_HxW`
[b, h, w, c] or [b, t, h, w, c] float32, `logits_HxW` float64 and, at the model's own size, the map
of each stage, `stage_i` [b, h, w, c] float32.
"""

import functools
import pathlib
import shutil
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.families_cases import CASES  # noqa: E402
from tests.references.folders import make_folders  # noqa: E402
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "families"
BATCH, SPREAD = 2, 0.15


def swin(case, size):
    import_timm()
    from timm.models.swin_transformer import SwinTransformer

    return SwinTransformer(img_size=size, **case["arguments"])


def swin_transformers(case, size):
    import transformers

    given = dict(case["arguments"])
    given["num_labels"] = given.pop("num_classes")
    config = transformers.SwinConfig(image_size=size, **given)
    return transformers.SwinForImageClassification(config)


def coatnet(case, size):
    import_timm()
    from timm.models.maxxvit import MaxxVit, MaxxVitCfg, MaxxVitConvCfg, MaxxVitTransformerCfg

    transformer = MaxxVitTransformerCfg(dim_head=7, **case.get("transformer", {}))
    conv = MaxxVitConvCfg(**case.get("conv", {}))
    config = MaxxVitCfg(transformer_cfg=transformer, conv_cfg=conv, **case["arguments"])
    return MaxxVit(config, img_size=size, num_classes=case.get("classes", 7))


def hybrid(case, size):
    import_timm()
    from timm.layers import HybridEmbed, StdConv2dSame
    from timm.models.resnetv2 import ResNetV2, create_resnetv2_stem
    from timm.models.vision_transformer import VisionTransformer

    conv = functools.partial(StdConv2dSame, eps=1e-8)
    options = {"stem_type": "same", "preact": False, "conv_layer": conv}
    if case["units"]:
        channels = [128 * 2**stage for stage in range(len(case["units"]))]
        backbone = ResNetV2(
            case["units"], channels, num_classes=0, global_pool="", stem_chs=32, **options
        )
    else:
        backbone = create_resnetv2_stem(3, 32, **options)
    embed = functools.partial(HybridEmbed, backbone=backbone)
    return VisionTransformer(
        img_size=size, patch_size=case["patch"], embed_layer=embed, **case["arguments"]
    )


def timesformer(case, size):
    import_timm()  # what it does for torchvision, transformers needs, too
    import transformers

    height, width = size
    if height != width:
        raise ValueError("transformers' TimeSformer is made for squares; others it resizes for.")
    config = transformers.TimesformerConfig(image_size=height, **case["arguments"])
    model = transformers.TimesformerForVideoClassification(config)
    if config.attention_type == "space_only":
        # The authors average the tokens over time before the last norm; transformers forgets to.
        model.timesformer.layernorm.register_forward_pre_hook(
            lambda _, given: given[0].unflatten(0, (-1, config.num_frames)).mean(dim=1)
        )
    return model


BUILD = {
    "timesformer": timesformer,
    "swin": swin,
    "swin_transformers": swin_transformers,
    "coatnet": coatnet,
    "hybrid": hybrid,
}


def stages(case, model):
    """The layers whose outputs are the maps of the stages, and whether those are NCHW."""
    if case["kind"] == "swin":
        return model.layers, False
    if case["kind"] == "coatnet":
        return model.stages, True
    if case["kind"] == "hybrid" and case["units"]:
        return model.patch_embed.backbone.stages, True
    return [], False


def filtered(case, state, other):
    """timm's own preparation of a file for another size."""
    import timm.models.maxxvit
    import timm.models.swin_transformer
    import timm.models.vision_transformer

    module = {
        "swin": timm.models.swin_transformer,
        "coatnet": timm.models.maxxvit,
        "hybrid": timm.models.vision_transformer,
    }[case["kind"]]
    return module.checkpoint_filter_fn(dict(state), other)


def randomise(model, generator):
    """Overwrites every parameter and statistic with values that float32 holds exactly."""
    import torch

    norms = (torch.nn.LayerNorm, torch.nn.GroupNorm, torch.nn.BatchNorm2d)
    scales = {id(m.weight) for m in model.modules() if isinstance(m, norms)}
    with torch.no_grad():
        for parameter in model.parameters():
            value = generator.normal(id(parameter) in scales, SPREAD, tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(value.astype("float32").astype("float64")))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                value = generator.normal(0.0, SPREAD, tuple(buffer.shape))
            elif name.endswith("running_var"):
                value = generator.uniform(0.5, 1.5, tuple(buffer.shape))
            else:
                continue
            buffer.copy_(torch.from_numpy(value.astype("float32").astype("float64")))
    return len(scales)


def timm_names(state):
    """The weights of transformers' Swin under timm's names."""
    words = (
        ("swin.embeddings.patch_embeddings.projection", "patch_embed.proj"),
        ("swin.embeddings.norm", "patch_embed.norm"),
        ("swin.encoder.", ""),
        ("swin.layernorm", "norm"),
        ("classifier", "head.fc"),
        ("layernorm_before", "norm1"),
        ("layernorm_after", "norm2"),
        ("attention.relative_position_bias.", "attn."),
        ("attention.o_proj", "attn.proj"),
    )
    named = {}
    for name, value in state.items():
        if name.endswith("relative_position_index") or "_proj" in name and "o_proj" not in name:
            continue
        for theirs, timms in words:
            name = name.replace(theirs, timms)
        parts = name.split(".")
        if "downsample" in parts:
            parts[1] = str(int(parts[1]) + 1)
        named[".".join(parts)] = value
    for name in state:
        if ".q_proj." in name:
            packed = np.concatenate([state[name.replace("q_proj", f"{p}_proj")] for p in "qkv"])
            start, kind = name.removeprefix("swin.encoder.").split("attention.q_proj.")
            named[f"{start}attn.qkv.{kind}"] = packed
    return named


def run(model, images):
    import torch

    x = torch.from_numpy(np.moveaxis(images, -1, -3).astype("float64"))
    with torch.no_grad():
        found = model(x)
    return np.array(getattr(found, "logits", found))


def recorded(case, model):
    """Lists that the maps of the stages are put into as they are computed."""
    found = []
    layers, channels_first = stages(case, model)
    for layer in layers:
        layer.register_forward_hook(lambda _, __, out: found.append(out.detach().numpy()))
    return found, channels_first


def make(name, out):
    from safetensors.numpy import save_file

    case, folder = CASES[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    model = BUILD[case["kind"]](case, case["size"]).double().eval()
    if not randomise(model, generator):
        raise RuntimeError(f"No norm found in the reference of {name}.")
    arrays = {}
    for size in (case["size"], *case["sizes"]):
        shape = (BATCH, *case.get("frames", ()), *size, 3)
        images = generator.normal(size=shape).astype("float32")
        key, found = f"{size[0]}x{size[1]}", []
        arrays[f"images_{key}"] = images
        if size == case["size"]:
            found, channels_first = recorded(case, model)
            arrays[f"logits_{key}"] = run(model, images)
            for index, stage in enumerate(found):
                stage = stage.transpose(0, 2, 3, 1) if channels_first else stage
                arrays[f"stage_{index}"] = stage.astype("float32")
        elif case["kind"] == "timesformer":  # it resizes as it runs
            arrays[f"logits_{key}"] = run(model, images)
        else:
            other = BUILD[case["kind"]](case, size).double().eval()
            other.load_state_dict(filtered(case, model.state_dict(), other))
            arrays[f"logits_{key}"] = run(other, images)
    np.savez_compressed(folder / "expected.npz", **arrays)
    state = {key: value.numpy() for key, value in model.state_dict().items()}
    state = timm_names(state) if case["kind"] == "swin_transformers" else state
    state = {key: np.ascontiguousarray(value) for key, value in state.items()}
    floats = {k: v.astype("float32") if v.dtype.kind == "f" else v for k, v in state.items()}
    save_file(floats, folder / "model.safetensors", {"format": "pt"})


if __name__ == "__main__":
    make_folders(make, CASES, FIXTURES, __doc__.splitlines()[0])
