"""That timm answers is tested in `../test_bench_against.py`, where timm is."""

from keras_vit.cli.rivals.with_timm import arguments
from tests.cli.rivals.test_with_keras_vit import TINY


def test_timms_words():
    found = arguments(TINY)
    assert int(found["embed_dim"] * found["mlp_ratio"]) == TINY["mlp_dim"]
    assert (found["img_size"], found["patch_size"], found["depth"]) == (32, 16, 1)
