"""MODEL: a file or a registered name."""

import pytest

from keras_vit.cli.opening import open_any, open_keras, open_predictor


def test_a_file_opens_in_its_runtime(model):
    assert open_predictor(model).kind == "keras"
    assert open_any(model).path == model
    assert open_keras(model).config.depth == 2


def test_a_name_gives_random_weights_where_those_will_do():
    assert open_any("vit_ti32", dtype="mixed_bfloat16").model.policy.name == "mixed_bfloat16"
    assert open_keras("vit_ti32").config.patch_size == (32, 32)


def test_a_name_is_refused_where_trained_weights_are_needed():
    with pytest.raises(ValueError, match="vit_ti32 is a model without trained weights"):
        open_predictor("vit_ti32")


def test_a_file_comes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit_ti32").mkdir()
    with pytest.raises(ValueError, match="is no model"):
        open_predictor("vit_ti32")


def test_the_dtype_of_a_file_is_its_own(model):
    with pytest.raises(ValueError, match="`dtype` is for registered models only"):
        open_any(model, dtype="float32")


def test_another_kind_of_file_is_no_keras_model(network, tmp_path):
    from keras_vit.export import export

    path = export(network, "float32", tmp_path / "m.tflite")
    with pytest.raises(ValueError, match="a .keras file. Received: .*m.tflite, a tflite"):
        open_keras(path)
