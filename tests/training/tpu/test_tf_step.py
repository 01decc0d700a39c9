import pytest
import tensorflow as tf

from keras_vit.models import NAMES, ViT, ViTConfig
from keras_vit.training.tpu.lint import lint
from keras_vit.training.tpu.tf_step import stablehlo, whole_step
from tests.training.tpu.narrow import narrow

SMALL = {
    "image_size": 16, "patch_size": 8, "width": 24, "depth": 1, "num_heads": 3, "mlp_dim": 40,
    "num_classes": 7,
}  # fmt: skip
# What is left of a variant when it is narrow -> its name.
SHAPES = {
    (family, repr(narrow(family.config_class, fields))): name
    for name, (family, fields) in NAMES.items()
}


def small(**fields):
    return ViT(ViTConfig(**{**SMALL, **fields}), dtype="mixed_bfloat16")


@pytest.mark.parametrize("name", SHAPES.values())
def test_each_kind_of_published_variant_is_clean(name):
    """At its resolution."""
    model_class, fields = NAMES[name]
    config = model_class.config_class(**narrow(model_class.config_class, fields))
    text = stablehlo(model_class(config, dtype="mixed_bfloat16"), batch_size=2)
    assert "bf16" in text
    assert lint(text) == []


def test_the_whole_step_is_in_it():
    """Forward and backward pass and the optimizer: its outputs are the loss and the new state."""
    model = small()
    text = stablehlo(model, batch_size=2)
    assert "mhlo.copy " not in text
    header = text[text.index("func.func @main") :].split("{\n")[0]
    results = header[header.rindex("->") :]
    assert "stablehlo.sqrt" in text
    # The loss, each weight with its two moments, and the number of steps.
    assert results.count("tensor<") >= 1 + 3 * len(model.trainable_variables) + 1


def test_another_step_takes_its_place():
    def doubled(model):
        return tf.function(lambda images, labels: 2.0 * model(images), jit_compile=True)

    text = stablehlo(small(), batch_size=2, make_step=doubled)
    assert "tensor<2x7xf32>" in text
    assert "stablehlo.sqrt" not in text  # no optimizer


def in_float64(model):
    step = whole_step(model)
    return tf.function(lambda x, y: tf.cast(step(x, y)["loss"], "float64"), jit_compile=True)


@pytest.mark.parametrize(("make_step", "kind"), [(in_float64, "float64")])
def test_a_planted_fault_is_found(make_step, kind):
    found = lint(stablehlo(small(), batch_size=2, make_step=make_step))
    assert found and all(kind in entry for entry in found)


def test_a_dynamic_shape_is_found():
    @tf.function(jit_compile=True)
    def step(images, labels):
        return tf.boolean_mask(labels, labels > 0)

    found = lint(stablehlo(small(), batch_size=2, make_step=lambda model: step))
    assert any(entry.startswith("dynamic dimension") for entry in found)
