import keras
import pytest

from keras_vit.layers import ACTIVATIONS, Preprocessing
from keras_vit.models import DeiT, DINOv2, ViT
from keras_vit.weights.resample import OFFSET_RESIZES, RESIZES
from keras_vit.weights.sources import SOURCES, source_named, table_of
from keras_vit.weights.tables import vit_hf, vit_jax, vit_timm

HALF, IMAGENET, VIDEO = (0.5, 0.5, 0.5), (0.485, 0.456, 0.406), (0.45, 0.45, 0.45)
CLIP = (0.48145466, 0.4578275, 0.40821073)
STDS = {HALF: HALF, IMAGENET: (0.229, 0.224, 0.225), VIDEO: (0.225, 0.225, 0.225)}
STDS[CLIP] = (0.26862954, 0.26130258, 0.27577711)
# Name -> activation, norm_epsilon, mean, (resize, crop, interpolation), how positions are resized.
CONVENTIONS = {
    "jax": ("gelu_tanh", 1e-6, HALF, ("squash", 1.0, "bilinear"), "jax"),
    "big_vision": ("gelu_tanh", 1e-6, HALF, ("squash", 1.0, "bilinear"), "jax"),
    "timm": ("gelu", 1e-6, HALF, ("crop", 0.9, "bicubic"), "bicubic_antialias"),
    "deit": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "deit3": ("gelu", 1e-6, IMAGENET, ("crop", 1.0, "bicubic"), "bicubic"),
    "dinov2": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic_offset"),
    "dinov2_reg": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic_antialias"),
    "mae": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "hf_vit": ("gelu", 1e-12, HALF, ("squash", 1.0, "bilinear"), "bicubic"),
    "hf_deit": ("gelu", 1e-12, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "hf_dinov2": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "hf_dinov2_reg": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic_antialias"),
    "hf_mae": ("gelu", 1e-12, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "hf_clip": ("quick_gelu", 1e-5, CLIP, ("crop", 1.0, "bicubic"), "bicubic"),
    "openai_clip": ("quick_gelu", 1e-5, CLIP, ("crop", 1.0, "bicubic"), "bicubic_antialias"),
    "open_clip": ("gelu", 1e-5, CLIP, ("crop", 1.0, "bicubic"), "bicubic_antialias"),
    "timm_hybrid": ("gelu", 1e-6, HALF, ("crop", 0.9, "bicubic"), "bicubic_antialias"),
    "timm_coatnet": ("gelu", 1e-6, HALF, ("crop", 0.95, "bicubic"), "geometric"),
    "timm_swin": ("gelu", 1e-5, IMAGENET, ("crop", 0.9, "bicubic"), "geometric"),
    "dynamicvit": ("gelu", 1e-6, IMAGENET, ("crop", 0.875, "bicubic"), "bicubic"),
    "hf_swin": ("gelu", 1e-5, IMAGENET, ("squash", 1.0, "bicubic"), "bicubic"),
    "timesformer": ("gelu", 1e-6, VIDEO, ("crop", 1.0, "bilinear"), "nearest"),
    "hf_timesformer": ("gelu", 1e-6, VIDEO, ("crop", 1.0, "bilinear"), "nearest"),
    "swin": ("gelu", 1e-5, IMAGENET, ("crop", 0.9, "bicubic"), "bicubic"),
}
TORCH_FILES, HF_FILES = (".safetensors", ".pth", ".pt"), (".safetensors", ".json")


def test_every_source_has_its_row():
    assert set(SOURCES) == set(CONVENTIONS)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_conventions_of_each_code(name):
    source = SOURCES[name]
    activation, epsilon, mean, (resize, crop, interpolation), position_resize = CONVENTIONS[name]
    assert source.activation == activation and activation in ACTIVATIONS
    assert source.norm_epsilon == epsilon
    assert source.position_resize == position_resize and position_resize in OFFSET_RESIZES
    # What a source leaves out is the default of `Preprocessing`.
    found = Preprocessing(**source.preprocessing)
    assert found.mean == mean
    assert found.std == STDS[mean]
    assert (found.resize, found.interpolation) == (resize, interpolation)
    if resize == "crop":
        assert found.crop == crop


@pytest.mark.parametrize("name", CONVENTIONS)
def test_patches_files_and_positions_of_each_code(name):
    source, is_jax = SOURCES[name], name in ("jax", "big_vision")
    # FlexiViT's own resize is JAX's; timm's patch resize is bicubic. Both antialias.
    assert source.patch_resize == ("bilinear_antialias" if is_jax else "bicubic_antialias")
    assert source.patch_resize in RESIZES
    files = (".npz",) if is_jax else HF_FILES if name.startswith("hf_") else TORCH_FILES
    others = {
        "timesformer": (".pyth",),
        **dict.fromkeys(("openai_clip", "open_clip"), (".safetensors", ".bin", ".pt")),
    }
    assert source.files == others.get(name, files)
    # None: every file has a table. big_vision's without one are sincos2d, timm's have none.
    without = "none" if name.startswith("timm") or name in ("swin", "hf_swin") else None
    assert source.position == {"big_vision": "sincos2d"}.get(name, without)


def test_sources_cannot_be_altered():
    with pytest.raises(TypeError):
        SOURCES["jax"].preprocessing["mean"] = IMAGENET
    with pytest.raises(TypeError):
        SOURCES["jax"].tables["ViT"] = vit_timm.TABLE


def test_a_source_by_name():
    assert source_named("mae") is SOURCES["mae"]
    with pytest.raises(ValueError) as caught:
        source_named("torch")
    names = ", ".join(CONVENTIONS)
    assert str(caught.value) == f"`format` must be one of {names}. Received: 'torch'."


@pytest.mark.parametrize(
    "name, model_class, table",
    [
        ("jax", ViT, vit_jax.TABLE),
        ("big_vision", DINOv2, vit_jax.TABLE),
        ("timm", ViT, vit_timm.TABLE),
        ("deit", DeiT, vit_timm.DISTILLED),
        ("dinov2", DINOv2, vit_timm.TABLE),
        ("hf_vit", ViT, vit_hf.VIT),
        ("hf_deit", ViT, vit_hf.VIT),
        ("hf_deit", DeiT, vit_hf.DISTILLED),
        ("hf_dinov2", ViT, vit_hf.DINOV2),
        ("hf_dinov2", DINOv2, vit_hf.DINOV2),
        ("hf_dinov2_reg", DINOv2, vit_hf.DINOV2),
    ],
)
def test_a_models_table_is_its_own_or_that_of_the_class_it_derives_from(name, model_class, table):
    assert table_of(name, model_class) is table


def test_the_nearest_base_class_decides():
    class Mine(DeiT):
        pass

    assert table_of("timm", Mine) is vit_timm.DISTILLED


@pytest.mark.parametrize("name", SOURCES)
def test_a_class_without_names_is_refused(name):
    with pytest.raises(ValueError, match=f"^The format '{name}' knows no weights of Model.$"):
        table_of(name, keras.Model)
