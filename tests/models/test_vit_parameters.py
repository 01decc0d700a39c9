"""Parameter counts of every published size, against timm's counts and the closed formula.

All blocks of a model have one size, so two shallow models give the count at any depth: the count
is linear in it. Weights are declared but never allocated.
"""

import math

import keras
import pytest

from keras_vit import create_model
from keras_vit.models import ViT, ViTConfig
from keras_vit.models.vit import PATCH_SIZES, VARIANTS, variant_config

# [V] 224 x 224, 1000 classes, class token with a position, linear head: /32, /16, /14, /8.
PUBLISHED = {
    "Ti": (6_131_560, 5_717_416, 5_694_376, 5_719_720),
    "S": (22_878_952, 22_050_664, 22_004_584, 22_055_272),
    "B": (88_224_232, 86_567_656, 86_475_496, 86_576_872),
    "L": (306_535_400, 304_326_632, 304_203_752, 304_338_920),
    "H": (634_960_360, 632_199_400, 632_045_800, 632_214_760),
    "g": (1_015_817_448, 1_012_780_392, 1_012_611_432, 1_012_797_288),
    "G": (1_848_229_608, 1_844_640_360, 1_844_440_680, 1_844_660_328),
}
COUNTS = {
    f"{size}/{patch}": count
    for size, row in PUBLISHED.items()
    for patch, count in zip((32, 16, 14, 8), row, strict=True)
}
GAP = {"pooling": "gap", "class_token": False}
MAP = {"pooling": "map", "class_token": False}
# Other heads, conventions and resolutions: (variant, fields, count).
OTHERS = [
    ("B/16", GAP, 86_566_120),
    ("B/16", {"class_position": False}, 86_566_888),
    ("B/16", {"representation_size": 768}, 87_158_248),
    ("H/14", {"representation_size": 1280}, 633_685_480),
    ("B/16", MAP, 93_653_224),
    ("g/14", MAP, 1_037_857_384),
    ("G/14", MAP, 1_882_797_416),
    # The published 1011M and 1843M of the scaling paper: the backbone alone.
    ("g/14", {**GAP, "num_classes": 0}, 1_011_199_616),
    ("G/14", {**GAP, "num_classes": 0}, 1_842_772_352),
    ("Ti/16", {"image_size": 384}, 5_790_376),
    ("S/16", {"image_size": 384}, 22_196_584),
    ("B/16", {"image_size": 384}, 86_859_496),
    ("B/32", {"image_size": 384}, 88_297_192),
    ("L/16", {"image_size": 384}, 304_715_752),
    ("L/32", {"image_size": 384}, 306_632_680),
    ("H/14", {"image_size": 518}, 633_470_440),
    ("G/14", {"image_size": 518}, 1_846_292_712),
]
MAP_HEADS = {
    "Ti": 444_672,
    "S": 1_774_080,
    "B": 7_087_104,
    "L": 12_595_200,
    "H": 19_676_160,
    "g": 25_248_768,
    "G": 38_360_064,
}
BLOCKS = {}


def sizes(config):
    """Weight path -> number of values, of a model that is built without memory for them."""
    try:
        with keras.StatelessScope(initialize_variables=False):
            model = ViT(config)
            return {weight.path: math.prod(weight.shape) for weight in model.weights}
    finally:
        # Keras would allocate the weights at the end of the next scope.
        keras.utils.clear_session(free_memory=False)


def block_size(size):
    """The values of one block: the same for every patch, head and resolution."""
    if size not in BLOCKS:
        one, two = (
            sizes(variant_config(f"{size}/32", image_size=32, num_classes=0, depth=depth))
            for depth in (1, 2)
        )
        BLOCKS[size] = sum(two.values()) - sum(one.values())
        assert BLOCKS[size] == sum(n for path, n in one.items() if path.startswith("block_0/"))
    return BLOCKS[size]


def count(variant, **fields):
    size = variant.split("/")[0]
    shallow = sizes(variant_config(variant, **{**fields, "depth": 1}))
    return sum(shallow.values()) + (VARIANTS[size]["depth"] - 1) * block_size(size)


def formula(variant, image_size=224, classes=1000):
    size, patch = variant.split("/")
    width, depth, _, hidden = VARIANTS[size].values()
    patches = (image_size // int(patch)) ** 2
    block = 4 * width**2 + 2 * width * hidden + 9 * width + hidden
    embedding = 3 * int(patch) ** 2 * width + width + width + (patches + 1) * width
    return embedding + depth * block + 2 * width + width * classes + classes


@pytest.mark.parametrize("variant", COUNTS)
def test_published_count(variant):
    assert count(variant) == COUNTS[variant]


@pytest.mark.parametrize("patch", PATCH_SIZES)
@pytest.mark.parametrize("size", VARIANTS)
def test_closed_formula(size, patch):
    """Covers the sizes without a published count, M and So400m, and names every variant."""
    variant = f"{size}/{patch}"
    if variant in COUNTS:
        assert formula(variant) == COUNTS[variant]
    else:
        assert count(variant) == formula(variant)


@pytest.mark.parametrize(("variant", "fields", "expected"), OTHERS)
def test_other_heads_and_resolutions(variant, fields, expected):
    assert count(variant, **fields) == expected


@pytest.mark.parametrize("size", MAP_HEADS)
def test_attention_pooling_count(size):
    fields = {**VARIANTS[size], "depth": 1, "image_size": 32, "patch_size": 32, **MAP}
    weights = sizes(ViTConfig(**fields))
    assert sum(n for path, n in weights.items() if path.startswith("pool/")) == MAP_HEADS[size]


def test_count_of_a_real_model():
    """The one that is built in full, so that nothing hangs on the shortcut alone."""
    assert create_model("vit_ti16").count_params() == COUNTS["Ti/16"]
