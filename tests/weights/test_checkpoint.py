import json

import numpy as np
import pytest

from keras_vit.models import DINOv2, ViT
from keras_vit.weights.checkpoint import open_checkpoint
from keras_vit.weights.sources import SOURCES
from tests.oracles import jax_vit_numpy as oracle
from tests.weights.checkpoints import jax_arrays, write


def opened(folder, code="vit_jax", grid=(5, 5), **options):
    pool = "tok" if code == "vit_jax" else "gap"
    path = write(folder, jax_arrays(code=code, pool=pool, grid=grid))
    return open_checkpoint(path, ViT, "jax" if code == "vit_jax" else "big_vision", **options)


@pytest.mark.parametrize("side", [1, 2, 13, 14, 24])
def test_the_perfect_square_test(side, tmp_path):
    """196 rows are 14 x 14, 197 are one more for the class token: never the other way round."""
    for code, rows in (("vit_jax", 1), ("big_vision", 0)):
        found = opened(tmp_path, code, (side, side))
        assert (found.position_rows, found.grid) == (rows, (side, side))
        assert found.fields["image_size"] == (4 * side, 4 * side)
        assert found.fields["class_position"] == bool(rows)


def test_a_grid_that_is_no_square_must_be_told(tmp_path):
    with pytest.raises(ValueError, match="28 positions are no square grid.*State `image_size`"):
        opened(tmp_path, grid=(3, 9))
    found = opened(tmp_path, grid=(3, 9), image_size=(12, 36))
    assert (found.position_rows, found.grid) == (1, (3, 9))
    found = opened(tmp_path, grid=(3, 9), model_grid=(3, 9))
    assert (found.position_rows, found.grid) == (1, (3, 9))


def test_two_readings_are_not_guessed_between(tmp_path):
    """26 rows: 1 + 5 x 5 by the square, or 26 = 2 x 13 by the model's own grid."""
    with pytest.raises(ValueError, match="may be 1 \\+ 5×5 or 0 \\+ 2×13|may be 0"):
        opened(tmp_path, grid=(5, 5), model_grid=(2, 13))


def test_a_told_size_that_does_not_fit(tmp_path):
    with pytest.raises(ValueError, match="26 positions do not fit images of"):
        opened(tmp_path, image_size=(12, 12))


def test_the_format_must_be_told(tmp_path):
    path = write(tmp_path, jax_arrays())
    with pytest.raises(ValueError, match="State its format .*jax, big_vision"):
        open_checkpoint(path, ViT)
    with pytest.raises(ValueError, match="`format` must be one of jax, .*'vit'"):
        open_checkpoint(path, ViT, "vit")


def test_what_the_file_says_of_itself(tmp_path):
    from safetensors.numpy import save_file

    save_file({"x": np.ones(3, "float32")}, tmp_path / "model.safetensors")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "dinov2"}))
    with pytest.raises(ValueError, match="`format` is 'hf_vit'.* says of itself .*'hf_dinov2'"):
        open_checkpoint(tmp_path, DINOv2, "hf_vit")
    with pytest.raises(ValueError, match="not of the format 'hf_dinov2'"):
        open_checkpoint(tmp_path, DINOv2)
    config.write_text(json.dumps({"model_type": "resnet"}))
    with pytest.raises(ValueError, match="says that it is 'resnet', which we do not know"):
        open_checkpoint(tmp_path, ViT)


def test_fields_come_from_the_source_and_the_shapes(tmp_path):
    fields = opened(tmp_path).fields
    assert {name: fields[name] for name in oracle.SIZES} == oracle.SIZES
    assert (fields["activation"], fields["norm_epsilon"]) == ("gelu_tanh", 1e-6)
    assert (fields["pooling"], fields["position"], fields["layer_scale"]) == (
        "token",
        "learned",
        None,
    )
    assert fields["preprocessing"] == dict(SOURCES["jax"].preprocessing)


def test_what_the_catalogue_tells(tmp_path):
    told = {"image_size": 20, "preprocessing": {"crop": 0.9, "resize": "crop"}}
    fields = opened(tmp_path, told=told).fields
    assert fields["image_size"] == (20, 20)
    assert (fields["preprocessing"]["crop"], fields["preprocessing"]["mean"][0]) == (0.9, 0.5)
