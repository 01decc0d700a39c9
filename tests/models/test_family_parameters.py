"""Parameter counts of every published Swin, CoAtNet, hybrid and TimeSformer, as they come.

The counts are timm's (of TimeSformer, the authors'), or where it has none the closed formula's,
which gives timm's elsewhere. Statistics of batch norms are not in them. Weights are
declared but never allocated.
"""

import math

import keras
import pytest

from keras_vit.models import NAMES, CoAtNet, Hybrid, Swin, TimeSformer

PUBLISHED = {
    "swin_t": 28_288_354,
    "swin_s": 49_606_258,
    "swin_b": 87_768_224,
    "swin_l": 196_532_476,
    "swin_b_384": 87_903_584,
    "swin_l_384": 196_735_516,
    "coatnet_0": 25_036_820,
    "coatnet_1": 42_225_776,
    "coatnet_2": 74_684_744,
    "coatnet_3": 166_966_264,
    "coatnet_4": 275_425_288,
    "coatnet_5": 687_052_952,
    "r_ti16": 6_337_704,
    "r26_s32": 36_431_912,
    "r26_b32": 101_383_976,
    "r50_b16": 98_659_112,
    "r50_b32": 110_945_832,
    "r50_l16": 316_483_624,
    "r50_l32": 328_994_856,
    "timesformer_b16": 121_566_352,
    "timesformer_hr_b16": 122_024_080,
    "timesformer_l_b16": 121_633_936,
}
PLAIN = {"pooling": "gap", "representation_size": None}
# (name, fields, count)
OTHERS = [
    ("coatnet_0", PLAIN, 24_446_228),
    ("coatnet_2", PLAIN, 73_635_144),
    ("coatnet_5", PLAIN, 682_856_600),
    ("coatnet_0", {"image_size": 384}, 25_142_900),
    ("coatnet_4", {"image_size": 384}, 276_454_408),
    # Which convolution strides, and how is pooled, is no weight.
    ("coatnet_0", {"pool": "max", "stride_in": "expansion"}, 25_036_820),
    ("r50_b16", {"image_size": 384}, 98_950_952),
    ("r_ti16", {"image_size": 384}, 6_355_944),
    ("r50_b16", {"num_classes": 0}, 97_890_112),
    ("timesformer_b16", {"num_classes": 174}, 121_392_558),
    ("timesformer_b16", {"num_classes": 600}, 121_720_152),
    ("timesformer_b16", {"space_time": "joint"}, 86_112_400),
    ("timesformer_b16", {"space_time": "space_only"}, 86_106_256),
]


def count(name, **fields):
    model_class, variant = NAMES[name]
    try:
        with keras.StatelessScope(initialize_variables=False):
            model = model_class(model_class.config_class(**{**variant, **fields}))
            return sum(math.prod(weight.shape) for weight in model.trainable_weights)
    finally:
        # Keras would allocate the weights at the end of the next scope.
        keras.utils.clear_session(free_memory=False)


def coatnet_formula(name):
    """The count of a CoAtNet with a hidden layer in its head, at 224 pixels."""
    fields = NAMES[name][1]
    before, side = fields["stem_width"], 112
    total = 29 * before + 9 * before**2
    for kind, c, depth, halves in fields["stages"]:
        side = side // 2 if halves else side
        for _ in range(depth):
            total += (before + 1) * c if before != c else 0
            if kind == "conv":
                squeeze = 2 * c**2 + 4 * c + c // 4
                total += 2 * before + 4 * c * before + 52 * c + squeeze + 4 * c**2 + c
            else:
                table = (2 * side - 1) ** 2 * c // fields["head_dim"]
                total += 2 * before + 3 * c * before + 3 * c + c**2 + c + table
                total += 2 * c + 8 * c**2 + 5 * c
            before = c
    return total + 2 * before + before**2 + before + 1000 * before + 1000


@pytest.mark.parametrize("name", ["coatnet_4", "coatnet_5", "coatnet_6", "coatnet_7"])
def test_closed_formula(name):
    """Of the two largest, in which attention follows on convolutions, there is no other count."""
    expected = coatnet_formula(name)
    assert expected == (PUBLISHED[name] if name in PUBLISHED else count(name))


def test_every_name_has_its_count():
    names = {
        name for name, (kind, _) in NAMES.items() if kind in (CoAtNet, Hybrid, Swin, TimeSformer)
    }
    assert names == {*PUBLISHED, "coatnet_6", "coatnet_7"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_count(name):
    assert count(name) == PUBLISHED[name]


@pytest.mark.parametrize(("name", "fields", "expected"), OTHERS)
def test_other_heads_and_resolutions(name, fields, expected):
    assert count(name, **fields) == expected
