import pytest

from keras_vit.models import ViT, ViTConfig
from keras_vit.weights.targets.jax import target

TINY = {"image_size": 8, "patch_size": 4, "width": 24, "num_heads": 2, "activation": "gelu_tanh"}


@pytest.mark.parametrize(
    "fields, source, rows",
    [
        ({}, "jax", 1),
        ({"class_position": False}, "big_vision", 0),
        ({"class_token": False, "pooling": "gap"}, "big_vision", 0),
        ({"class_token": False, "pooling": "map"}, "big_vision", 0),
        ({"position": "sincos2d"}, "big_vision", 0),
    ],
)
def test_the_original_numbering_or_big_visions(fields, source, rows):
    found = target(ViT(ViTConfig(**TINY, **fields)))
    assert (found.source, found.position_rows, found.in_the_way) == (source, rows, {})


def test_a_class_token_beside_another_pooling():
    assert set(target(ViT(ViTConfig(**TINY, pooling="gap"))).in_the_way) == {"pooling"}
