"""Where weights come from, and the conventions that no array in a file tells.

A source is a naming (`tables`) together with what its code does: epsilon, GELU, preprocessing,
how it resizes positions. Two sources may share a naming: DeiT's files are spelled like timm's, but
want ImageNet's mean and std.
"""

import dataclasses
from types import MappingProxyType

from keras_vit.weights.tables import (
    clip,
    coatnet_timm,
    dynamic_vit,
    hybrid_timm,
    mae,
    swin_hf,
    swin_timm,
    timesformer,
    vit_hf,
    vit_jax,
    vit_timm,
)

HALF = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
CLIP = MappingProxyType(
    {
        "mean": (0.48145466, 0.4578275, 0.40821073),
        "std": (0.26862954, 0.26130258, 0.27577711),
        "resize": "crop",
        "crop": 1.0,
        "interpolation": "bicubic",
    }
)
VIDEO = MappingProxyType(
    {
        "mean": (0.45,) * 3,
        "std": (0.225,) * 3,
        "resize": "crop",
        "crop": 1.0,
        "interpolation": "bilinear",
    }
)
CLIP_FILES = (".safetensors", ".bin", ".pt")
# Resize the short side to 256, cut 224 out of the middle.
CROP_224_OF_256 = {"resize": "crop", "crop": 0.875, "interpolation": "bicubic"}


@dataclasses.dataclass(frozen=True)
class Source:
    """One code that publishes weights.

    Args:
        tables: its names and layouts, by the name of our model class.
        activation, norm_epsilon: as in the model's config.
        preprocessing: fields of `Preprocessing` at inference.
        position_resize: how it resizes position tables, one of `RESIZES`.
        position: what positions are when the file holds no table; None where every file has a
            table and a class token.
        patch_resize: how patch kernels are resized, one of `RESIZES`.
        files: the endings that its files have.
    """

    tables: MappingProxyType
    activation: str
    norm_epsilon: float
    preprocessing: MappingProxyType
    position_resize: str
    position: str | None = None
    patch_resize: str = "bicubic_antialias"
    files: tuple = (".safetensors", ".pth", ".pt")


def _jax(position):
    return Source(
        MappingProxyType({"ViT": vit_jax.TABLE}),
        "gelu_tanh",  # flax.linen.gelu's default
        1e-6,
        MappingProxyType({**HALF, "interpolation": "bilinear"}),
        "jax",
        position,
        # FlexiViT resizes by jax.image.resize, which antialiases.
        "bilinear_antialias",
        (".npz",),
    )


def _timm(preprocessing, position_resize, position=None, more=MappingProxyType({})):
    tables = {"ViT": vit_timm.TABLE, "DeiT": vit_timm.DISTILLED, **more}
    return Source(
        MappingProxyType(tables),
        "gelu",
        1e-6,
        MappingProxyType(preprocessing),
        position_resize,
        position,
    )


def _family(name, table, preprocessing, norm_epsilon, table_resize):
    """A family beside the ViT, under timm's names."""
    return Source(
        MappingProxyType({name: table}),
        "gelu",
        norm_epsilon,
        MappingProxyType({"resize": "crop", "interpolation": "bicubic", **preprocessing}),
        table_resize,
        "none",
    )


def _hf(tables, norm_epsilon, preprocessing, position_resize="bicubic"):
    return Source(
        MappingProxyType(tables),
        "gelu",
        norm_epsilon,
        MappingProxyType(preprocessing),
        position_resize,
        files=(".safetensors", ".json"),
    )


def _clip(table, activation, position_resize, files):
    tables = MappingProxyType({"CLIP": table})
    return Source(tables, activation, 1e-5, CLIP, position_resize, files=files)


