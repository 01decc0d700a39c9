import numpy as np
import pytest

from keras_vit import create_model
from keras_vit.weights import adapted
from keras_vit.weights.resample import bicubic, resize_offsets, resize_patches

TINY = {
    "image_size": (8, 12),
    "patch_size": 2,
    "channels": 3,
    "width": 12,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 13,
    "num_classes": 5,
}


def tiny(**fields):
    model = create_model("vit_ti16", **{**TINY, **fields})
    generator = np.random.default_rng(3)
    for variable in model.weights:
        variable.assign(generator.normal(1.0, 0.3, variable.shape))
    return model


def values(model):
    return {v.path: np.asarray(v) for v in model.weights}


def test_another_resolution_changes_the_positions_alone():
    model = tiny()
    new = adapted(model, image_size=(12, 10))
    old, found = values(model), values(new)
    table = old.pop("patch_encoder/position")
    fitted = found.pop("patch_encoder/position")
    np.testing.assert_array_equal(fitted[:, 0], table[:, 0])
    expected = np.einsum(
        "ih,jw,hwd->ijd", bicubic(4, 6), bicubic(6, 5), table[0, 1:].reshape(4, 6, 12)
    )
    np.testing.assert_allclose(fitted[0, 1:], expected.reshape(30, 12), atol=1e-5)
    for path, value in found.items():
        np.testing.assert_array_equal(value, old[path], path)


def test_offsets_are_resized_and_those_of_the_class_token_stay():
    model = tiny(position="relative")
    new = adapted(model, image_size=(12, 10))
    path = "block_0/attention/relative_bias"
    old, found = values(model)[path], values(new)[path]
    assert old.shape == (7 * 11 + 3, 2) and found.shape == (11 * 9 + 3, 2)
    np.testing.assert_array_equal(found[-3:], old[-3:])
    np.testing.assert_array_equal(found[:-3], resize_offsets(old[:-3], (4, 6), (6, 5)))


def test_another_patch_size_on_the_same_grid():
    model = tiny()
    new = adapted(model, image_size=(12, 18), patch_size=3)
    old, found = values(model), values(new)
    kernel = old["patch_encoder/projection/kernel"].reshape(2, 2, 3, 12)
    expected = resize_patches(kernel, (3, 3), "bicubic_antialias").reshape(27, 12)
    np.testing.assert_array_equal(found["patch_encoder/projection/kernel"], expected)
    np.testing.assert_array_equal(found["patch_encoder/position"], old["patch_encoder/position"])


def test_a_new_head_is_zero_and_nameless():
    model = tiny(preprocessing={"class_names": list("abcde"), "mean": (0.1, 0.2, 0.3)})
    new = adapted(model, num_classes=3)
    assert not values(new)["head/kernel"].any()
    assert new.preprocessing.class_names == () and new.preprocessing.mean == (0.1, 0.2, 0.3)
    assert adapted(model, dropout=0.1).preprocessing.class_names == tuple("abcde")
    images = np.random.default_rng(5).normal(size=(2, 8, 12, 3)).astype("float32")
    pooled, old = (m.features(images)["pooled"] for m in (new, model))
    np.testing.assert_array_equal(pooled, old)


def test_what_was_frozen_stays_frozen():
    model = tiny()
    model.get_layer("block_0").trainable = False
    assert [layer.name for layer in adapted(model, image_size=8).layers if not layer.trainable] == [
        "block_0"
    ]


def test_a_field_that_makes_another_network():
    with pytest.raises(ValueError, match="`adapted` changes .*Received: 'activation'"):
        adapted(tiny(), activation="relu")


def test_layers_that_go_away():
    model = tiny(dropout=0.1)
    assert adapted(model, num_classes=0).output_shape == (None, 12)
    assert "dropout" not in [layer.name for layer in adapted(model, dropout=0.0).layers]


def test_tables_of_offsets_are_resized():
    fields = {"patch_size": 2, "width": 6, "depths": (1, 1), "num_heads": (2, 3), "num_classes": 5}
    model = create_model("swin_t", image_size=(16, 32), window_size=4, **fields)
    generator = np.random.default_rng(3)
    for variable in model.weights:
        variable.assign(generator.normal(1.0, 0.3, variable.shape))
    new = adapted(model, image_size=(8, 32), window_size=(4, 8))
    old, path = values(model), "block_0/attention/relative_bias"
    expected = resize_offsets(old[path], (4, 4), (4, 8), "bicubic")
    np.testing.assert_array_equal(values(new)[path], expected)
    # The last map is 2 x 8 tokens.
    assert values(new)["block_1/attention/relative_bias"].shape == (3 * 15, 3)
    with pytest.raises(ValueError, match="Received: 'window_size'"):
        adapted(tiny(), window_size=7)


def test_a_hybrids_projection_keeps_its_size_on_the_map():
    fields = {"width": 12, "depth": 1, "num_heads": 2, "mlp_dim": 13, "patch_size": 8}
    model = create_model("r_ti16", image_size=16, **fields)
    new = adapted(model, image_size=(8, 24), patch_size=4)
    assert values(new)["patch_encoder/projection/kernel"].shape == (64, 12)
    assert values(new)["patch_encoder/position"].shape == (1, 13, 12)
