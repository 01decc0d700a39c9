import pytest

from keras_vit.models import ViTConfig
from keras_vit.weights.targets.target import class_rows, grid, in_the_way, own_attention, square

TINY = {"image_size": (8, 12), "patch_size": 4, "width": 8, "num_heads": 2}


def test_only_reasons_stay():
    assert in_the_way(a=False, b=None, c="why", d=0, e="") == {"c": "why"}


@pytest.mark.parametrize("size, stated", [((8, 8), 8), ((8, 12), [8, 12])])
def test_square(size, stated):
    assert square(size) == stated


def test_grid_counts_patches():
    assert grid(ViTConfig(**TINY)) == (2, 3)


@pytest.mark.parametrize(
    "fields, rows",
    [
        ({}, 1),
        ({"class_position": False}, 0),
        ({"class_token": False, "pooling": "gap"}, 0),
        ({"position": "sincos2d"}, 0),
        ({"position": "none"}, 0),
    ],
)
def test_class_rows(fields, rows):
    assert class_rows(ViTConfig(**TINY, **fields)) == rows


def test_what_no_other_code_computes():
    assert own_attention(ViTConfig(**TINY)) == {}
    assert list(own_attention(ViTConfig(**TINY, merged=1))) == ["merged"]