# vit_jax adds its table to class token and patches, big_vision its own to the patches only. The
# file tells which; what it cannot tell is that big_vision's files without a table use sincos2d.
SOURCES = {
    "jax": _jax(None),
    "big_vision": _jax("sincos2d"),
    "timm": _timm(
        {**HALF, "resize": "crop", "crop": 0.9, "interpolation": "bicubic"},
        "bicubic_antialias",
        "none",
    ),
    "deit": _timm({**IMAGENET, **CROP_224_OF_256}, "bicubic"),
    "deit3": _timm(
        {**IMAGENET, "resize": "crop", "crop": 1.0, "interpolation": "bicubic"}, "bicubic"
    ),
    "dinov2": _timm({**IMAGENET, **CROP_224_OF_256}, "bicubic_offset"),
    "dinov2_reg": _timm({**IMAGENET, **CROP_224_OF_256}, "bicubic_antialias"),
    "mae": _timm({**IMAGENET, **CROP_224_OF_256}, "bicubic", more={"MAE": mae.OFFICIAL}),
    # transformers' ViT squashes pictures to the model's size.
    "hf_vit": _hf({"ViT": vit_hf.VIT}, 1e-12, {**HALF, "interpolation": "bilinear"}),
    "hf_deit": _hf(
        {"ViT": vit_hf.VIT, "DeiT": vit_hf.DISTILLED}, 1e-12, {**IMAGENET, **CROP_224_OF_256}
    ),
    "hf_dinov2": _hf({"ViT": vit_hf.DINOV2}, 1e-6, {**IMAGENET, **CROP_224_OF_256}),
    "hf_dinov2_reg": _hf(
        {"ViT": vit_hf.DINOV2}, 1e-6, {**IMAGENET, **CROP_224_OF_256}, "bicubic_antialias"
    ),
    "hf_mae": _hf({"MAE": mae.TRANSFORMERS}, 1e-12, {**IMAGENET, **CROP_224_OF_256}),
    # OpenAI's own weights have the quick GELU, under each of their names; most of OpenCLIP's the
    # exact one, which its configuration tells.
    "hf_clip": _clip(clip.TRANSFORMERS, "quick_gelu", "bicubic", (".safetensors", ".json")),
    "openai_clip": _clip(clip.OPEN_CLIP, "quick_gelu", "bicubic_antialias", CLIP_FILES),
    "open_clip": _clip(clip.OPEN_CLIP, "gelu", "bicubic_antialias", CLIP_FILES),
    "timm_hybrid": _family(
        "Hybrid", hybrid_timm.TABLE, {**HALF, "crop": 0.9}, 1e-6, "bicubic_antialias"
    ),
    "timm_coatnet": _family(
        "CoAtNet", coatnet_timm.TABLE, {**HALF, "crop": 0.95}, 1e-6, "geometric"
    ),
    "timm_swin": _family("Swin", swin_timm.TABLE, {**IMAGENET, "crop": 0.9}, 1e-5, "geometric"),
    "dynamicvit": Source(
        MappingProxyType({"DynamicViT": dynamic_vit.TABLE}),
        "gelu",
        1e-6,
        MappingProxyType({**IMAGENET, **CROP_224_OF_256}),
        "bicubic",
    ),
    # transformers squashes pictures, by the cubic filter.
    "hf_swin": Source(
        MappingProxyType({"Swin": swin_hf.TABLE}),
        "gelu",
        1e-5,
        MappingProxyType({**IMAGENET, "interpolation": "bicubic"}),
        "bicubic",
        "none",
        files=(".safetensors", ".json"),
    ),
    # The authors' own files.
    "timesformer": Source(
        MappingProxyType({"TimeSformer": timesformer.TABLE}),
        "gelu",
        1e-6,
        VIDEO,
        "nearest",
        files=(".pyth",),
    ),
    "hf_timesformer": _hf({"TimeSformer": timesformer.TABLE}, 1e-6, VIDEO, "nearest"),
    "swin": _family("Swin", swin_timm.TABLE, {**IMAGENET, "crop": 0.9}, 1e-5, "bicubic"),
}


def table_of(source_name, model_class):
    """The names that a source has for a model class, or for the one it derives from.

    Raises:
        ValueError: if it has none.
    """
    tables = SOURCES[source_name].tables
    for base in model_class.__mro__:
        if base.__name__ in tables:
            return tables[base.__name__]
    raise ValueError(f"The format {source_name!r} knows no weights of {model_class.__name__}.")


def source_named(name):
    """Returns the source called `name`.

    Raises:
        ValueError: if there is none; the error lists them.
    """
    if name not in SOURCES:
        raise ValueError(f"`format` must be one of {', '.join(SOURCES)}. Received: {name!r}.")
    return SOURCES[name]
