"""What is refused, what is kept when something fails, and what profiles give."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.export import PROFILES, export
from keras_vit.export.agreement import Bound, agreement
from keras_vit.export.exporter import FORMATS
from tests.small_vit import small_vit


@pytest.mark.parametrize("name", ["server", "float32", "cpu", "gpu", "npu", "npu-16x8", "mcu"])
def test_every_artefact_agrees_with_the_model_on_other_images(artefacts, name):
    pixels, labels = artefacts.pixels[1000:1200], artefacts.labels[1000:1200]
    reference = runtime.open(artefacts.model).logits(pixels)
    logits = runtime.open(artefacts[name]).logits(pixels)
    assert PROFILES[name].bound.broken_by(agreement(reference, logits)) == []
    accuracies = [(values.argmax(-1) == labels).mean() for values in (reference, logits)]
    assert accuracies[0] > 0.5 and accuracies[1] > accuracies[0] - 0.04


def test_a_new_model_with_its_zero_head_can_be_exported(tmp_path):
    model = small_vit(depth=1)
    model.get_layer("head").set_weights([np.zeros((24, 10)), np.zeros(10)])
    export(model, "cpu", tmp_path / "new.tflite")


def test_an_unknown_profile_lists_the_names(tmp_path):
    with pytest.raises(ValueError, match="'cpu', 'edgetpu'"):
        export(small_vit(depth=1), "edge", tmp_path / "model.tflite")


def test_an_integer_profile_needs_images(tmp_path):
    with pytest.raises(ValueError, match="`npu` needs `calibration`"):
        export(small_vit(depth=1), "npu", tmp_path / "model.tflite")


@pytest.mark.parametrize(
    ("profile", "name", "kind"),
    [("cpu", "model.bin", "ends in `.tflite`"), ("server", "model.tflite", "a folder")],
)
def test_the_ending_must_be_that_of_the_profile(tmp_path, profile, name, kind):
    with pytest.raises(ValueError, match=f"`path` must be .*{kind}"):
        export(small_vit(depth=1), profile, tmp_path / name)


def test_a_model_without_preprocessing_is_refused(tmp_path):
    inputs = keras.Input((4,))
    with pytest.raises(ValueError, match="with a `preprocessing`.*Received: Functional"):
        export(keras.Model(inputs, inputs * 2), "server", tmp_path / "model")


def test_a_model_that_gives_all_tokens_is_refused(tmp_path):
    from keras_vit import create_model

    model = create_model("vit_ti16", image_size=32, depth=1, num_classes=0, pooling="none")
    with pytest.raises(ValueError, match=r"one vector an image.*Received: \(None, 5, 192\)"):
        export(model, "server", tmp_path / "model")


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match="holds nothing but its versions"):
        export(small_vit(depth=1), "server", tmp_path / "photos")
    (tmp_path / "model.tflite").mkdir()
    with pytest.raises(ValueError, match="would destroy"):
        export(small_vit(depth=1), "float32", tmp_path / "model.tflite")


def test_a_folder_that_cannot_be_written_is_found_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "tflite", None)  # any work would fail on this
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="Cannot write in the folder"):
        export(small_vit(depth=1), "float32", tmp_path / "file" / "model.tflite")


def test_a_refused_export_leaves_the_earlier_one(tmp_path):
    model, path = small_vit(depth=1), tmp_path / "model.tflite"
    export(model, "float32", path)
    before = path.read_bytes()
    never = dataclasses.replace(PROFILES["cpu"], bound=Bound(relative=1e-9))
    with pytest.raises(ValueError, match="refused and nothing was written.*relative difference"):
        export(model, never, path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["model.tflite"]


def test_not_a_number_is_refused(tmp_path):
    model = small_vit(depth=1)
    kernel, bias = model.get_layer("head").get_weights()
    model.get_layer("head").set_weights([kernel * np.nan, bias])
    with pytest.raises(ValueError, match="not finite numbers"):
        export(model, "server", tmp_path / "model")


def test_a_saved_model_becomes_the_next_version_and_the_earlier_one_stays(tmp_path):
    model, path = small_vit(depth=1), tmp_path / "model"
    pixels = np.zeros((1, 16, 16, 1), "uint8")
    first = export(model, "server", path)
    before = runtime.open(path).logits(pixels)
    kernel, bias = model.get_layer("head").get_weights()
    model.get_layer("head").set_weights([kernel, bias + 5])
    second = export(model, "server", path)
    assert [one.relative_to(path).as_posix() for one in (first, second)] == ["1", "2"]
    assert sorted(found.name for found in path.iterdir()) == ["1", "2"]
    np.testing.assert_array_equal(runtime.open(first).logits(pixels), before)
    np.testing.assert_allclose(runtime.open(path).logits(pixels), before + 5, rtol=1e-4)
    with pytest.raises(ValueError, match="a version that is there already"):
        export(model, "server", second)


@pytest.mark.parametrize(("profile", "sizes"), [("cpu", (1,)), ("server", (0,))])
def test_batches_to_compile_are_for_a_server(tmp_path, profile, sizes):
    path = tmp_path / f"model{PROFILES[profile].ending}"
    with pytest.raises(ValueError, match="`xla_batches` must be batch sizes.*Received: "):
        export(small_vit(depth=1), profile, path, xla_batches=sizes)
    assert not list(tmp_path.iterdir())


def test_another_backend_is_refused(tmp_path, monkeypatch):
    model = small_vit(depth=1)
    monkeypatch.setattr("keras.backend.backend", lambda: "jax")
    with pytest.raises(ValueError, match="set KERAS_BACKEND=tensorflow"):
        export(model, "float32", tmp_path / "model.tflite")


def test_what_the_edge_tpu_would_not_map_is_reported_and_not_written(tmp_path):
    model, path = small_vit(depth=1), tmp_path / "model.tflite"
    with pytest.raises(ValueError, match="`edgetpu` does not take .*BATCH_MATMUL"):
        export(model, "edgetpu", path, np.zeros((2, 16, 16, 1)) + [[[[255]]]])
    assert not list(tmp_path.iterdir())
