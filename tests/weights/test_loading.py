"""Strict, all or nothing: after every failure the model's weights are bit for bit as before."""

import numpy as np
import pytest

from keras_vit import create_model, weights
from tests.weights.checkpoints import (
    JAX,
    SIZES,
    Unchanged,
    fitting_model,
    jax_arrays,
    values,
    write,
)

BLOCK = "Transformer/encoderblock_1"
KERNEL = f"{BLOCK}/MlpBlock_3/Dense_1/kernel"


def without(name):
    return lambda arrays: {key: x for key, x in arrays.items() if key != name}


def changed(name, change):
    return lambda arrays: {**arrays, name: change(arrays[name])}


def spoilt(value):
    def change(array):
        array = array.copy()
        array[-1, -1] = value
        return array

    return change


WRONG = {
    "an array is missing": (without(KERNEL), r"lacks 1 of .* block_1/mlp/fc2/kernel, .*Dense_1"),
    "a head is half there": (without("head/bias"), "lacks 1 of .*head/bias"),
    "an array too many": (
        lambda arrays: {**arrays, "adapter/kernel": np.ones((3, 3), "float32")},
        "holds 1 arrays that this model has no place for: adapter/kernel",
    ),
    "another shape": (
        changed(KERNEL, lambda x: x[:, :-1]),
        r"Dense_1/kernel' \(43, 23\) does not fit block_1/mlp/fc2/kernel, whose shape is \(43, 24\)",
    ),
    "another number of axes": (changed(KERNEL, lambda x: x[0]), "does not fit|gives no"),
    "heads of another size": (
        changed(f"{BLOCK}/MultiHeadDotProductAttention_1/query/kernel", lambda x: x[:, :2]),
        "gives no block_1/attention/qkv/kernel",
    ),
    "not a number": (changed(KERNEL, spoilt(np.nan)), "holds 1 values that are not finite"),
    "infinity": (changed(KERNEL, spoilt(np.inf)), "holds 1 values that are not finite"),
    "integers": (changed(KERNEL, lambda x: x.astype("int32")), "holds int32, not floats"),
}


@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_loaded_when_something_is_wrong(name, tmp_path):
    spoil, message = WRONG[name]
    model = fitting_model()
    path = write(tmp_path, spoil(jax_arrays()))
    with Unchanged(model), pytest.raises(ValueError, match=message) as caught:
        weights.load(model, path, "jax")
    assert str(path) in str(caught.value)


def test_a_cut_file(tmp_path):
    model, path = fitting_model(), write(tmp_path, jax_arrays())
    whole = path.read_bytes()
    for share in (0.0, 0.1, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        with Unchanged(model), pytest.raises(ValueError, match="weights.npz"):
            weights.load(model, path, "jax")


def test_a_file_of_another_format(tmp_path):
    model, path = fitting_model(), write(tmp_path, {"x/kernel": np.ones((2, 2), "float32")})
    for format in weights.SOURCES:
        with Unchanged(model), pytest.raises(ValueError, match=f"not of the format '{format}'"):
            weights.load(model, path, format)


def test_everything_is_filled(tmp_path):
    model = fitting_model()
    report = weights.load(model, write(tmp_path, jax_arrays()), "jax")
    assert set(report.filled) == {variable.path for variable in model.weights}
    assert not report.new and not report.unused and not report.notes
    names, shape, note = report.filled["block_1/attention/qkv/kernel"]
    assert [name.split("/")[-2] for name in names] == ["query", "key", "value"]
    assert (shape, note) == ((24, 3, 3, 8), "")


def test_another_number_of_classes(tmp_path):
    model, path = fitting_model(num_classes=5), write(tmp_path, jax_arrays())
    told = "head has 5 classes, where the file has 7"
    with Unchanged(model), pytest.raises(ValueError, match=f"{told}.*`new_head=True`"):
        weights.load(model, path, "jax")
    head = values(model)["head/kernel"]
    report = weights.load(model, path, "jax", new_head=True)
    np.testing.assert_array_equal(values(model)["head/kernel"], head)
    assert set(report.new) == {"head/kernel", "head/bias"}
    assert set(report.unused) == {"head/kernel", "head/bias"}
    assert report.notes == ("The head is new: 5 classes, where the file has 7.",)


def test_a_model_without_a_head_leaves_the_files(tmp_path):
    model = fitting_model(num_classes=0)
    report = weights.load(model, write(tmp_path, jax_arrays()), "jax")
    assert set(report.unused) == {"head/kernel", "head/bias"} and not report.new


def test_a_head_that_was_never_trained_is_told(tmp_path):
    zeros = changed("head/kernel", np.zeros_like)(jax_arrays())
    report = weights.load(fitting_model(), write(tmp_path, zeros), "jax")
    assert report.filled["head/kernel"][2] == "all zeros"
    assert "The head is all zeros" in report.notes[0] and "all zeros" in str(report)


def test_what_has_no_place_in_any_model_is_named_and_left(tmp_path):
    more = {
        "opt/state/step": np.array(3),
        **{f"opt/target/{name}": array for name, array in jax_arrays().items()},
    }
    report = weights.load(fitting_model(), write(tmp_path, more), "jax")
    assert report.unused == {"opt/state/step": "the optimizer's state"}


def test_class_positions_both_ways(tmp_path):
    """A slot for the class token, merged or added as zero, gives the same logits."""
    images = np.random.default_rng(5).normal(size=(2, 20, 20, 3)).astype("float32")
    path = write(tmp_path, jax_arrays())
    own, merged = fitting_model(), fitting_model(class_position=False)
    weights.load(own, path, "jax")
    report = weights.load(merged, path, "jax", accept=("class_position",))
    assert report.filled["patch_encoder/class_token"][2] == "its position added to it"
    np.testing.assert_allclose(own(images), merged(images), rtol=1e-5, atol=1e-6)

    path = write(tmp_path, jax_arrays(code="big_vision"))
    without_row, zero = fitting_model(class_position=False), fitting_model()
    weights.load(without_row, path, "big_vision")
    report = weights.load(zero, path, "big_vision", accept=("class_position",))
    assert report.filled["patch_encoder/position"][2] == "the class token's position is zero"
    np.testing.assert_allclose(without_row(images), zero(images), rtol=1e-5, atol=1e-6)


def test_what_was_asked_to_differ_stays_new(tmp_path):
    path = write(tmp_path, jax_arrays(representation=11))
    model = create_model(
        "vit_ti16",
        weights=path,
        weights_format="jax",
        **SIZES,
        representation_size=None,
        pooling="map",
        num_classes=5,
    )
    report = model.weights_report
    assert all(path.startswith(("pool/", "head/")) for path in report.new)
    assert "pool/probe" in report.new
    assert {name for name in report.unused if name.startswith("pre_logits")} == {
        "pre_logits/kernel",
        "pre_logits/bias",
    }


def test_layers_of_half_precision_are_filled_in_float32(tmp_path):
    path = write(tmp_path, jax_arrays())
    one, other = fitting_model(dtype="mixed_bfloat16"), fitting_model()
    for model in (one, other):
        weights.load(model, path, "jax")
    for name, value in values(one).items():
        np.testing.assert_array_equal(value, values(other)[name])
    assert JAX["activation"] == one.config.activation
