import numpy as np
import pytest

from keras_vit import create_model, weights
from keras_vit.models import DynamicViT
from keras_vit.weights.archives import Archive, open_archive
from keras_vit.weights.tables.dynamic_vit import TABLE
from tests.contract.test_contract import randomised

SIZES = {"image_size": 32, "width": 12, "depth": 4, "num_heads": 3, "mlp_dim": 7, "num_classes": 5}


def saved(path, **fields):
    model = randomised(create_model("dynamic_deit_s16", **{**SIZES, "keep_ratios": 1.0, **fields}))
    weights.save(model, path, "dynamicvit")
    return model


def test_the_authors_names(tmp_path):
    model = saved(tmp_path / "dynamic.safetensors")
    archive = open_archive(tmp_path / "dynamic.safetensors")
    scores = {name: shape for name, shape in archive.shapes.items() if "score" in name}
    one = {
        "in_conv.0.weight": (12,),
        "in_conv.0.bias": (12,),
        "in_conv.1.weight": (12, 12),
        "in_conv.1.bias": (12,),
        "out_conv.0.weight": (6, 12),
        "out_conv.0.bias": (6,),
        "out_conv.2.weight": (3, 6),
        "out_conv.2.bias": (3,),
        "out_conv.4.weight": (2, 3),
        "out_conv.4.bias": (2,),
    }
    assert scores == {
        f"score_predictor.{stage}.{name}": shape
        for stage in range(3)
        for name, shape in one.items()
    }
    kernel = model.get_layer("score_1").half.kernel
    theirs = archive.read("score_predictor.1.out_conv.0.weight")
    np.testing.assert_array_equal(np.array(kernel).T, theirs)
    assert archive.shapes["pos_embed"] == (1, 5, 12)
    assert {entry.ours for entry in TABLE.entries(model.config)} == {w.path for w in model.weights}


@pytest.mark.parametrize("classes", [5, 3])
def test_the_way_back(classes, tmp_path):
    model = saved(tmp_path / "model", stage_blocks=(1, 2), keep_ratios=(0.5, 0.25))
    again = create_model(
        "dynamic_deit_s16",
        weights=tmp_path / "model",
        **{**SIZES, "num_classes": classes},
    )
    assert type(again) is DynamicViT
    assert again.config.stage_blocks == (1, 2) and again.config.keep_ratios == (0.5, 0.25)
    for one, other in zip(model.weights, again.weights, strict=True):
        if classes == 5 or not one.path.startswith("head"):
            np.testing.assert_array_equal(one, other)


def test_a_plain_vit_is_told_apart():
    shapes = {"patch_embed.proj.weight": (12, 3, 16, 16)}
    with pytest.raises(ValueError, match="no score_predictor"):
        TABLE.facts(Archive("plain.pth", shapes, None))


def test_other_codes_have_no_such_model(tmp_path):
    model = create_model("dynamic_deit_s16", **SIZES, keep_ratios=1.0)
    with pytest.raises(ValueError, match="in the format 'dynamicvit' only. Received: 'timm'"):
        weights.save(model, tmp_path / "model", "timm")
