"""The packages beside are those of `make prove`; here this one stands in for them."""

import importlib
import sys
from pathlib import Path

import pytest

from keras_vit import create_model
from keras_vit.cli import bench_against
from keras_vit.cli.bench_against import (
    FILES,
    RELATIVES,
    Rival,
    Taken,
    check_rivals,
    compare,
    rival_names,
    settings_of,
    share_of_the_machine,
    start_seconds,
)
from keras_vit.cli.rivals.with_keras_vit import FIELDS
from keras_vit.models import ViTConfig
from keras_vit.models.flops import forward_flops, training_flops
from tests.cli.rivals.test_with_keras_vit import TINY as SETTINGS

TINY = {name: SETTINGS[name] for name in FIELDS}


def test_names():
    assert rival_names("timm, keras_hub") == ["timm", "keras_hub"]
    with pytest.raises(ValueError, match="takes timm, .*, transformers. Received: 'jax'"):
        rival_names("timm,jax")


def test_settings_of_a_plain_vit():
    found = settings_of(ViTConfig(**TINY), 5, "mixed_bfloat16")
    assert found == {**TINY, "batch_size": 5, "dtype": "bfloat16"}
    assert settings_of(ViTConfig(**TINY), 5, None)["dtype"] == "float32"


def test_settings_of_a_relative():
    config = create_model("timesformer_b16").config
    found = settings_of(config, 2, "mixed_bfloat16")
    assert found == {
        "model": "timesformer_b16", "frames": 8, "image_size": 224, "num_classes": 400,
        "batch_size": 2, "dtype": "bfloat16",
    }  # fmt: skip
    check_rivals(["transformers"], found)
    with pytest.raises(ValueError, match="takes transformers for this model. Received: 'timm'"):
        check_rivals(["transformers", "timm"], found)


@pytest.mark.parametrize(
    "fields", [{"pooling": "gap"}, {"registers": 2}, {"image_size": (32, 16)}], ids=str
)
def test_what_the_others_do_not_have(fields):
    with pytest.raises(ValueError, match="`--against` compares"):
        settings_of(create_model("vit_ti16", **{**TINY, **fields}).config, 1, None)


def test_by_turns():
    settings = settings_of(ViTConfig(**TINY), 2, None)
    found = compare(["keras_vit", "matrix_product"], settings, "inference", rounds=2)
    assert list(found) == ["keras_vit", "matrix_product"]
    assert all(taken.seconds > 0 for taken in found.values())


def test_the_share_of_the_machine():
    """A model that takes as long as a product of as many operations has the whole of it."""
    config = ViTConfig(**TINY)
    product = 2 * bench_against.PRODUCT_SIDE**3
    taken = {
        "keras_vit": Taken(5 * forward_flops(config) / product, None),
        "matrix_product": Taken(1.0, None),
    }
    assert share_of_the_machine(taken, config, "inference", 5) == pytest.approx(1)
    more = training_flops(config) / forward_flops(config)
    assert share_of_the_machine(taken, config, "training step", 5) == pytest.approx(more)


def test_a_package_that_is_not_there():
    settings = settings_of(ViTConfig(**TINY), 1, None)
    with pytest.raises(RuntimeError, match="(?s)The process of nothing ended:.*with_nothing"):
        Rival("nothing", sys.executable, "inference", settings)


def test_how_a_process_starts():
    found = start_seconds("keras_vit", settings_of(ViTConfig(**TINY), 1, None), rounds=1)
    assert list(found) == ["import", "build", "first step"]
    assert all(seconds > 0 for seconds in found.values())


@pytest.mark.parametrize("name, call", [("saved_model", "float32"), ("tflite", "dynamic int8")])
def test_our_files_answer(name, call):
    settings = settings_of(ViTConfig(**TINY), 1, None)
    assert compare([name], settings, call, rounds=1)[name].seconds > 0


@pytest.mark.prove
@pytest.mark.parametrize("call", bench_against.FILES)
def test_the_other_engines_answer(call):
    settings = settings_of(ViTConfig(**TINY), 1, None)
    assert set(compare(FILES[call], settings, call, rounds=1)) == set(FILES[call])


@pytest.mark.prove
@pytest.mark.parametrize("call", bench_against.CALLS)
@pytest.mark.parametrize("name", bench_against.OF_VITS)
def test_the_other_packages_answer(name, call):
    settings = settings_of(ViTConfig(**TINY), 2, "mixed_bfloat16")
    rival = Rival(name, sys.executable, call, settings)
    try:
        assert len(rival.call(2)) == 2 and (rival.growth is None or rival.growth > 0)
    finally:
        rival.close()


@pytest.mark.prove
@pytest.mark.parametrize("model, name", [("swin_t", "timm"), ("timesformer_b16", "transformers")])
def test_the_relatives_twins_have_as_many_weights_and_answer(model, name, monkeypatch):
    assert name in RELATIVES[model]
    settings = settings_of(create_model(model).config, 1, None)
    monkeypatch.syspath_prepend(Path(bench_against.LOOP).parent)
    theirs = importlib.import_module(f"keras_vit.cli.rivals.with_{name}")
    network = theirs.network(settings)
    trained = sum(weights.numel() for weights in network.parameters() if weights.requires_grad)
    assert trained == create_model(model).count_params()
    rival = Rival(name, sys.executable, "inference", settings)
    try:
        assert len(rival.call(1)) == 1
    finally:
        rival.close()
