"""The packages beside are those of `make prove`; here this one stands in for them."""

import json
import subprocess
import sys

import pytest

from keras_vit import create_model
from keras_vit.cli import bench_against
from keras_vit.cli.bench_against import LOOP, Rival, compare, rival_names, settings_of
from keras_vit.models import ViTConfig

TINY = {
    "image_size": 32,
    "patch_size": 16,
    "width": 12,
    "depth": 1,
    "num_heads": 2,
    "mlp_dim": 13,
    "num_classes": 3,
}


def test_names():
    assert rival_names("timm, keras_hub") == ["timm", "keras_hub"]
    with pytest.raises(ValueError, match="`--against` takes timm, keras_hub. Received: 'jax'"):
        rival_names("timm,jax")


def test_settings_of_a_plain_vit():
    found = settings_of(ViTConfig(**TINY), 5, "mixed_bfloat16")
    assert found == {**TINY, "batch_size": 5, "dtype": "bfloat16"}
    assert settings_of(ViTConfig(**TINY), 5, None)["dtype"] == "float32"


@pytest.mark.parametrize(
    "fields", [{"pooling": "gap"}, {"registers": 2}, {"image_size": (32, 16)}], ids=str
)
def test_what_the_others_do_not_have(fields):
    with pytest.raises(ValueError, match="`--against` compares"):
        settings_of(create_model("vit_ti16", **{**TINY, **fields}).config, 1, None)


def test_by_turns(monkeypatch):
    monkeypatch.setattr(bench_against, "RIVALS", ("keras_vit",))
    found = compare(["keras_vit"], settings_of(ViTConfig(**TINY), 2, None), rounds=2)
    assert list(found) == ["inference", "training step"]
    assert all(seconds["keras_vit"] > 0 for seconds in found.values())


def test_a_package_that_is_not_there():
    settings = settings_of(ViTConfig(**TINY), 1, None)
    with pytest.raises(RuntimeError, match="(?s)The process of nothing ended:.*with_nothing"):
        Rival("nothing", sys.executable, settings)


@pytest.mark.prove
@pytest.mark.parametrize("name", bench_against.RIVALS)
def test_the_other_packages_answer(name):
    settings = settings_of(ViTConfig(**TINY), 2, "mixed_bfloat16")
    command = [sys.executable, LOOP, f"with_{name}", json.dumps(settings)]
    done = subprocess.run(
        command, input="inference 2\ntraining step 1\n", capture_output=True, text=True
    )
    calls, *seconds = map(json.loads, done.stdout.splitlines())
    assert calls == ["inference", "training step"], done.stderr
    assert [len(taken) for taken in seconds] == [2, 1]
