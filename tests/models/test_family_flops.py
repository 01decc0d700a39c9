import pytest

from keras_vit.models import NAMES, CoAtNetConfig, HybridConfig, SwinConfig
from keras_vit.models.flops import forward_flops, training_flops
from tests.contract.cases import COATNET, HYBRID, SWIN

PLAIN = {"pooling": "gap", "representation_size": None}
EXPANSION = {**PLAIN, "stride_in": "expansion"}
# Billions of multiplications: Swin as published, CoAtNet as counted independently by the formulas
# of the reference, with either stride.
BILLIONS = [
    ("swin_t", {}, 4.49),
    ("swin_s", {}, 8.74),
    ("swin_b", {}, 15.43),
    ("swin_l", {}, 34.48),
    ("swin_b_384", {}, 47.08),
    ("swin_l_384", {}, 103.92),
    ("timesformer_b16", {}, 195.83),
    ("timesformer_hr_b16", {}, 1702.69),
    ("timesformer_l_b16", {}, 2379.86),
    ("timesformer_b16", {"space_time": "joint"}, 179.56),
    # Eight frames through the ViT: 8 x 17.563.
    ("timesformer_b16", {"space_time": "space_only", "num_classes": 0}, 140.50),
    # The image towers of a ViT, without its head and with a projection, and 2.98 for the text.
    ("clip_b32", {}, 7.39),
    ("clip_b16", {}, 20.54),
    # 4.41 of the encoder of 49 patches and the class token, 5.37 of the decoder: by hand.
    ("mae_b16", {}, 9.78),
    ("coatnet_0", PLAIN, 4.55),
    ("coatnet_0", EXPANSION, 4.14),
    ("coatnet_1", PLAIN, 8.64),
    ("coatnet_2", EXPANSION, 15.50),
    ("coatnet_3", PLAIN, 36.45),
    ("coatnet_4", {**EXPANSION, "image_size": 384}, 186.50),
    ("coatnet_2", {**PLAIN, "image_size": 512}, 98.18),
]


@pytest.mark.parametrize(("name", "fields", "billions"), BILLIONS)
def test_published_counts(name, fields, billions):
    model_class, variant = NAMES[name]
    config = model_class.config_class(**{**variant, **fields})
    assert round(forward_flops(config) / 2e9, 2) == billions


def test_a_padded_swin_by_hand():
    # 7 x 8 tokens of 2 x 3 pixels, in windows of 2 x 3 padded to 8 x 9; merged, 4 x 4 and 4 x 6.
    projection = 56 * 6 * 5 * 6
    first = 72 * 4 * 36 + 2 * 72 * 6 * 6 + 2 * 56 * 6 * 9
    merging = 16 * 24 * 12
    second = 24 * 4 * 144 + 2 * 24 * 6 * 12 + 2 * 16 * 12 * 18
    products = projection + 2 * first + merging + second + 12 * 7
    assert forward_flops(SwinConfig(**SWIN)) == 2 * products
    assert training_flops(SwinConfig(**SWIN)) == 2 * (3 * products - projection)


def test_a_coatnet_by_hand():
    # 8 x 12 pixels after the stem, then 4 x 6, then 2 x 3 tokens.
    stem = 96 * 9 * 5 * 6
    conv1 = 96 * 6 * 40 + 24 * 9 * 40 + 2 * 40 * 2 + 24 * 40 * 10 + 24 * 6 * 10
    conv2 = 24 * 10 * 40 + 24 * 9 * 40 + 2 * 40 * 2 + 24 * 40 * 10
    scores, mlp = 2 * 36 * 14, 2 * 6 * 14 * 56
    attention1 = 6 * (3 * 10 * 14 + 196) + scores + mlp + 6 * 10 * 14
    attention2 = 6 * (3 * 14 * 14 + 196) + scores + mlp
    products = stem + 96 * 9 * 36 + conv1 + conv2 + attention1 + attention2 + 14 * 7
    assert forward_flops(CoAtNetConfig(**COATNET)) == 2 * products
    assert training_flops(CoAtNetConfig(**COATNET)) == 2 * (3 * products - stem)


def test_a_hybrid_by_hand():
    # 4 x 6 pixels after the root's convolution, 2 x 3 after its pool; one unit to 128 channels.
    root = 24 * 49 * 5 * 32
    unit = 6 * (32 * 32 + 9 * 32 * 32 + 32 * 128 + 32 * 128)
    projection, tokens = 6 * 128 * 14, 7
    block = 4 * tokens * 196 + 2 * tokens**2 * 14 + 2 * tokens * 14 * 11
    products = root + unit + projection + block + 14 * 7
    assert forward_flops(HybridConfig(**HYBRID)) == 2 * products
    assert training_flops(HybridConfig(**HYBRID)) == 2 * (3 * products - root)
    # A second stage strides in its 3 x 3 convolution and in its shortcut.
    two = HybridConfig(**{**HYBRID, "units": (1, 1), "patch_size": 8, "image_size": (8, 16)})
    one = HybridConfig(**{**HYBRID, "patch_size": 8, "image_size": (8, 16)})
    pixels = 8
    projections = 2 * (256 - 4 * 128) * 14
    more = pixels * 128 * 64 + 2 * (9 * 64 * 64 + 64 * 256 + 128 * 256)
    assert forward_flops(two) - forward_flops(one) == 2 * (more + projections)
